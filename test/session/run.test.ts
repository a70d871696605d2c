/** The script that records the session: Ctrl-C leaves nothing behind, and a session that goes wrong is not saved. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { executable, root } from "../support/claudikins.ts";
import { eventually } from "../support/eventually.ts";
import { processesLeft, processesWith, runProgram, testEnvironment } from "../support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { lastLines } from "./svg-screen.ts";
import { parseXml } from "./xml.ts";

setDefaultTimeout(120_000);

const script = join(root, "scripts", "session", "run.ts");

describe.skipIf(process.platform === "win32")("bun run session", () => {
  let folder: TemporaryFolder;
  let output: string;
  /** The temporary folder of the script, which is also how its processes are found. */
  let scratch: string;
  beforeEach(() => {
    folder = temporaryFolder();
    output = join(folder.path, "out.svg");
    scratch = join(folder.path, "scratch");
    mkdirSync(scratch);
  });
  afterEach(() => folder[Symbol.dispose]());

  const command = (binary: string) => [process.execPath, script, "--binary", binary, "--output", output];

  test.each(["SIGINT", "SIGTERM"] as const)(
    "%s while servers start exits with 130, and leaves no process and no file",
    async (signal) => {
      const child = Bun.spawn(command(executable()), {
        env: testEnvironment({ TMPDIR: scratch }),
        stdout: "pipe",
        stderr: "pipe",
      });
      // One of the servers has a folder below it among its arguments.
      await eventually(() => processesWith(scratch).length > 0 || child.exitCode !== null);
      child.kill(signal);
      expect([await child.exited, await child.stderr.text(), await child.stdout.text()]).toEqual([
        130,
        "Interrupted: nothing was written\n",
        "",
      ]);
      expect([readdirSync(scratch), await processesLeft(scratch), existsSync(output)]).toEqual([[], [], false]);
    },
  );

  test.each([
    ["fails", "echo broken; exit 3", '"claudikins init --apply" ended with 3:\nbroken'],
    ["prints something else", "echo all is well", '"claudikins init --apply" did not print /\\d+ tools'],
  ])("fails if a command %s", async (_, body, message) => {
    const binary = folder.write("claudikins", `#!/bin/sh\n${body}\n`);
    chmodSync(binary, 0o755);
    const ended = await runProgram(command(binary), { env: { TMPDIR: scratch } });
    expect([ended.exitCode, ended.stderr.replaceAll("\r", "")]).toEqual([
      1,
      expect.stringContaining(`error: ${message}`),
    ]);
    expect([readdirSync(scratch), existsSync(output)]).toEqual([[], false]);
  });

  test.each([
    ["home", 0, "Written: "],
    ["temporary folder", 1, "error: the session shows a temporary folder\n"],
  ])("exits with a path in the %s with code %d", async (where, exitCode, message) => {
    const path = where === "home" ? '"$HOME/notes"' : `'${scratch}/notes'`;
    const binary = folder.write(
      "claudikins",
      `#!/bin/sh
case $1 in
  init) printf '%s\\n' '1 tools of 5 servers: about 1 tokens of definitions' "Changed claude-code: $HOME/.claude.json" ${path} ;;
  search) echo 'shop.list_tickets(args?: {' ;;
  exec) printf '%s\\n' 'Anna: 1 orders' '[7 calls · 1 ms · 1,000,000 characters kept out of the context]' ;;
  trace) printf '%s\\n' 'exec · ok · 1 ms · 7 calls, 4 at once' 'files.write_file' ;;
esac
`,
    );
    chmodSync(binary, 0o755);
    const ended = await runProgram(command(binary), { env: { TMPDIR: scratch } });
    expect([ended.exitCode, ended.stdout + ended.stderr]).toEqual([exitCode, expect.stringContaining(message)]);
    expect(existsSync(output)).toBe(exitCode === 0);
    if (exitCode !== 0) return;
    const lines = lastLines(parseXml(readFileSync(output, "utf8")));
    expect(lines.slice(0, 4)).toEqual([
      "$ claudikins init --apply",
      "1 tools of 5 servers: about 1 tokens of definitions",
      "Changed claude-code: ~/.claude.json",
      "~/notes",
    ]);
  });

  test("refuses a missing program and an unknown flag", async () => {
    const missing = await runProgram(command(join(folder.path, "nope")));
    expect([missing.exitCode, missing.stderr]).toEqual([1, `error: there is no ${folder.path}/nope\n`]);
    const unknown = await runProgram([process.execPath, script, "--nope"]);
    expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.stringContaining("error: Unknown option '--nope'")]);
  });
});

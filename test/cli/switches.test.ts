/** `enable`, `disable` and `config` find and change the config file. */
import { beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { storedCall } from "../store/contract/call-log.ts";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { inStore } from "../support/stored.ts";
import { type CliOptions, cli } from "./in-memory.ts";

const folder = ownFolder();
let file: string;
beforeEach(() => {
  file = join(folder.path, "claudikins.json");
});

const run = (argv: string[], options: CliOptions = {}) => cli(argv, { cwd: folder.path, ...options });
const ok = async (...argv: string[]) => {
  const result = await run(argv);
  expect([result.exitCode, result.stderr]).toEqual([0, ""]);
  return result.stdout;
};
const text = () => readFileSync(file, "utf8");
const entry = () => (Bun.JSONC.parse(text()) as { mcpServers: Record<string, object> }).mcpServers["odd.one"];

describe("enable and disable", () => {
  const { command, args } = fixture("odd");
  const before = `{
  "mcpServers": {
    // mine
    "odd.one": { "command": ${JSON.stringify(command)}, "args": ${JSON.stringify(args)} },
  },
}
`;
  beforeEach(() => folder.write("claudikins.json", before));

  test("a disabled server is listed as disabled, and enabling it restores the file", async () => {
    expect(await ok("disable", "odd.one")).toBe(`Disabled odd.one in ${file}\n`);
    expect(entry()).toMatchObject({ disabled: true });
    expect(JSON.parse(await ok("list", "--json")).servers).toMatchObject([{ server: "odd.one", state: "disabled" }]);
    expect(await ok("disable", "odd.one")).toBe(`odd.one is already disabled in ${file}\n`);
    await ok("enable", "odd.one");
    expect(text()).toBe(before);
  });

  test("a disabled tool cannot be called; other tools of the server can", async () => {
    await ok("disable", "odd.one.structured");
    expect(entry()).toMatchObject({ deny: ["structured"] });
    expect(await run(["call", "odd.one.structured"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('is denied in the config by mcpServers["odd.one"].deny[0]'),
    });
    // Its tools are known now.
    await run(["gen"]);
    await ok("disable", "odd.one.structured");
    expect(await run(["disable", "odd.one.get-thng"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("Did you mean odd.one.get-thing or "),
    });
    await ok("disable", "odd.one.get*");
    expect(entry()).toMatchObject({ deny: ["structured", "get*"] });
    expect(JSON.parse(await ok("enable", "odd.one.structured", "odd.one.get*", "--json"))).toEqual({
      config: file,
      switched: [
        { server: "odd.one", tool: "structured", enabled: true, changed: true },
        { server: "odd.one", tool: "get*", enabled: true, changed: true },
      ],
    });
    expect(text()).toBe(before);
    await ok("call", "odd.one.structured");
  });

  test("enable adds a tool to an existing allow list, and changes nothing if another rule denies the tool", async () => {
    const allowing = before.replace(" },\n", ', "allow": ["echo"] },\n  },\n  "policy": { "deny": ["*.get-*"]');
    folder.write("claudikins.json", allowing);
    await ok("enable", "odd.one.structured");
    expect(entry()).toMatchObject({ allow: ["echo", "structured"] });
    const now = text();
    const refused = await run(["enable", "odd.one.get-thing"]);
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringContaining(
        'odd.one.get-thing stays switched off: it is denied in the config by policy.deny[0], "*.get-*"',
      ),
    ]);
    expect(text()).toBe(now);
  });

  test("--preview says what the calls of the last days would have met, and changes nothing", async () => {
    const at = Date.now() - 60_000;
    const call = (id: string, more: object) => ({
      ...storedCall(id, at),
      ...{ config: file, server: "odd.one", tool: "structured", agent: "codex", ...more },
    });
    await inStore({ HOME: folder.path }, (store) =>
      store.callLog.add([
        call("c1", {}),
        call("c2", { tool: "get-thing", approval: "once" }),
        call("c3", { tool: "get-thing", outcome: "denied" }),
        call("c4", { config: "/other/claudikins.json" }),
        call("c5", { server: "other" }),
      ]),
    );
    const preview = async (...argv: string[]) => {
      const { stdout, exitCode } = await run([...argv, "--preview", "--json"]);
      return [exitCode, JSON.parse(stdout).preview];
    };
    const none = { denied: 0, asked: 0, made: 0, waiting: 0, by: [] };
    const days = "in the last 7 days";
    expect(await preview("disable", "odd.one.structured")).toEqual([
      0,
      {
        ...{ ...none, calls: 1, denied: 1, by: [{ name: "codex", calls: 1 }] },
        text: `1 of 1 call ${days} would have been denied: codex 1`,
      },
    ]);
    expect(await preview("disable", "odd.one.get-*")).toMatchObject([0, { calls: 2, denied: 1 }]);
    expect(await preview("disable", "odd.one")).toMatchObject([0, { calls: 3, denied: 2 }]);
    // A call that a rule has denied is not made, whatever "confirm" says.
    expect(await preview("confirm", "odd.one.get-thing", "never")).toMatchObject([0, { calls: 2, made: 1 }]);
    expect(await preview("confirm", "odd.one.get-thing", "always")).toMatchObject([
      0,
      { calls: 2, asked: 0, text: `2 calls ${days}: the change would have made no difference` },
    ]);
    expect((await run(["confirm", "odd.one.get-thing", "destructive", "--preview"])).stderr).toContain(
      "--preview is for always and never",
    );
    const { stderr, stdout } = await run(["disable", "odd.one.structured", "--preview"]);
    expect([stdout, stderr]).toEqual([
      `1 of 1 call ${days} would have been denied: codex 1\n`,
      "Nothing was changed. Conditions of rules are not judged, because the call log has no arguments.\n",
    ]);
    expect((await run(["disable", "nobody", "--preview"])).exitCode).toBe(2);
    expect(text()).toBe(before);
  });

  test("a trusted config stays trusted", async () => {
    const env = { CI: "", HOME: folder.path };
    await run(["trust", "--yes"], { env });
    await run(["disable", "odd.one.structured"], { env });
    const { exitCode, stdout } = await run(["list", "--json"], { env });
    expect([exitCode, JSON.parse(stdout).servers.length]).toEqual([0, 1]);
  });
});

describe("config path", () => {
  test("prefers --config, then CLAUDIKINS_CONFIG, then the project's config, then the user's", async () => {
    const user = join(folder.path, ".config", "claudikins", "claudikins.json");
    const path = async (argv: string[] = [], env = {}) =>
      JSON.parse((await run(["config", "path", "--json", ...argv], { env })).stdout);
    expect(await path()).toEqual({ path: user, kind: "user", exists: false });
    // The same for an invalid config.
    folder.write("claudikins.json", "{");
    expect(await path()).toEqual({ path: file, kind: "project", exists: true });
    expect(await path(["--user"])).toMatchObject({ path: user });
    const other = folder.write("other.json", "{}");
    expect(await path([], { CLAUDIKINS_CONFIG: other })).toMatchObject({ path: other });
    expect(await path(["--config", file], { CLAUDIKINS_CONFIG: other })).toMatchObject({ path: file });
    expect((await run(["config", "path"])).stdout).toBe(`${file}\n`);
  });
});

describe("config edit", () => {
  /** An editor that writes a text to the file. */
  const editor = (name: string, content: string) => {
    const path = folder.write(name, `#!/bin/sh\n[ "$1" = --wait ] || exit 9\ncat > "$2" <<'END'\n${content}\nEND\n`);
    chmodSync(path, 0o755);
    return `${path} --wait`;
  };

  test("creates a missing user's config, and removes it if nothing was written", async () => {
    const user = join(folder.path, ".config", "claudikins", "claudikins.json");
    expect(await run(["config", "edit"], { env: { EDITOR: "true" } })).toMatchObject({
      exitCode: 0,
      stderr: "Nothing was changed\n",
    });
    expect(existsSync(user)).toBe(false);
    const EDITOR = editor("edit.sh", '{ "mcpServers": { "a": { "command": "a" } } }');
    expect(await run(["config", "edit"], { env: { EDITOR } })).toEqual({
      exitCode: 0,
      stdout: `Saved ${user}\n`,
      stderr: "",
    });
    expect(statSync(user).mode & 0o777).toBe(0o600);
  });

  test("reports what is wrong, and opens the editor again", async () => {
    folder.write("claudikins.json", "{}");
    const EDITOR = editor("edit.sh", '{ "mcpServers": { "a": { "comand": "a" } } }');
    const once = await run(["config", "edit"], { env: { EDITOR } });
    expect([once.exitCode, once.stderr]).toEqual([2, expect.stringContaining('did you mean "command"?')]);
    const twice = await run(["config", "edit"], { env: { EDITOR }, terminal: true, answers: ["y", "n"] });
    // The same text again is not a change, and is still wrong.
    expect(twice.stderr).toContain("Nothing was changed");
    const refused = await run(["config", "edit"], { env: { EDITOR: "/no/such/editor" } });
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringContaining("The editor /no/such/editor cannot be started"),
    ]);
  });
});

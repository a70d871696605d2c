/** `config server`: changes the entry of a server after it was tried, and shows no secret. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setNamedSecret } from "../../src/config/secrets/change.ts";
import { storedSecrets } from "../../src/config/secrets/store.ts";
import { auditLines } from "../support/audit.ts";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { type CliOptions, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
const file = () => join(folder.path, ".config", "claudikins", "claudikins.json");
const config = () => readFileSync(file(), "utf8");
const entry = () => (Bun.JSONC.parse(config()) as { mcpServers: { echo: Record<string, unknown> } }).mcpServers.echo;
const { command, args } = fixture("echo");
const env = { CLAUDIKINS_KEYCHAIN: "off" };
const run = (argv: string[], options: CliOptions = {}) =>
  cli(["config", "server", ...argv], { cwd: folder.path, ...options, env: { ...env, ...options.env } });
const secret = "hunter2-of-the-mailer";

function write(more = ""): string {
  const text = `{
  // Mine.
  "mcpServers": {
    "echo": {
      "command": "no-such-program", // to be repaired
      "args": [
        ${JSON.stringify(args[0])}${args
          .slice(1)
          .map((each) => `, ${JSON.stringify(each)}`)
          .join("")} // the fixture
      ],
      /* the key */ "env": { "API_KEY": "${secret}", "MODE": "fast" }${more}
    }
  }
}
`;
  folder.write(".config/claudikins/claudikins.json", text);
  return text;
}

test("the command is repaired, after the server was tried, and the file keeps its comments", async () => {
  const before = write();
  const failed = await run(["echo", "--command", "also-no-such-program"]);
  expect([failed.exitCode, failed.stdout]).toEqual([4, ""]);
  expect(failed.stderr).toContain("Nothing was written");
  expect(config()).toBe(before);
  const { exitCode, stdout, stderr } = await run(["echo", "--command", command]);
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(stdout).toBe(`Changed command of echo in ${file()}. It works: 1 tool\n`);
  expect(config()).toBe(before.replace('"no-such-program"', JSON.stringify(command)));
  expect(auditLines({ HOME: folder.path }).at(-1)).toMatchObject({ decision: "policy" });
  expect((await run(["echo", "--command", command])).stdout).toStartWith("Unchanged: echo");
  expect((await run(["echo"])).stderr).toContain("Say what to change");
});

test("variables, settings and arguments are set and removed one by one", async () => {
  const before = write();
  const { stdout } = await run([
    "echo",
    "--env",
    "MODE=slow",
    "--env",
    "HOME_OF",
    "--set",
    "cwd=.",
    "--set",
    "keepAlive:=true",
    "--no-check",
    "--json",
  ]);
  expect(JSON.parse(stdout)).toEqual({
    config: file(),
    server: "echo",
    changed: ["env.MODE", "env.HOME_OF", "cwd", "keepAlive"],
  });
  expect(config()).toContain("// the fixture");
  expect(config()).toContain("/* the key */");
  expect(entry().env).toEqual({ API_KEY: secret, MODE: "slow", HOME_OF: "${HOME_OF}" });
  await run([
    "echo",
    "--unset",
    "env.HOME_OF",
    "--unset",
    "keepAlive",
    "--unset",
    "cwd",
    "--env",
    "MODE=fast",
    "--no-check",
  ]);
  expect(Bun.JSONC.parse(config())).toEqual(Bun.JSONC.parse(before));
  await run(["echo", "--unset", "env.API_KEY", "--unset", "env.MODE", "--no-check"]);
  expect(entry()).toEqual({ command: "no-such-program", args });
  expect((await run(["echo", "--", command, ...args, "more"])).exitCode).toBe(0);
  expect(entry()).toEqual({ command, args: [...args, "more"] });
  expect(config()).toContain("// the fixture");
});

test("a variable that is not set becomes a secret, whose value is read from stdin and shown nowhere", async () => {
  folder.write(".config/claudikins/claudikins.json", {
    mcpServers: { echo: { ...fixture("echo"), env: { KEY: "x ${MAIL_KEY}" } } },
  });
  const { exitCode, stdout, stderr } = await run(["echo", "--secret", "MAIL_KEY"], { stdin: `${secret}\n` });
  expect([exitCode, stdout + stderr]).toEqual([0, expect.not.stringContaining(secret)]);
  expect(stdout).toBe(`Changed env.KEY of echo in ${file()}. It works: 1 tool\n`);
  expect(entry().env).toEqual({ KEY: "x ${secret:MAIL_KEY}" });
  expect(storedSecrets({ ...env, HOME: folder.path }).map(({ name }) => name)).toEqual(["MAIL_KEY"]);
  // One that is set is only referred to, in a new variable if nothing names it.
  await setNamedSecret("OTHER_KEY", "1", { env: { ...env, HOME: folder.path } });
  expect((await run(["echo", "--secret", "OTHER_KEY"])).exitCode).toBe(0);
  expect(entry().env).toMatchObject({ OTHER_KEY: "${secret:OTHER_KEY}" });
  // If the server does not start, nothing is kept.
  const failed = await run(["echo", "--command", "no-such-program", "--secret", "THIRD_KEY"], { stdin: secret });
  expect(failed.exitCode).toBe(4);
  expect(storedSecrets({ ...env, HOME: folder.path }).map(({ name }) => name)).toEqual(["MAIL_KEY", "OTHER_KEY"]);
  expect(entry().command).toBe(command);
});

test("--preview shows the change without secrets, and neither starts nor writes anything", async () => {
  const before = write();
  const { stdout } = await run(["echo", "--command", "other", "--env", "API_KEY=another-secret-value", "--preview"]);
  expect(stdout).toContain(
    '-      "command": "no-such-program", // to be repaired\n+      "command": "other", // to be repaired\n',
  );
  expect(stdout).not.toMatch(/hunter2|another-secret/);
  expect(config()).toBe(before);
});

test("a refused change says why, without the values", async () => {
  const before = write();
  const refusals: [argv: string[], message: string][] = [
    [["nobody", "--command", "x"], 'has no server called "nobody"'],
    [["echo", "--set", 'deny:=["x"]'], '"deny" of an entry cannot be changed here'],
    [["echo", "--set", `cwd:=${secret}`], "The value of cwd is not JSON"],
    [["echo", "--set", secret], "--set takes key=text or key:=json"],
    [["echo", "--set", `env:=["${secret}"]`], "mcpServers.echo.env"],
    [["echo", "--url", "https://example.com"], 'the entry also has a "command"'],
    [["echo", "--secret", "no name"], "This is not a name of a secret"],
    [["echo", "--command", "x", "--", "y"], "not both"],
  ];
  for (const [argv, message] of refusals) {
    const { exitCode, stderr, stdout } = await run([...argv, "--no-check"]);
    expect([argv, exitCode]).not.toEqual([argv, 0]);
    expect(stderr).toContain(message);
    expect(stderr + stdout).not.toContain(secret);
  }
  expect(config()).toBe(before);
  writeFileSync(file(), "{");
  expect((await run(["echo", "--command", "x"])).exitCode).not.toBe(0);
});

/** The user's own `policy` in projects: they can narrow it, whatever they say, and never widen it. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type CliResult, cli } from "../cli/in-memory.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(30_000);

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(join(folder.path, "project"));
});
afterEach(() => folder[Symbol.dispose]());

const user = (config: object | string) => folder.write("home/.config/claudikins/claudikins.json", config);
const project = (more: object = {}, entry: object = {}) =>
  folder.write("project/claudikins.json", { mcpServers: { odd: { ...fixture("odd"), ...entry } }, ...more });
const run = (argv: string[]): Promise<CliResult> =>
  cli(argv, { cwd: join(folder.path, "project"), env: { HOME: join(folder.path, "home") } });
const call = () => run(["call", "odd.structured"]);

test("what the user denies stays denied, whatever a project allows; the error says where that stands", async () => {
  user({ mcpServers: {}, policy: { deny: ["*.struct*"] } });
  project({ policy: { allow: ["*.*"] } }, { allow: ["structured"] });
  const { exitCode, stderr } = await call();
  expect(exitCode).toBe(2);
  expect(stderr).toContain('policy.deny[0] in the user\'s claudikins.json, "*.struct*"');
  expect((await run(["list", "tools", "odd"])).stdout).not.toContain("odd.structured");
  expect((await run(["exec", "-e", "return Object.keys(odd)"])).stdout).not.toContain("structured");
});

test("what the user does not allow is not allowed by a project", async () => {
  user({ mcpServers: {}, policy: { allow: ["odd.empty"] } });
  project({ policy: { allow: ["*.*"] } });
  expect((await call()).exitCode).toBe(2);
  expect((await run(["call", "odd.empty"])).exitCode).toBe(0);
});

test("a project cannot take a confirmation back: not in its policy, nor in an entry, nor by a more exact pattern", async () => {
  user({ mcpServers: {}, policy: { confirm: "always" } });
  for (const [more, entry] of [
    [{ policy: { confirm: "never" } }, {}],
    [{}, { confirm: "never" }],
    [{ policy: { confirm: { "odd.structured": "never" } } }, { confirm: { structured: "never" } }],
  ] as const) {
    project(more, entry);
    const { exitCode, stderr } = await call();
    expect(exitCode).toBe(2);
    expect(stderr).toContain("policy.confirm in the user's claudikins.json");
  }
});

test("a project can narrow: its own denials and confirmations count beside the user's", async () => {
  user({ mcpServers: {}, policy: { confirm: "never", deny: ["*.other"] } });
  project({ policy: { confirm: "always" } });
  expect((await call()).stderr).toContain("needs a person's confirmation");
  project({ policy: { deny: ["odd.structured"] } });
  expect((await call()).stderr).toContain("policy.deny[0]");
  project();
  expect((await call()).exitCode).toBe(0);
});

test("it counts for a config that is named, too, and for what is not plain JSON", async () => {
  user('{ // mine\n "mcpServers": {}, "policy": { "deny": ["*.structured"], }, }');
  const file = project();
  expect((await run(["call", "odd.structured", "--config", file])).exitCode).toBe(2);
  user('{ "mcpServers": {}, "\\u0070olicy": { "deny": ["*.structured"] } }');
  expect((await call()).exitCode).toBe(2);
});

test("where the user's config is wrong, nothing is allowed that it may deny", async () => {
  const own = user('{ "mcpServers": {}, "policy": { "deny": "*.structured" } }');
  project();
  const { exitCode, stderr } = await call();
  expect(exitCode).toBe(2);
  expect(stderr).toContain(own);
});

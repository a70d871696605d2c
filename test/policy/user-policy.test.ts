/** The user's own `policy` in projects: a project can make it stricter, but not looser. */
import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type CliResult, cli } from "../cli/in-memory.ts";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
beforeEach(() => {
  mkdirSync(join(folder.path, "project"));
});

const user = (config: object | string) => folder.write("home/.config/claudikins/claudikins.json", config);
const project = (more: object = {}, entry: object = {}) =>
  folder.write("project/claudikins.json", { mcpServers: { odd: { ...fixture("odd"), ...entry } }, ...more });
const run = (argv: string[]): Promise<CliResult> =>
  cli(argv, { cwd: join(folder.path, "project"), env: { HOME: join(folder.path, "home") } });
const call = () => run(["call", "odd.structured"]);

test("a tool that the user denies stays denied in projects, and the error names the line", async () => {
  user({ mcpServers: {}, policy: { deny: ["*.struct*"] } });
  project({ policy: { allow: ["*.*"] } }, { allow: ["structured"] });
  const { exitCode, stderr } = await call();
  expect(exitCode).toBe(2);
  expect(stderr).toContain('policy.deny[0] in the user\'s claudikins.json, "*.struct*"');
  expect((await run(["list", "tools", "odd"])).stdout).not.toContain("odd.structured");
  expect((await run(["exec", "-e", "return Object.keys(odd)"])).stdout).not.toContain("structured");
});

test("a tool that the user does not allow cannot be allowed by a project", async () => {
  user({ mcpServers: {}, policy: { allow: ["odd.empty"] } });
  project({ policy: { allow: ["*.*"] } });
  expect((await call()).exitCode).toBe(2);
  expect((await run(["call", "odd.empty"])).exitCode).toBe(0);
});

test("a project cannot remove a confirmation: not by its policy, an entry or a more specific pattern", async () => {
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

test("a project can add denials and confirmations", async () => {
  user({ mcpServers: {}, policy: { confirm: "never", deny: ["*.other"] } });
  project({ policy: { confirm: "always" } });
  expect((await call()).stderr).toContain("needs a person's confirmation");
  project({ policy: { deny: ["odd.structured"] } });
  expect((await call()).stderr).toContain("policy.deny[0]");
  project();
  expect((await call()).exitCode).toBe(0);
});

test("the user's policy applies to named configs and to JSON with comments", async () => {
  user('{ // mine\n "mcpServers": {}, "policy": { "deny": ["*.structured"], }, }');
  const file = project();
  expect((await run(["call", "odd.structured", "--config", file])).exitCode).toBe(2);
  user('{ "mcpServers": {}, "\\u0070olicy": { "deny": ["*.structured"] } }');
  expect((await call()).exitCode).toBe(2);
});

test("an invalid user's config allows nothing that it might deny", async () => {
  const own = user('{ "mcpServers": {}, "policy": { "deny": "*.structured" } }');
  project();
  const { exitCode, stderr } = await call();
  expect(exitCode).toBe(2);
  expect(stderr).toContain(own);
});

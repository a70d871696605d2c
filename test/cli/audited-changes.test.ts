/** Changes of the policy and decisions about trust are in the audit log. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isHeld } from "../../src/base/lock.ts";
import { storeFile, tokensFile, trustFile } from "../../src/config/locations.ts";
import { policyChanges, recordedChange } from "../../src/setup/settings/policy-changes.ts";
import type { AuditLine } from "../../src/store/audit/event.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { eventually } from "../support/eventually.ts";
import { ownFolder } from "../support/own-folder.ts";
import { scriptOf } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type CliOptions, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
let file: string;
beforeEach(() => {
  file = join(folder.path, "claudikins.json");
  folder.write("claudikins.json", { mcpServers: { odd: { ...fixture("odd"), allow: ["structured"] } } });
});

const run = async (argv: string[], options: CliOptions = {}) => {
  const result = await cli(argv, { cwd: folder.path, ...options });
  expect([argv, result.exitCode, result.stderr]).toEqual([argv, 0, expect.any(String)]);
};

/** The entries of the log, oldest first, without hashes and times. */
async function recorded() {
  const { stdout } = await cli(["audit", "--json"], { cwd: folder.path });
  const { entries } = JSON.parse(stdout) as { entries: AuditLine[] };
  return entries
    .reverse()
    .map(({ entry: _, previous: _previous, at: _at, by, ...event }) => ({ ...event, by: by.place }));
}

/** What is recorded of an entry, which may contain secrets. */
const digest = /^sha256:[0-9a-f]{64}$/;

const changed = (...changes: { at: string; before?: string; after?: string }[]) => ({
  decision: "policy" as const,
  config: file,
  changes,
  by: "command" as const,
});

test("enable and disable record what they change, and nothing if they change nothing", async () => {
  await run(["disable", "odd.named"]);
  await run(["disable", "odd.named"]);
  await run(["disable", "odd"]);
  await run(["enable", "odd"]);
  expect(await recorded()).toEqual([
    changed({ at: "mcpServers.odd.deny", after: '["named"]' }),
    changed({ at: "mcpServers.odd.disabled", after: "true" }),
    changed({ at: "mcpServers.odd.disabled", before: "true" }),
  ]);
});

test("remove records the server and the rules that go with it, and an editor what it changes", async () => {
  const written = JSON.stringify({ mcpServers: {}, policy: { confirm: "always" } });
  const editor = folder.write("editor.ts", `await Bun.write(process.argv[2], ${JSON.stringify(written)});`);
  await run(["remove", "odd"]);
  await run(["config", "edit"], {
    env: { EDITOR: scriptOf([process.execPath, editor], join(folder.path, "editor.sh")) },
  });
  expect(await recorded()).toEqual([
    changed(
      { at: "mcpServers.odd", before: expect.stringMatching(digest) },
      { at: "mcpServers.odd.allow", before: '["structured"]' },
    ),
    changed({ at: "policy.confirm", after: '"always"' }),
  ]);
});

test("init records the servers that it imports, and their rules", async () => {
  const imported = { seen: { ...fixture("seen"), excludeTools: ["wait"] } };
  folder.write(".gemini/settings.json", { mcpServers: imported });
  await run(["init", "--apply", "--no-start"]);
  const config = join(folder.path, ".config", "claudikins", "claudikins.json");
  const added = { at: "mcpServers.seen", after: expect.stringMatching(digest) };
  expect(await recorded()).toEqual([{ ...changed(added, { at: "mcpServers.seen.deny", after: '["wait"]' }), config }]);
});

test("trust is recorded when a person gives and ends it, and not when claudikins keeps it", async () => {
  const untrusting = { env: { CI: "" } };
  await run(["trust", "--yes"], untrusting);
  await run(["trust", "--yes"], untrusting);
  await run(["disable", "odd"], untrusting);
  await run(["trust", "--revoke"], untrusting);
  await run(["trust", "--revoke"], untrusting);
  expect(await recorded()).toEqual([
    { decision: "trusted", config: file, servers: ["odd"], by: "command" },
    changed({ at: "mcpServers.odd.disabled", after: "true" }),
    { decision: "untrusted", config: file, by: "command" },
  ]);
});

test("tokens that are issued and revoked are recorded, without the tokens", async () => {
  const added = await cli(["tokens", "add", "--name", "ci", "--json"], { cwd: folder.path });
  const { id, token, expiresAt } = JSON.parse(added.stdout);
  await run(["tokens", "add", "--expires", "never"]);
  await run(["tokens", "revoke", "ci"]);
  const issued = { config: file, token: { id, name: "ci", expiresAt }, by: "command" as const };
  expect(await recorded()).toEqual([
    { ...issued, decision: "issued" },
    { ...issued, decision: "issued", token: { id: expect.stringMatching(/^[0-9a-f]{8}$/) } },
    { ...issued, decision: "revoked" },
  ]);
  expect(JSON.stringify(await recorded())).not.toContain(token);
  const { stdout } = await cli(["audit", "export", "--format", "csv"], { cwd: folder.path });
  expect(stdout).toContain(`"{""id"":""${id}"",""name"":""ci""`);
});

test("a token that is recorded and cannot be stored is recorded as not made", async () => {
  const tokens = tokensFile({ HOME: folder.path });
  const database = await openDatabase(storeFile({ HOME: folder.path }));
  // The change waits for the log, and meanwhile a folder comes to stand where the file would be written.
  database.run("BEGIN IMMEDIATE");
  const adding = cli(["tokens", "add", "--name", "ci"], { cwd: folder.path });
  await eventually(async () => existsSync(`${tokens}.lock`) && (await isHeld(`${tokens}.lock`, "the tokens")));
  mkdirSync(tokens);
  database.run("COMMIT");
  database.close();
  const { exitCode, stdout, stderr } = await adding;
  expect([exitCode, stdout, stderr]).toEqual([2, "", expect.stringContaining(`Cannot write ${tokens}`)]);
  const [made, undone] = await recorded();
  expect(made).toMatchObject({ decision: "issued", token: { name: "ci" } });
  expect(undone).toEqual({ ...made!, why: expect.stringContaining(`not made: Cannot write ${tokens}`) });
});

test("add records the server, without its secrets", async () => {
  const { command, args } = fixture("seen");
  const key = "sk-1234567890abcdef";
  await run(["add", "seen", "--no-check", "--env", `KEY=${key}`, "--", command, ...args]);
  expect(readFileSync(file, "utf8")).toContain(key);
  expect(await recorded()).toEqual([changed({ at: "mcpServers.seen", after: expect.stringMatching(digest) })]);
  expect(JSON.stringify(await recorded())).not.toContain(key);
});

describe("with a log that cannot be written, nothing is changed by", () => {
  const never = 'await Bun.write(process.argv[2], "changed")';

  test.each([
    ["disable", ["disable", "odd"]],
    ["disable of a tool", ["disable", "odd.named"]],
    ["enable", ["enable", "odd.named"]],
    ["remove", ["remove", "odd"]],
    ["add", ["add", "other", "--no-check", "--", "true"]],
    ["config edit", ["config", "edit"]],
    ["config server", ["config", "server", "odd", "--set", "cwd=.", "--no-check"]],
    ["trust", ["trust", "--yes"]],
    ["the end of trust", ["trust", "--revoke"]],
    ["tokens add", ["tokens", "add"]],
    ["tokens revoke", ["tokens", "revoke", "ci"]],
    ["init", ["init", "--apply", "--no-start"]],
  ])("%s", async (_, argv) => {
    const env = {
      CI: argv.includes("add") ? "true" : "",
      EDITOR: scriptOf([process.execPath, folder.write("editor.ts", never)], join(folder.path, "editor.sh")),
    };
    if (argv.at(-1) === "--revoke" || argv.includes("server")) await run(["trust", "--yes"], { env });
    if (argv.includes("revoke")) await run(["tokens", "add", "--name", "ci"]);
    const log = storeFile({ HOME: folder.path });
    for (const suffix of ["", "-wal", "-shm"]) rmSync(log + suffix, { force: true });
    folder.write(".local/share/claudikins/executions.sqlite/in-the-way", "");
    const trust = trustFile({ HOME: folder.path });
    const agent = folder.write(".gemini/settings.json", { mcpServers: { seen: fixture("seen") } });
    const user = join(folder.path, ".config", "claudikins", "claudikins.json");
    const tokens = tokensFile({ HOME: folder.path });
    const state = () =>
      [file, trust, agent, user, tokens].map((path) => existsSync(path) && readFileSync(path, "utf8"));
    const before = state();
    const { exitCode, stderr } = await cli(argv, { cwd: folder.path, env });
    expect(stderr).toContain("Cannot open the database");
    expect(exitCode).toBe(2);
    expect(state()).toEqual(before);
  });
});

test("a change that is recorded and cannot be written is recorded as not made", async () => {
  const change = { file, before: readFileSync(file, "utf8"), after: '{"mcpServers":{},"policy":{"deny":["*"]}}' };
  const making = recordedChange(change, { HOME: folder.path }, "page", () => {
    throw new Error("the disk is full");
  });
  expect(making).rejects.toThrow("the disk is full");
  await making.catch(() => {});
  const [made, undone] = await recorded();
  expect(made).toMatchObject({ decision: "policy", by: "page", changes: { length: 3 } });
  expect(undone).toEqual({
    ...made!,
    changes: made!.changes!.map(({ at, before, after }) => ({
      at,
      ...(after === undefined ? {} : { before: after }),
      ...(before === undefined ? {} : { after: before }),
    })),
    why: "not made: the disk is full",
  });
});

describe("the changes of a policy", () => {
  test("are those of all rules, in the file's own words", () => {
    const before = {
      mcpServers: { a: { command: "x", deny: ["y"] }, "b c": { confirm: "always" } },
      policy: { deny: ["*.z"] },
    };
    const after = {
      mcpServers: { a: { command: "other", deny: ["y"], disabled: true } },
      policy: { deny: ["*.z"], allow: [] },
    };
    expect(policyChanges(before, after)).toEqual([
      { at: "policy.allow", after: "[]" },
      { at: "mcpServers.a", before: expect.stringMatching(digest), after: expect.stringMatching(digest) },
      { at: "mcpServers.a.disabled", after: "true" },
      { at: 'mcpServers["b c"]', before: expect.stringMatching(digest) },
      { at: 'mcpServers["b c"].confirm', before: '"always"' },
    ]);
    expect(policyChanges(before, before)).toEqual([]);
    const described = { mcpServers: { ...before.mcpServers, a: { ...before.mcpServers.a, description: "It is." } } };
    expect(policyChanges(before, { ...before, ...described })).toEqual([]);
  });
});

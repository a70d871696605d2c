/** Changes of the policy and decisions about trust are in the audit log. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { AuditLine } from "../../src/audit/event.ts";
import { policyChanges } from "../../src/settings/policy-changes.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { type CliOptions, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, "claudikins.json");
  folder.write("claudikins.json", { mcpServers: { odd: { ...fixture("odd"), allow: ["structured"] } } });
});
afterEach(() => folder[Symbol.dispose]());

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

test("remove records the rules that go with the server, and an editor what it changes", async () => {
  const written = JSON.stringify({ mcpServers: {}, policy: { confirm: "always" } });
  const editor = folder.write("editor.ts", `await Bun.write(process.argv[2], ${JSON.stringify(written)});`);
  await run(["remove", "odd"]);
  await run(["config", "edit"], { env: { EDITOR: `${process.execPath} ${editor}` } });
  expect(await recorded()).toEqual([
    changed({ at: "mcpServers.odd.allow", before: '["structured"]' }),
    changed({ at: "policy.confirm", after: '"always"' }),
  ]);
});

test("init records the rules of the servers that it imports", async () => {
  const imported = { seen: { ...fixture("seen"), excludeTools: ["wait"] } };
  folder.write(".gemini/settings.json", { mcpServers: imported });
  await run(["init", "--apply", "--no-start"]);
  const config = join(folder.path, ".config", "claudikins", "claudikins.json");
  expect(await recorded()).toEqual([{ ...changed({ at: "mcpServers.seen.deny", after: '["wait"]' }), config }]);
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

test("a change that cannot be recorded is reported as made", async () => {
  folder.write(".local/share/claudikins/audit", "a file in the place of the folder");
  const { exitCode, stderr } = await cli(["disable", "odd"], { cwd: folder.path });
  expect(exitCode).toBe(2);
  expect(stderr).toContain(`${file} was changed, but the change is not in the audit log: Cannot`);
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
      { at: "mcpServers.a.disabled", after: "true" },
      { at: 'mcpServers["b c"].confirm', before: '"always"' },
    ]);
    expect(policyChanges(before, before)).toEqual([]);
  });
});

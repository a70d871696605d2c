/** A policy that the page writes: every form of the config keeps its formatting, and no stricter line is contradicted. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { trustFile } from "../../src/config/locations.ts";
import { changePolicy, type PolicyChange } from "../../src/setup/settings/change-policy.ts";
import { ownFolder } from "../support/own-folder.ts";

const folder = ownFolder();

const env = () => ({ HOME: folder.path });

/** The user's config after the change, or the error. */
async function changed(entry: string, change: object, rest = ""): Promise<string> {
  const text = (own: string) => `{\n\t"mcpServers": {\n\t\t"a.b": ${own}, // mine\n\t}${rest}\n}\n`;
  const file = folder.write(".config/claudikins/claudikins.json", text(entry));
  const which = { flag: file, cwd: "/", env: env() };
  const wanted = { server: "a.b", ...change } as PolicyChange;
  const result = await changePolicy(wanted, which).catch((error: Error) => error.message);
  const written = readFileSync(file, "utf8");
  if (typeof result === "string") {
    expect(written).toBe(text(entry));
    return result;
  }
  expect(result).toBe(written !== text(entry));
  // Only the entry has changed.
  const [before = "", after = ""] = text("\u0000").split("\u0000");
  expect([written.startsWith(before), written.endsWith(after)]).toEqual([true, true]);
  // The formatting of new parts has tests of its own.
  return written.slice(before.length, -after.length).replace(/\s+/g, "");
}

const always = { tool: "get", confirm: "always" } as const;
const never = { tool: "get", confirm: "never" } as const;

describe("confirm", () => {
  test.each([
    ['{"command":"x"}', always, '{"command":"x","confirm":{"get":"always"}}'],
    ['{"command":"x","confirm":"always"}', always, '{"command":"x","confirm":"always"}'],
    ['{"command":"x","confirm":"always"}', never, '{"command":"x","confirm":{"*":"always","get":"never"}}'],
    ['{"command":"x","confirm":{"*":"always"}}', never, '{"command":"x","confirm":{"*":"always","get":"never"}}'],
    ['{"command":"x","confirm":{"get":"always"}}', never, '{"command":"x","confirm":{"get":"never"}}'],
    ['{"command":"x","confirm":{"a.b.get":"always"}}', never, '{"command":"x","confirm":{"a.b.get":"never"}}'],
    [
      '{"command":"x","confirm":{"a.b.get":"always","get":"always"}}',
      never,
      '{"command":"x","confirm":{"a.b.get":"never","get":"never"}}',
    ],
    ['{"command":"x"}', never, '{"command":"x"}'],
    ['{"command":"x"}', { tool: "__proto__", confirm: "always" }, '{"command":"x","confirm":{"__proto__":"always"}}'],
  ])("in %s becomes %o", async (entry, change, expected) => {
    expect(await changed(entry, change)).toBe(expected);
  });

  test("has precedence in the entry over the policy of all servers", async () => {
    expect(await changed('{"command":"x"}', never, ', "policy": {"confirm": "always"}')).toBe(
      '{"command":"x","confirm":{"get":"never"}}',
    );
  });
});

describe("access", () => {
  test.each([
    ['{"command":"x"}', "denied", '{"command":"x","deny":["get"]}'],
    ['{"command":"x","deny":["get"]}', "allowed", '{"command":"x"}'],
    ['{"command":"x","deny":["a.b.get", "put"]}', "allowed", '{"command":"x","deny":["put"]}'],
    ['{"command":"x","allow":["put"]}', "allowed", '{"command":"x","allow":["put","get"]}'],
  ])("in %s becomes %p", async (entry, access, expected) => {
    expect(await changed(entry, { tool: "get", access })).toBe(expected);
  });

  test("stays as it is for a tool that another line denies", async () => {
    expect(await changed('{"command":"x"}', { tool: "get", access: "denied" }, ', "policy": {"deny": ["*.get"]}')).toBe(
      '{"command":"x","deny":["get"]}',
    );
    expect(
      await changed(
        '{"command":"x","deny":["get"]}',
        { tool: "get", access: "allowed" },
        ', "policy": {"deny": ["*.get"]}',
      ),
    ).toBe('a.b.get stays switched off: it is denied in the config by policy.deny[0], "*.get"');
  });

  test("is refused for a server that the config does not have", async () => {
    expect(await changed('{"command":"x"}', { server: "zzz", tool: "get", access: "denied" })).toContain(
      'has no server called "zzz"',
    );
  });
});

describe("a project's config", () => {
  const entry = { mcpServers: { a: { command: "x" } } };
  const change: PolicyChange = { server: "a", tool: "get", confirm: "never" };

  test("cannot ask less than the user's own policy", async () => {
    folder.write(".config/claudikins/claudikins.json", { policy: { confirm: { "a.get": "always" } } });
    const file = folder.write("project/claudikins.json", entry);
    const which = { flag: file, cwd: folder.path, env: env() };
    const failure = await changePolicy(change, which, { isAnswered: true }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "POLICY_DENIED",
      message: `a.get keeps "always" by policy.confirm in the user's claudikins.json`,
      hint: "Change this in policy.confirm in the user's claudikins.json: no other place overrides it",
    });
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(entry);
  });

  test("stays as it is without trust, and one that the user vouches for is not trusted by the change", async () => {
    const file = folder.write("project/claudikins.json", entry);
    const which = { flag: file, cwd: folder.path, env: env() };
    const denied: PolicyChange = { server: "a", tool: "get", access: "denied" };
    expect(changePolicy(denied, which)).rejects.toMatchObject({ code: "CONFIG_NOT_TRUSTED" });
    expect(await changePolicy(denied, which, { isAnswered: true })).toBe(true);
    expect(await Bun.file(trustFile(env())).exists()).toBe(false);
  });
});

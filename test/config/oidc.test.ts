/** The key `auth.oidc` of the config: what is checked, what is filled in, and what a person's part of a config is. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { groupsOfDoor, isIn, requireUsable } from "../../src/config/oidc.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { linesOf } from "../../src/setup/trust/lines.ts";
import { temporaryFolder } from "../support/temporary.ts";

const asking = { clientId: "api", clientSecret: "${API_SECRET}" };
const least = { issuer: "https://login.example.com", audience: "https://tools.example.com" };

function parsed(oidc: object, doors: object = { qa: {} }) {
  return parseConfig(JSON.stringify({ mcpServers: {}, doors, auth: { oidc } }, null, 1), "claudikins.json").auth?.oidc;
}

/** The problems, without the name and the position in the file. */
function problemsOf(oidc: object): string[] {
  try {
    parsed(oidc);
    return [];
  } catch (error) {
    return (error as Error).message.split("\n").map((line) => line.replace(/^.*claudikins\.json(?::\d+)*:? */, ""));
  }
}

describe("the settings", () => {
  test("have defaults that let nobody in", () => {
    expect(parsed(least)).toEqual({
      issuer: "https://login.example.com",
      audience: ["https://tools.example.com"],
      scopes: [],
      groups: "groups",
      clockSkewSeconds: 10,
      doors: {},
      approvers: [],
      administrators: [],
    });
  });

  test.each([
    [{ issuer: "http://login.example.com" }, /^auth\.oidc\.issuer: expected the issuer .* https:\/\//],
    [{ issuer: "https://login.example.com/?a=b" }, /^auth\.oidc\.issuer: expected the issuer/],
    [{ address: "https://tools.example.com/mcp" }, /^auth\.oidc\.address: expected an address without a path/],
    [{ doors: { nope: ["a"] } }, /^auth\.oidc\.doors\.nope: the config has no door "nope"\. Expected one of: mcp, qa/],
    [{ doors: { qa: "a" } }, /^auth\.oidc\.doors\.qa: /],
    [{ aproovers: ["a"] }, /^auth\.oidc\.aproovers: unknown key, did you mean "approvers"\?/],
    [{ zzz: 1 }, /^auth\.oidc\.zzz: unknown key: expected one of issuer, audience/],
    [{ clockSkewSeconds: 301 }, /^auth\.oidc\.clockSkewSeconds: /],
    [{ clientSecret: "s" }, /^auth\.oidc\.clientId: missing: a secret needs a client ID/],
    [{ introspection: { clientId: "api" } }, /^auth\.oidc\.introspection\.clientSecret: /],
    [
      { introspection: { ...asking, url: "http://login.example.com/i" } },
      /^auth\.oidc\.introspection\.url: expected an address/,
    ],
    [
      { introspection: { ...asking, clientid: "x" } },
      /^auth\.oidc\.introspection\.clientid: unknown key, did you mean "clientId"/,
    ],
    [{ scopes: ["a b"] }, /use one scope for each string/],
  ])("are refused with %j", (more, problem) => {
    expect(problemsOf({ ...least, ...more }).join("\n")).toMatch(new RegExp(problem.source, "m"));
  });

  test("keep the secret out of problems", () => {
    const problems = problemsOf({ ...least, clientId: "page", clientSecret: ["hush-hush"] });
    expect(problems.join()).toContain("auth.oidc.clientSecret");
    expect(problems.join()).not.toContain("hush");
    const wrong = [{ ...asking, clientSecret: ["hush-hush"] }, "hush-hush"];
    for (const introspection of wrong) expect(problemsOf({ ...least, introspection }).join()).not.toContain("hush");
  });

  test("keep the secrets out of what a person agrees to", () => {
    const secrets = {
      clientId: "page",
      clientSecret: "hush-one",
      introspection: { ...asking, clientSecret: "hush-two" },
    };
    const auth = { oidc: { ...least, ...secrets } };
    const lines = linesOf(parseConfig(JSON.stringify({ mcpServers: {}, auth }), "claudikins.json"));
    const text = lines.map((each) => each.text).join("\n");
    expect(text).toContain('"introspection":{"clientId":"api","clientSecret":"***"}');
    expect(text).not.toContain("hush");
  });

  test("may be addresses of this machine without TLS", () => {
    expect(problemsOf({ ...least, issuer: "http://127.0.0.1:4444", address: "http://localhost:4600" })).toEqual([]);
  });
});

describe("groups", () => {
  test("are missing for a door without an entry, and for the whole config without one", () => {
    const doors = { qa: ["qa-team"] };
    expect(groupsOfDoor({ doors }, "qa")).toEqual(["qa-team"]);
    for (const door of ["ops", "__proto__", "constructor", undefined])
      expect(groupsOfDoor({ doors }, door)).toEqual([]);
    expect(groupsOfDoor({ doors: { mcp: ["a"] } }, undefined)).toEqual(["a"]);
  });

  test("are everybody with *, and nobody without an entry", () => {
    expect(isIn([], ["*"])).toBe(true);
    expect(isIn(["*"], ["a"])).toBe(false);
    expect(isIn(["a"], ["b", "a"])).toBe(true);
    expect(isIn(["a"], [])).toBe(false);
    expect(isIn(["a"], undefined)).toBe(false);
  });
});

describe("the loaded settings", () => {
  test("have the values of their variables, and say which are missing", async () => {
    using folder = temporaryFolder();
    const oidc = { ...least, clientId: "page", clientSecret: "${SECRET}", address: "https://tools.example.com/" };
    folder.write("claudikins.json", { mcpServers: {}, auth: { oidc } });
    const load = (more: object = {}) =>
      loadConfig({ cwd: folder.path, env: { HOME: folder.path, ...more }, trust: true });
    const config = await load({ SECRET: "hush" });
    expect(config.oidc).toMatchObject({ clientSecret: "hush", address: "https://tools.example.com", needs: [] });
    requireUsable(config.oidc!);
    // Other commands work without the variable.
    const without = await load();
    expect(() => requireUsable(without.oidc!)).toThrow("auth.oidc needs SECRET in the environment");
  });

  test("give a person a workspace beside that of everybody, at each door", async () => {
    using folder = temporaryFolder();
    folder.write("claudikins.json", { mcpServers: {}, doors: { qa: {}, ops: { workspace: "files" } } });
    const person = { id: "0123456789abcdef", name: "ann" };
    const load = (door?: string) =>
      loadConfig({ cwd: folder.path, env: { HOME: folder.path }, trust: true, person, door });
    const data = join(folder.path, ".claudikins");
    const workspaceAt = async (door?: string) => (await load(door)).folders.workspace;
    expect(await workspaceAt()).toBe(join(data, "workspace-people", person.id));
    expect(await workspaceAt("qa")).toBe(join(data, "doors/qa/workspace-people", person.id));
    expect(await workspaceAt("ops")).toBe(join(folder.path, "files-people", person.id));
    expect((await load()).folders.registry).toBe(join(data, "registry"));
  });
});

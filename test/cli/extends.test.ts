/** The user's own servers in a project: which of them it has, whose rules apply, and where everything is shown and written. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { placeOf } from "../../src/daemon/place.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { type CliOptions, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let home: string;
let project: string;

beforeEach(() => {
  folder = temporaryFolder();
  home = join(folder.path, "home");
  project = join(folder.path, "project");
  for (const path of [home, project]) mkdirSync(path);
});
afterEach(() => folder[Symbol.dispose]());

const user = (servers: object, more: object = {}) =>
  folder.write("home/.config/claudikins/claudikins.json", { mcpServers: servers, ...more });
const shared = (servers: object, more: object = {}) =>
  folder.write("project/claudikins.json", { mcpServers: servers, ...more });
const run = (argv: string[], { env, ...options }: CliOptions = {}) =>
  cli(argv, { cwd: project, ...options, env: { HOME: home, ...env } });
const calls = (name: string) => fixture("counting", join(folder.path, name));
const registry = (path: string) => join(folder.path, path, "index.json");
const ownRegistry = "home/.local/share/claudikins/registry";
const stored = (path: string): string[] =>
  existsSync(registry(path))
    ? JSON.parse(readFileSync(registry(path), "utf8")).servers.map(({ name }: { name: string }) => name)
    : [];
const exec = async (code: string, options?: CliOptions) => {
  const { stdout, stderr, exitCode } = await run(["exec", "-e", code], options);
  return exitCode === 0 ? JSON.parse(stdout) : stderr;
};

describe("the servers of a project", () => {
  test("are joined by the user's own servers, and one program calls both", async () => {
    user({ notes: calls("notes"), off: { ...calls("off"), disabled: true } });
    shared({ shop: calls("shop") });
    const both = "const [a, b] = await Promise.all([shop.act(), notes.act()]); return [a.count, b.count]";
    expect(await exec(both)).toEqual([1, 1]);
    expect(await exec("return Object.keys(servers)")).toEqual(["shop", "notes"]);
    expect((await run(["call", "notes.act"])).stdout).toContain('"count": 2');
    expect(await exec('import { act } from "./servers/notes"; return (await act()).count')).toBe(3);
  });

  test('stand alone with "extends": false', async () => {
    user({ notes: calls("notes") });
    shared({ shop: calls("shop") }, { extends: false });
    expect(await exec("return Object.keys(servers)")).toEqual(["shop"]);
    expect((await run(["call", "notes.act"])).exitCode).toBe(2);
    shared({}, { extends: "team" });
    expect((await run(["list"])).stderr).toContain('extends: expected "user" or false, found "team"');
  });

  test("take the place of the user's servers with their names, also if they are disabled", async () => {
    user({ notes: calls("own"), other: calls("other"), more: calls("more") });
    shared({ notes: calls("shared"), other: { ...calls("x"), disabled: true } });
    expect(await exec("return [Object.keys(servers), (await notes.act()).count]")).toEqual([["notes", "more"], 1]);
    expect(existsSync(join(folder.path, "shared"))).toBe(true);
    expect(existsSync(join(folder.path, "own"))).toBe(false);
  });

  test("have the limits of the project, and records that neither file turns off", async () => {
    user({ notes: calls("notes") }, { stats: false, limits: { calls: 9 } });
    shared({ shop: calls("shop") }, { limits: { calls: 1 } });
    expect(await exec("await notes.act(); await notes.act()")).toContain("1 call");
    expect((await run(["stats", "--json"])).stdout).not.toContain("notes");
  });

  test("leave paths and variables of the user's servers to the user's own config", async () => {
    const made = join(home, ".config/claudikins/made");
    mkdirSync(made, { recursive: true });
    user({
      notes: { ...fixture("counting", "calls"), cwd: "made" },
      needy: { ...fixture("odd"), env: { TOKEN: "${NOTES_TOKEN}" } },
    });
    shared({});
    expect(await exec("return (await notes.act()).count")).toBe(1);
    expect(existsSync(join(made, "calls"))).toBe(true);
    const token = "return [(await needy.environment()).TOKEN]";
    expect(await exec(token)).toContain("NOTES_TOKEN");
    expect(await exec(token, { env: { NOTES_TOKEN: "t-1" } })).toEqual(["t-1"]);
  });
});

describe("the rules", () => {
  const deniedBy = async (tool: string) => (await run(["call", tool])).stderr;

  test("a project cannot weaken the rules of the user's servers", async () => {
    user({
      notes: { ...calls("notes"), deny: ["act"], confirm: "always" },
      only: { ...calls("only"), allow: ["read"] },
    });
    const never = { allow: ["*.*"], confirm: { "*.*": "never", "notes.read": "never" } };
    shared({}, { policy: never });
    expect(await deniedBy("notes.act")).toContain("mcpServers.notes.deny[0] in the user's claudikins.json");
    expect(await deniedBy("notes.read")).toContain("mcpServers.notes.confirm in the user's claudikins.json");
    expect(await deniedBy("only.act")).toContain("mcpServers.only.allow in the user's claudikins.json");
    expect((await run(["call", "only.read"])).exitCode).toBe(0);
  });

  test("the rules of a user's server also apply to a project's server of the same name", async () => {
    user({ notes: { ...calls("own"), deny: ["act"], confirm: { read: "always" } } });
    shared({ notes: { ...calls("shared"), allow: ["*"], confirm: "never" } });
    expect(await deniedBy("notes.act")).toContain("mcpServers.notes.deny[0] in the user's claudikins.json");
    expect(await deniedBy("notes.read")).toContain("mcpServers.notes.confirm in the user's claudikins.json");
  });

  test("the project's policy applies to the user's servers as well, and the error says where to change it", async () => {
    user({ notes: calls("notes") });
    shared({}, { policy: { deny: ["*.act"], confirm: { "notes.read": "always" } } });
    expect(await deniedBy("notes.act")).toContain('policy.deny[0], "*.act"');
    const asked = await deniedBy("notes.read");
    expect(asked).toContain("Change this in policy.confirm: no other place overrides it");
    // Elsewhere, they apply to nothing.
    expect((await run(["call", "notes.act"], { cwd: home })).exitCode).toBe(0);
  });

  test("the project's policy leaves the user's registry as it is", async () => {
    user({ notes: calls("notes") });
    await run(["gen"], { cwd: home });
    const before = readFileSync(registry(ownRegistry), "utf8");
    shared({}, { policy: { deny: ["*.act"] } });
    // The tools are known without a start, and what the project denies is not shown.
    const known = JSON.parse((await run(["list", "--json"])).stdout).servers[0];
    expect(known).toMatchObject({ server: "notes", state: "idle", tools: 3, denied: 1 });
    expect((await run(["list", "tools", "notes"])).stdout).not.toContain("notes.act");
    await run(["gen"]);
    expect(readFileSync(registry(ownRegistry), "utf8")).toBe(before);
  });
});

describe("trust", () => {
  const untrusting = { env: { CI: "" } };

  test("is needed before a project has the user's servers, even if its config has nothing else", async () => {
    const own = user({ notes: calls("notes") });
    shared({});
    const refused = await run(["gen"], untrusting);
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toContain("is not trusted yet");
    expect(existsSync(join(folder.path, "notes"))).toBe(false);
    // They are used as in a folder without a config, and not by the project's.
    const meanwhile = await run(["list", "--json"], untrusting);
    expect([meanwhile.exitCode, JSON.parse(meanwhile.stdout).config]).toEqual([0, own]);
    expect(meanwhile.stderr).toContain("is not trusted yet");
    const { stdout } = await run(["trust"], { ...untrusting, terminal: false });
    expect(stdout).toContain("your own servers\n    can be used here too: notes");
    await run(["trust", "--yes"], untrusting);
    expect((await run(["call", "notes.act"], untrusting)).exitCode).toBe(0);
    shared({}, { extends: false });
    await run(["trust", "--revoke"], untrusting);
    expect((await run(["list"], untrusting)).exitCode).toBe(0);
  });

  test("is asked with the names of the user's servers that the project replaces", async () => {
    user({ notes: calls("own"), more: calls("more") });
    shared({ notes: calls("shared") });
    const { stdout } = await run(["trust"], untrusting);
    expect(stdout).toContain(
      "your own servers\n    can be used here too: more\n    are replaced by the project's: notes",
    );
    const { lines } = JSON.parse((await run(["trust", "--json", "--yes"], untrusting)).stdout);
    expect(lines).toContainEqual({
      part: "your own servers",
      does: "are replaced by the project's",
      what: "notes",
      change: "new",
    });
  });
});

describe("commands", () => {
  test("show which servers are the user's own", async () => {
    const own = user({ notes: calls("own"), shop: calls("own-shop") });
    const file = shared({ shop: calls("shop") });
    const { stdout, stderr } = await run(["list"]);
    expect(stdout).toMatch(/^notes +stdio \S+ \(own\)/m);
    expect(stderr).toContain(`Servers marked "own" are from your own config, ${own}; the project replaces shop.`);
    const json = JSON.parse((await run(["list", "--json"])).stdout);
    expect(json).toMatchObject({ config: file, ownConfig: own, replaced: ["shop"] });
    expect(json.servers).toMatchObject([
      { server: "shop", from: "project" },
      { server: "notes", from: "own" },
    ]);
    const path = await run(["config", "path"]);
    expect(path).toMatchObject({ stdout: `${file}\n`, exitCode: 0 });
    expect(path.stderr).toContain(`the servers of your own config are used as well: ${own}`);
    const doctor = await run(["doctor"]);
    expect(doctor.stdout).toContain(`Your own config adds notes; the project replaces shop: ${own}`);
    expect(doctor.stdout).toMatch(/^.*notes: 4 tools/m);
    shared({ shop: calls("shop") }, { extends: false });
    expect((await run(["doctor"])).stdout).toContain("Your own servers are not used here");
  });

  test("change the project's file, and say when a server is in the user's own", async () => {
    user({ notes: calls("own") });
    const file = shared({});
    for (const argv of [
      ["remove", "notes"],
      ["disable", "notes"],
      ["disable", "notes.act"],
    ]) {
      const { exitCode, stderr } = await run(argv);
      expect([exitCode, stderr]).toEqual([
        2,
        expect.stringContaining(`${file} has no server called "notes": it is in your own config`),
      ]);
      expect(stderr).toContain("add --user");
    }
    const { command, args } = calls("shared");
    const added = await run(["add", "notes", "--", command, ...args]);
    expect(added.stdout).toContain(`Added notes to ${file}`);
    expect(added.stderr).toContain("it takes the place of notes in your own config");
    expect((await run(["remove", "notes"])).exitCode).toBe(0);
    expect((await run(["disable", "notes.act", "--user"])).exitCode).toBe(0);
    expect((await run(["call", "notes.act"])).stderr).toContain("in the user's claudikins.json");
  });
});

describe("the project's registry", () => {
  test("has no server of the user, and is the same for everybody who checks it", async () => {
    user({ notes: calls("notes") });
    shared({ shop: calls("shop") }, { registry: "tools" });
    await run(["gen"]);
    await run(["search", "act"]);
    await exec("return [await shop.act(), await notes.act()]");
    expect(stored("project/tools")).toEqual(["shop"]);
    expect(stored(ownRegistry)).toEqual(["notes"]);
    expect((await run(["gen", "--check"])).exitCode).toBe(0);
    const other = { env: { HOME: join(folder.path, "other") } };
    expect((await run(["gen", "--check"], other)).exitCode).toBe(0);
    const doctor = (await run(["doctor"])).stdout;
    expect(doctor).toContain("8 tools of 2 servers");
    expect(doctor).not.toContain("Generated files differ");
  });

  test("does not describe the user's servers", async () => {
    user({ notes: calls("notes") });
    shared({ shop: calls("shop") });
    await run(["gen"], { cwd: home });
    const own = readFileSync(registry(ownRegistry), "utf8");
    folder.write("project/.claudikins/registry/index.json", own.replace('"act"', '"steal"'));
    const { stdout } = await run(["list", "tools", "notes"]);
    expect(stdout).toContain("notes.act");
    expect(stdout).not.toContain("steal");
  });
});

test("callers with other values for variables of the user's servers have another daemon", () => {
  user({ notes: { ...calls("notes"), env: { TOKEN: "${NOTES_TOKEN}" } } });
  const file = shared({});
  const at = (token: string) => placeOf(file, { HOME: home, NOTES_TOKEN: token }).socket;
  expect(at("a")).toBe(at("a"));
  expect(at("a")).not.toBe(at("b"));
});

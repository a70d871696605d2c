/** Entries of servers with mistakes: they are left out with the reason, and everything else works. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { loadConfig, mistakeLines } from "../../src/config/load.ts";
import { execute } from "../../src/programs/execute.ts";
import { downServers, downText } from "../../src/tools/search/down-servers.ts";
import { claudikinsCommand } from "../support/command.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram } from "../support/process.ts";
import { project } from "../tools/generation/project.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
const env = () => ({ HOME: folder.path, CI: "true", XDG_CONFIG_HOME: `${folder.path}/own` });
const load = (config: object) => {
  folder.write("claudikins.json", config);
  return loadConfig({ cwd: folder.path, env: env() });
};
const good = { command: "node" };

test.each<[string, unknown, string]>([
  ["a wrong address", { url: "http://127.0.0.1::8089/sse" }, "url: expected an address"],
  ["no command", { args: ["a"] }, "command: missing, expected a string"],
  ["an empty command", { command: "" }, "command: must not be empty"],
  ["a misspelt key", { comand: "node" }, 'comand: unknown key, did you mean "command"?'],
  ["a wrong type", { command: "node", disabled: "no" }, "disabled: expected true or false"],
  ["a wrong rule", { command: "node", deny: "x" }, "deny: "],
  ["a wrong header", { url: "https://a.example", headers: { "a b": "c" } }, "headers"],
  ["two ways", { command: "node", url: "https://a.example" }, 'the entry also has a "command"'],
  ["a wrong reference", { command: "node", env: { A: "${secret:MY-KEY}" } }, "env: the name in"],
  ["no object", null, "expected an object"],
])("an entry with %s is left out, and the others stay", async (_, entry, text) => {
  const config = await load({ mcpServers: { a: good, wrong: entry, z: good } });
  expect([...config.servers.values()].map(({ name, mistake }) => [name, mistake !== undefined])).toEqual([
    ["a", false],
    ["z", false],
    ["wrong", true],
  ]);
  const [line, ...more] = mistakeLines(config);
  expect(line).toStartWith(`the server "wrong" is left out: ${folder.path}/claudikins.json:`);
  expect(line).toContain(text);
  expect(more).toEqual([]);
});

test("a mistake shows no argument and no variable", async () => {
  const secrets = { command: 5, args: "s3cret", env: { A: ["s3cret"] }, headers: "s3cret", url: "http://s3cret::1" };
  const config = await load({ mcpServers: { wrong: secrets, far: { url: "http://s3cret::1", headers: "s3cret" } } });
  expect(mistakeLines(config).length).toBeGreaterThan(2);
  expect(JSON.stringify([...config.servers.values()])).not.toContain("s3cret");
});

test("a mistake outside the entries is an error of the whole file, with the mistakes of entries", async () => {
  const config = { mcpServers: { wrong: {} }, policy: { deny: "x" } };
  await expect(load(config)).rejects.toThrow(/2 problems(?:.|\n)*mcpServers.wrong.command(?:.|\n)*policy/);
  await expect(load({ mcpServers: [] })).rejects.toThrow("mcpServers: expected an object");
});

test("an entry that is disabled stays disabled", async () => {
  const { servers, disabled } = await load({ mcpServers: { a: good, wrong: { command: 5, disabled: true } } });
  expect([[...servers.keys()], [...disabled.keys()]]).toEqual([["a"], ["wrong"]]);
});

test("a server of a project is left out if the rules for it in the user's own config have a mistake", async () => {
  folder.write("own/claudikins/claudikins.json", {
    mcpServers: { shop: { command: "node", deny: 1 }, own: { url: "x" } },
  });
  const { servers } = await load({ mcpServers: { shop: good, other: good } });
  const mistakes = [...servers.values()].map(({ name, mistake }) => [name, mistake?.file]);
  const own = `${folder.path}/own/claudikins/claudikins.json`;
  expect(mistakes).toEqual([
    ["shop", own],
    ["other", undefined],
    ["own", own],
  ]);
});

test("an edit of a door or of the tools may name a server with a mistake", async () => {
  const doors = { d: { servers: ["wrong", "a"] } };
  const { servers } = await load({ mcpServers: { a: good, wrong: {} }, doors, tools: { "wrong.x": { name: "y" } } });
  expect(servers.size).toBe(2);
});

test("a call of such a server fails with the reason, searches name it, and other servers work", async () => {
  using place = project();
  place.configure({ shop: place.offering("shop", { go: {} }), wrong: { url: "nowhere" } });
  await using app = await place.open();
  const outcome = await execute({ source: "await shop.go({}); return await wrong.go({})" }, app);
  expect(outcome).toMatchObject({
    ok: false,
    error: {
      code: "CONFIG_INVALID",
      message: expect.stringContaining(
        'Server "wrong" has a mistake in its config entry: mcpServers.wrong.url: expected',
      ),
      hint: expect.stringContaining("Correct the entry in claudikins.json, line 1"),
    },
    receipt: { calls: 2 },
  });
  expect(JSON.stringify(outcome)).not.toContain(place.path);
  expect(downText(downServers(app))).toContain("wrong has a mistake in its config entry: mcpServers.wrong.url");
  expect(app.pool.state("wrong")).toMatchObject({ state: "broken", lasting: true });
});

test("`list` and `doctor` say where the mistake is, and `add` does not accept one", async () => {
  const file = folder.write("claudikins.json", { mcpServers: { wrong: { url: "nowhere" } } });
  const run = (...args: string[]) =>
    runProgram([...claudikinsCommand, ...args], { cwd: folder.path, env: { ...env(), CLAUDIKINS_DAEMON: "off" } });
  const listed = await run("list");
  expect([listed.exitCode, listed.stderr]).toEqual([0, expect.stringContaining(`${file}:4:`)]);
  const checked = await run("doctor", "--json");
  expect(checked.stdout).toContain(`The server \\"wrong\\" is left out: ${file}:4:`);
  const added = await run("add", "worse", "--no-check", "--json", '{"worse": {"command": "x", "confirm": "x"}}');
  expect([added.exitCode, added.stderr]).toEqual([2, expect.stringContaining("confirm")]);
});

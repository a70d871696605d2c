/** `list tools` of servers that are known, new, broken, denied or missing. */
import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { type CliOptions, cli, page } from "./in-memory.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });
beforeEach(() => {
  configure({});
});

const tools = [
  {
    name: "get-it",
    description: "Gets one. By its number.",
    inputSchema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
  },
  { name: "remove_it", description: "Removes it." },
  { name: "read_it", title: "Reads", description: "" },
];

const recording = (keys: object = {}) => ({
  ...fixture("recording", join(folder.path, "got.jsonl"), folder.write("tools.json", tools)),
  ...keys,
});

function configure(more: Record<string, object>, keys: object = {}): void {
  folder.write("claudikins.json", { mcpServers: { "my.rec": recording(keys), ...more } });
}

const run = (argv: string[], options: CliOptions = {}) => cli(["list", ...argv], { cwd: folder.path, ...options });
const shown = async (argv: string[], options: CliOptions = {}) =>
  page(["list", ...argv], await run(argv, options), folder.path);

test("list tools prints one tool per line, and asks unknown servers once", async () => {
  const text = await shown(["tools"]);
  expect(text).toMatchInlineSnapshot(`
    "$ claudikins list tools
    --- stdout
    my.rec.get-it     Gets one.
    my.rec.read_it    Reads
    my.rec.remove_it  Removes it.
    --- exit code 0
    "
  `);
  // The server is now known and not asked again: it would have other tools.
  folder.write("tools.json", []);
  expect(await shown(["tools"])).toBe(text);
  expect(await shown(["tools", "my_rec"])).toContain("my.rec.get-it");
});

test("--detailed shows how to call each tool, with its example", async () => {
  expect(await shown(["tools", "my.rec", "--detailed"])).toMatchInlineSnapshot(`
    "$ claudikins list tools my.rec --detailed
    --- stdout
    my.rec.get-it
      Gets one.
      my_rec.get_it(args: { id: number }): Promise<unknown>
      await my_rec.get_it({ id: 1 })
      untrusted: nothing says what it deals with, or that its world is closed

    my.rec.read_it
      Reads
      my_rec.read_it(): Promise<unknown>
      untrusted: nothing says what it deals with, or that its world is closed

    my.rec.remove_it
      Removes it.
      my_rec.remove_it(): Promise<unknown>
    --- exit code 0
    "
  `);
});

test("--json prints the tools as one document", async () => {
  const { stdout, ...rest } = await run(["tools", "--json"]);
  expect(rest).toEqual({ exitCode: 0, stderr: "" });
  expect(JSON.parse(stdout).tools[0]).toEqual({
    id: "my.rec.get-it",
    server: "my.rec",
    name: "get-it",
    description: "Gets one.",
  });
  const detailed = JSON.parse((await run(["tools", "--json", "--detailed"])).stdout);
  expect(detailed).toEqual({
    tools: expect.arrayContaining([
      {
        id: "my.rec.get-it",
        server: "my.rec",
        name: "get-it",
        description: "Gets one.",
        signature: "my_rec.get_it(args: { id: number }): Promise<unknown>",
        example: "await my_rec.get_it({ id: 1 })",
        labels: { untrusted: "nothing says what it deals with, or that its world is closed" },
      },
    ]),
    missing: [],
  });
});

test("a broken server is named with its fix, and does not hide the others", async () => {
  configure({ broken: fixture("crash-on-start"), needy: { command: "x", env: { A: "${NOT_SET}" } } });
  const { exitCode, stdout, stderr } = await run(["tools"]);
  expect([exitCode, stdout.split("\n").length]).toEqual([0, 4]);
  expect(stderr).toContain("Not listed: broken (");
  expect(stderr).toContain("Not listed: needy (needs NOT_SET");
  const named = await run(["tools", "my.rec", "needy"]);
  expect([named.exitCode, named.stdout.split("\n").length]).toEqual([2, 4]);
  expect(named.stderr).toMatch(/^Not listed: needy \(Server "needy" needs NOT_SET in the environment.*\)\n$/);
  const json = await run(["tools", "broken", "needy", "--json"]);
  expect([json.exitCode, json.stdout]).toEqual([4, ""]);
  expect(JSON.parse(json.stderr)).toMatchObject({
    error: { code: "SERVER_UNAVAILABLE", message: "2 servers could not list their tools: broken, needy" },
    list: { tools: [], missing: [{ server: "broken" }, { server: "needy", code: "NEEDS_VARIABLE" }] },
  });
});

test("denied tools are not shown, and a server that is denied as a whole is not asked", async () => {
  configure({}, { deny: ["remove_*"] });
  expect((await run(["tools"])).stdout).not.toContain("remove_it");
  configure({ closed: { ...fixture("crash-on-start"), deny: ["*"] } });
  expect(await run(["tools"])).toMatchObject({ exitCode: 0, stderr: "" });
  expect(await run(["tools", "closed"])).toMatchObject({ exitCode: 2, stdout: "" });
});

test("misspelled words are refused with a suggestion", async () => {
  expect(await run(["servers"])).toEqual(await run([]));
  const texts: string[] = [];
  for (const words of [
    ["tols"],
    ["my.rec"],
    ["servers", "my.rec"],
    ["--detailed"],
    ["tools", "--check"],
    ["tools", "myrec"],
  ]) {
    texts.push(await shown(words));
  }
  expect(texts.join("\n")).toMatchInlineSnapshot(`
    "$ claudikins list tols
    --- stderr
    error: No server is called "tols"

    hint: Did you mean tools?
    --- exit code 2

    $ claudikins list my.rec
    --- stdout
    my.rec.get-it     Gets one.
    my.rec.read_it    Reads
    my.rec.remove_it  Removes it.
    --- exit code 0

    $ claudikins list servers my.rec
    --- stderr
    error: "my.rec" works only with list tools

    hint: Run claudikins list tools my.rec
    --- exit code 2

    $ claudikins list --detailed
    --- stderr
    error: --detailed works only with list tools

    hint: Run claudikins list tools --detailed
    --- exit code 2

    $ claudikins list tools --check
    --- stderr
    error: --check works only with servers: claudikins list --check
    --- exit code 2

    $ claudikins list tools myrec
    --- stderr
    error: No server is called "myrec"

    hint: Did you mean my.rec? Available: my.rec.
    --- exit code 2
    "
  `);
  expect(existsSync(join(folder.path, "got.jsonl"))).toBe(false);
});

test("a config without servers has no tools", async () => {
  folder.write("claudikins.json", { mcpServers: {} });
  expect(await run(["tools"])).toEqual({ exitCode: 0, stdout: "", stderr: "There are no tools.\n" });
  expect(JSON.parse((await run(["tools", "--json"])).stdout)).toEqual({ tools: [], missing: [] });
});

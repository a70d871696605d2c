/** `gen` with --check, --server, --category, --output and --clean. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { type CliOptions, cli, page } from "./in-memory.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const folder = ownFolder();

const run = (argv: string[], options: CliOptions = {}) => cli(argv, { cwd: folder.path, ...options });

/** The output of one call, with narrow columns: their widths depend on times. */
const shown = async (argv: string[]) => page(argv, await run(argv), folder.path).replace(/(?<=\S) {3,}/g, "  ");

const offering = (name: string, ...tools: string[]) =>
  fixture(
    "from-file",
    folder.write(
      `tools/${name}.json`,
      tools.map((tool) => ({ name: tool, inputSchema: { type: "object" } })),
    ),
  );

const configure = (mcpServers: object) => void folder.write("claudikins.json", { mcpServers });

test("gen --check reports a stale registry, a current one, and a server that does not answer", async () => {
  const shop = { ...offering("shop", "list", "get"), category: "business" };
  configure({ shop, notes: offering("notes", "add") });
  expect(await shown(["gen", "--check"])).toMatchInlineSnapshot(`
    "$ claudikins gen --check
    --- stdout
    missing  business/shop/index.ts
    missing  business/shop/client.ts
    missing  business/shop/example.ts
    missing  business/shop/get.ts
    missing  business/shop/list.ts
    missing  business/shop/server-global.d.ts
    missing  business/shop/server-module.d.ts
    missing  other/notes/index.ts
    missing  other/notes/client.ts
    missing  other/notes/example.ts
    missing  other/notes/add.ts
    missing  other/notes/server-global.d.ts
    missing  other/notes/server-module.d.ts
    missing  index.json
    missing  globals.d.ts
    missing  _runtime/bridge.ts
    missing  _runtime/bridge-code.js
    missing  package.json
    missing  README.md
    --- stderr
    server  state  tools  differences  time
    shop  stale  2  7  N ms
    notes  stale  1  6  N ms

    error: The registry in FOLDER/.claudikins/registry is out of date: 19 files

    hint: To update it, run the command again without --check
    --- exit code 1
    "
  `);
  expect(existsSync(join(folder.path, ".claudikins"))).toBe(false);
  await run(["gen"]);
  expect(await shown(["gen", "--check"])).toMatchInlineSnapshot(`
    "$ claudikins gen --check
    --- stdout
    Up to date: 3 tools of 2 servers in FOLDER/.claudikins/registry
    --- stderr
    server  state  tools  differences  time
    shop  ok  2  0  N ms
    notes  ok  1  0  N ms
    --- exit code 0
    "
  `);
  offering("shop", "list", "refund");
  configure({ shop, broken: fixture("crash-on-start") });
  expect(await shown(["gen", "--check"])).toMatchInlineSnapshot(`
    "$ claudikins gen --check
    --- stdout
    stale  business/shop/index.ts
    stale  business/shop/client.ts
    stale  business/shop/example.ts
    missing  business/shop/refund.ts
    stale  business/shop/server-global.d.ts
    stale  business/shop/server-module.d.ts
    extra  business/shop/get.ts
    stale  index.json
    stale  globals.d.ts
    extra  other/notes/add.ts
    extra  other/notes/client.ts
    extra  other/notes/example.ts
    extra  other/notes/index.ts
    extra  other/notes/server-global.d.ts
    extra  other/notes/server-module.d.ts
    --- stderr
    server  state  tools  differences  time
    shop  stale  2  7  N ms
    broken  SERVER_UNAVAILABLE  -  -  N ms

    error: Server "broken" did not start: its process exited with code 3
      | warming up
      | fatal: no database at db://nowhere

    hint: Run its command from the config by hand to see more.

    error: The registry in FOLDER/.claudikins/registry is out of date: 15 files

    hint: To update it, run the command again without --check
    --- exit code 1
    "
  `);
  configure({ broken: fixture("crash-on-start") });
  await run(["gen"]);
  expect(await run(["gen", "--check"])).toMatchObject({ exitCode: 4, stdout: "" });
});

test("gen --check --json prints the report on stdout if all files are current, otherwise with the error", async () => {
  configure({ shop: offering("shop", "list") });
  const stale = await run(["gen", "--check", "--json"]);
  const registry = join(folder.path, ".claudikins", "registry");
  expect({ ...stale, stderr: JSON.parse(stale.stderr) }).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: {
      error: {
        code: "REGISTRY_STALE",
        message: `The registry in ${registry} is out of date: 12 files`,
        hint: "To update it, run the command again without --check",
      },
      report: {
        folder: registry,
        servers: [
          {
            server: "shop",
            tools: 1,
            durationMs: expect.any(Number),
            differences: [
              ...["index.ts", "client.ts", "example.ts", "list.ts", "server-global.d.ts", "server-module.d.ts"].map(
                (name) => ({
                  path: join(registry, "other", "shop", name),
                  state: "missing",
                }),
              ),
            ],
          },
        ],
        differences: [
          "index.json",
          "globals.d.ts",
          "_runtime/bridge.ts",
          "_runtime/bridge-code.js",
          "package.json",
          "README.md",
        ].map((name) => ({
          path: join(registry, name),
          state: "missing",
        })),
      },
    },
  });
  await run(["gen"]);
  const current = await run(["gen", "--check", "--json"]);
  expect({ ...current, stdout: JSON.parse(current.stdout) }).toMatchObject({
    exitCode: 0,
    stderr: "",
    stdout: { folder: registry, servers: [{ server: "shop", tools: 1, differences: [] }], differences: [] },
  });
});

test("--server and --category select servers, and unknown names list what exists", async () => {
  configure({
    shop: { ...offering("shop", "list"), category: "business" },
    notes: offering("notes", "add"),
    more: offering("more", "add"),
    broken: { ...fixture("crash-on-start"), category: "tests" },
  });
  const report = async (...flags: string[]) => {
    const { stdout } = await run(["gen", "--json", ...flags]);
    return (JSON.parse(stdout).servers as { server: string }[]).map(({ server }) => server);
  };
  expect(await report("--server", "more", "--server=shop", "--server", "more")).toEqual(["shop", "more"]);
  expect(await report("--category", "business", "--category", "other")).toEqual(["shop", "notes", "more"]);
  expect(await shown(["gen", "--server", "shopp"])).toMatchInlineSnapshot(`
    "$ claudikins gen --server shopp
    --- stderr
    error: No server is called "shopp"

    hint: Did you mean shop? Available: shop, notes, more, broken.
    --- exit code 2
    "
  `);
  expect(await shown(["gen", "--category", "busy"])).toMatchInlineSnapshot(`
    "$ claudikins gen --category busy
    --- stderr
    error: No configured server is in the category "busy"

    hint: Available: business, other, tests.
    --- exit code 2
    "
  `);
  expect((await run(["gen", "--server"])).stderr).toStartWith("error: --server needs a value\n");
});

test("--output writes to another folder and not to the default one", async () => {
  configure({ shop: offering("shop", "list") });
  const { stdout } = await run(["gen", "--output", "sub/tools"]);
  expect(stdout).toBe(`${join(folder.path, "sub", "tools")}\n`);
  expect(readdirSync(join(folder.path, "sub", "tools")).sort()).toEqual([
    "README.md",
    "_runtime",
    "globals.d.ts",
    "index.json",
    "other",
    "package.json",
  ]);
  expect(existsSync(join(folder.path, ".claudikins"))).toBe(false);
  expect(await run(["gen", "--output", "sub/tools", "--check"])).toMatchObject({ exitCode: 0 });
  expect(await run(["gen", "--check"])).toMatchObject({ exitCode: 1 });
});

test("--clean names what it removed", async () => {
  configure({ shop: offering("shop", "list"), old: offering("old", "x") });
  await run(["gen"]);
  await Bun.$`rm ${join(folder.path, ".claudikins", "registry", "index.json")}`;
  configure({ shop: offering("shop", "list") });
  expect(await shown(["gen", "--clean"])).toMatchInlineSnapshot(`
    "$ claudikins gen --clean
    --- stdout
    FOLDER/.claudikins/registry
    --- stderr
    server  state  tools  written  removed  time
    shop  ok  1  0  0  N ms

    Removed, because they belonged to no server:
      other/old/client.ts
      other/old/example.ts
      other/old/index.ts
      other/old/server-global.d.ts
      other/old/server-module.d.ts
      other/old/x.ts
    --- exit code 0
    "
  `);
});

test("the progress line fits the terminal", async () => {
  configure({ ["a-name-that-is-longer-than-the-terminal-is-wide"]: offering("shop", "list") });
  const { stderr } = await run(["gen"], { terminal: true, columns: 40 });
  const lines = stderr.split("\r\u001b[2K").slice(1, 3);
  expect(lines).toEqual(["░░░░░░░░░░░░░░░░░░░░░░░░ 0/1 servers ", "████████████████████████ 1/1 servers a-"]);
});

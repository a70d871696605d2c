/** An entry with a GraphQL endpoint, from `claudikins add` to programs. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CliOptions, cli } from "../../cli/in-memory.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { bookshopSchema, startBookshop } from "./bookshop.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
const run = (argv: string[], options: CliOptions = {}) => cli(argv, { cwd: folder.path, ...options });
const users = () =>
  JSON.parse(readFileSync(join(folder.path, ".config", "claudikins", "claudikins.json"), "utf8")).mcpServers;

async function exec(code: string): Promise<unknown> {
  const { exitCode, stdout, stderr } = await run(["exec", "--json", "-e", code]);
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout).value;
}

test("an endpoint is added, found and used in a program", async () => {
  await using shop = startBookshop();
  const added = await run(["add", "shop", "--graphql", shop.url, "--auth", "${SHOP_TOKEN}"], {
    env: { SHOP_TOKEN: "t0ken" },
  });
  expect([added.exitCode, added.stderr]).toEqual([0, expect.any(String)]);
  expect(added.stdout).toContain(": 16 tools\n");
  expect(users().shop).toEqual({ graphql: shop.url, auth: "${SHOP_TOKEN}" });
  const found = JSON.parse((await run(["search", "create a book", "--json"])).stdout);
  expect(found.tools[0].id).toBe("shop.createBook");
});

test("programs get values with exact integers, and errors with the fields that could be read", async () => {
  await using shop = startBookshop();
  folder.write(".config/claudikins/claudikins.json", JSON.stringify({ mcpServers: { shop: { graphql: shop.url } } }));
  expect(await exec("return (await shop.book({ id: 'b1' })).sold")).toBe("9007199254740994");
  expect(await exec("return await shop.count()")).toBe(120);
  expect(await exec("return (await shop.authors()).map(({ name }) => name)")).toEqual(["Ada"]);
  const failed = await exec(`
    try { await shop.book({ id: "b1", select: "title secret" }) }
    catch (error) { return [error.code, error.message.split("\\n")[0], error.data?.value] }
  `);
  expect(failed).toEqual(["TOOL_FAILED", "not for you (FORBIDDEN, at secret)", { title: "Book 1", secret: null }]);
});

test("pages returns all items of a connection, also of one that select has chosen inside of the result", async () => {
  await using shop = startBookshop();
  folder.write(".config/claudikins/claudikins.json", JSON.stringify({ mcpServers: { shop: { graphql: shop.url } } }));
  const read = `
    const all = [];
    for await (const { title } of shop.books.pages({ first: 50 })) all.push(title);
    const select = "name books(first: 2) { nodes { title } }";
    const inner = [];
    for await (const { title } of shop.author.pages({ id: "a1", select })) inner.push(title);
    return [all.length, all[119], inner];
  `;
  expect(await exec(read)).toEqual([120, "Book 119", [0, 1, 2, 3, 4].map((at) => `Book ${at}`)]);
  expect(shop.sent).toHaveLength(6);
});

test("files of the workspace are uploaded, in arguments and in input objects", async () => {
  await using shop = startBookshop();
  folder.write(".config/claudikins/claudikins.json", JSON.stringify({ mcpServers: { shop: { graphql: shop.url } } }));
  const upload = `
    import fs from "node:fs/promises";
    for (const name of ["cover", "first", "second"]) await fs.writeFile("workspace/" + name + ".txt", "text of " + name);
    const pictures = ["first", "second"].map((title) => ({ file: \`workspace/\${title}.txt\`, title }));
    return await shop.addPictures({ cover: "workspace/cover.txt", pictures });
  `;
  expect(await exec(upload)).toEqual([
    "cover: cover.txt text of cover",
    "first: first.txt text of first",
    "second: second.txt text of second",
  ]);
  expect(shop.sent.at(-1)?.variables).toEqual({
    cover: null,
    pictures: [
      { file: null, title: "first" },
      { file: null, title: "second" },
    ],
  });
  expect(await exec("return await shop.addPictures({})")).toEqual([]);
  await expect(exec('return await shop.addPictures({ cover: "workspace/absent.txt" })')).rejects.toThrow("absent.txt");
});

test("a large answer is read in a worker, and has all rows and exact integers", async () => {
  await using shop = startBookshop();
  folder.write(".config/claudikins/claudikins.json", JSON.stringify({ mcpServers: { shop: { graphql: shop.url } } }));
  const select = Array.from({ length: 60 }, (_, at) => `c${at}: title d${at}: sold`).join(" ");
  const read = `
    const { nodes } = await shop.books({ first: 120, select: "nodes { ${select} }" });
    return [nodes.length, JSON.stringify(nodes).length > 131072, nodes[119].c59, nodes[119].d59];
  `;
  expect(await exec(read)).toEqual([120, true, "Book 119", "9007199254741112"]);
});

test("a program is told at which field its selection is wrong, and no request is sent", async () => {
  await using shop = startBookshop();
  folder.write(".config/claudikins/claudikins.json", JSON.stringify({ mcpServers: { shop: { graphql: shop.url } } }));
  const { exitCode, stderr } = await run(["exec", "-e", "return await shop.book({ id: 'b1', select: 'titel' })"]);
  expect([exitCode, stderr]).toEqual([5, expect.stringContaining('Book has no field "titel". Did you mean title?')]);
  expect(shop.sent).toEqual([]);
});

test("credentials go to the endpoint in a header, and never into an error", async () => {
  const seen: (string | null)[] = [];
  using server = Bun.serve({
    port: 0,
    fetch(request) {
      seen.push(request.headers.get("authorization"));
      return new Response("no", { status: 403 });
    },
  });
  const url = `http://127.0.0.1:${server.port}/graphql`;
  folder.write("shop.graphql", bookshopSchema);
  const add = [
    "add",
    "shop",
    "--graphql",
    url,
    "--schema",
    "shop.graphql",
    "--auth",
    "s3cr3t-token-1",
    "--header",
    "x-shop: 7",
  ];
  expect((await run([...add])).exitCode).toBe(0);
  expect(users().shop).toMatchObject({ graphql: url, auth: "s3cr3t-token-1", headers: { "x-shop": "7" } });
  const { stderr } = await run(["exec", "-e", "await shop.count()"]);
  expect(stderr).toContain("The API answered with HTTP 403: no. Sign in with claudikins auth login shop");
  expect(stderr).not.toContain("s3cr3t");
  expect(seen).toEqual(["Bearer s3cr3t-token-1"]);
});

test.each([
  [["--graphql", "shop.graphql"], "--graphql: expected an address that starts with http:// or https://"],
  [
    ["--graphql", "https://a.example/graphql", "--base-url", "https://b.example"],
    "--base-url cannot be used with --graphql",
  ],
  [
    ["--graphql", "https://a.example/graphql", "--openapi", "https://b.example"],
    "--graphql cannot be used with --openapi",
  ],
  [["--schema", "shop.graphql"], "--schema only applies to --graphql"],
  [
    ["--graphql", "https://a.example/graphql", "--auth", "a", "--auth", "b"],
    "--auth: a GraphQL endpoint takes one token",
  ],
])("wrong flags are refused: %p", async (flags, problem) => {
  const { exitCode, stderr } = await run(["add", "shop", ...flags]);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(problem)]);
});

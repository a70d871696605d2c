import { expect, test } from "bun:test";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { GraphQLError } from "graphql";
import { exactNumber } from "../../../src/base/exact-json.ts";
import { isObject, type JsonObject, stringsIn, valueAt } from "../../../src/base/json-object.ts";
import { openGraphql } from "../../../src/sources/graphql/source.ts";
import { itemsKey, nextPageKey, pagesKey } from "../../../src/sources/source.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { bookshopSchema, startBookshop } from "./bookshop.ts";

const folder = ownFolder();
const { signal } = new AbortController();

async function openShop(shop: { url: string }, more: Partial<Parameters<typeof openGraphql>[0]> = {}) {
  const source = await openGraphql({
    entry: "shop",
    url: new URL(shop.url),
    send: ({ method, url, headers, body }) => fetch(url, { method, headers, body: String(body) }),
    signsIn: false,
    cacheFolder: `${folder.path}/cache`,
    signal,
    ...more,
  });
  const call = (tool: string, args: JsonObject = {}) => source.call(tool, args, { signal });
  const value = async (tool: string, args: JsonObject = {}) => {
    const result = await call(tool, args);
    if (result.isError) throw new Error(textOf(result));
    return (result.structuredContent ?? JSON.parse(textOf(result))) as unknown;
  };
  const failure = async (tool: string, args: JsonObject = {}) => {
    const result = await call(tool, args);
    expect(result.isError).toBe(true);
    return textOf(result);
  };
  return { source, call, value, failure, tool: (name: string) => source.tools.find((each) => each.name === name) };
}

function schemaFile(text: string): string {
  folder.write("shop.graphql", text);
  return `${folder.path}/shop.graphql`;
}

function textOf({ content }: { content: { type: string }[] }): string {
  return content.map((block) => ("text" in block ? String(block.text) : "")).join("\n");
}

test("each query and mutation of a server is a tool, and namespaces are in its name", async () => {
  await using shop = startBookshop();
  const { source } = await openShop(shop);
  expect(source.tools.map(({ name }) => name)).toEqual([
    ...["book", "books", "author", "authors", "search", "node", "count", "select", "oldBooks"],
    ...["createBook", "deleteBook", "addPictures", "book_mutation", "stock_add", "stock_clear", "describe_type"],
  ]);
});

test("a call without select returns plain fields and one level of objects, and leaves out what needs arguments or is deprecated", async () => {
  await using shop = startBookshop();
  const { value } = await openShop(shop);
  expect(await value("book", { id: "b1" })).toEqual({
    id: "b1",
    title: "Book 1",
    genre: "NOVEL",
    pages: 101,
    sold: exactNumber("9007199254740994"),
    published: "1815-12-10T00:00:00Z",
    price: 10,
    secret: null,
    author: { id: "a1", name: "Ada" },
  });
});

test("select chooses the fields of a result", async () => {
  await using shop = startBookshop();
  const { value } = await openShop(shop);
  const select = 'title dear: price(currency: "USD") author { name }';
  expect(await value("book", { id: "b1", select })).toEqual({ title: "Book 1", dear: 12, author: { name: "Ada" } });
  expect(await value("book", { id: "b1", select: "{ id }" })).toEqual({ id: "b1" });
  const found = await value("search", { text: "x", select: "... on Book { title } ... on Author { name }" });
  expect(found).toEqual([{ title: "Book 1" }, { name: "Ada" }]);
});

test.each([
  [
    "an unknown field",
    "titel",
    'select: Book has no field "titel". Did you mean title? Book has id, title, genre, pages, sold,',
  ],
  [
    "no fields of an object",
    "id author",
    'select: Field "author" of type "Author!" must have a selection of subfields.',
  ],
  ["the end of the selection", "id } evil: deleteBook(id: 1) { id", "select: Syntax Error"],
  ["another operation", "id } mutation { deleteBook(id: 1)", "select: it must be one selection of fields"],
  ["a variable", "price(currency: $id)", "select: variables cannot be used. Write the value itself."],
  ["a fragment", "...Mine", "select: named fragments cannot be used"],
  ["an argument of another type", "price(currency: 3)", "select: String cannot represent a non string value: 3"],
  [
    "an unknown field of a field",
    "reviews { edges { node { star } } }",
    'select: Review has no field "star". Did you mean stars?',
  ],
  [
    "too many fields",
    `${"author { books { nodes { ".repeat(700)}`,
    "select: Syntax Error: Document contains more than 2000 tokens",
  ],
  ["a long text", "x".repeat(20_001), "select: it has more than 20000 characters"],
])("select is checked before the request: %s", async (_title, select, problem) => {
  await using shop = startBookshop();
  const { failure } = await openShop(shop);
  expect(await failure("book", { id: "b1", select })).toStartWith(problem);
  expect(shop.sent).toEqual([]);
});

test("arguments are variables, with a number of items for connections", async () => {
  await using shop = startBookshop();
  const { call } = await openShop(shop);
  await call("books", { filter: { genre: "NOVEL", not: { title: "x" } } });
  await call("books", { last: 2 });
  await call("createBook", { book: { title: "New", author: "a1" }, select: "title" });
  expect(shop.sent.map(({ variables }) => variables)).toEqual([
    { filter: { genre: "NOVEL", not: { title: "x" } }, first: 50 },
    { last: 2 },
    { book: { title: "New", author: "a1" } },
  ]);
  expect(shop.sent[2]?.query).toBe("mutation($book: NewBook!) { createBook(book: $book) {title\n} }");
});

test("a field with an argument select keeps it", async () => {
  await using shop = startBookshop();
  const { value, tool } = await openShop(shop);
  expect(Object.keys(tool("select")?.inputSchema.properties ?? {})).toEqual(["select", "select_fields"]);
  expect(await value("select", { select: "mine", select_fields: "name" })).toEqual({ name: "mine" });
});

type Call = (tool: string, args: JsonObject) => Promise<CallToolResult>;

async function allItems(call: Call, tool: string, args: JsonObject, usual: string[]) {
  const found: JsonObject[] = [];
  for (let next: unknown = args; isObject(next); ) {
    const { structuredContent, _meta } = await call(tool, next);
    const path = isObject(_meta) && itemsKey in _meta ? stringsIn(_meta[itemsKey]) : usual;
    found.push(...(valueAt(structuredContent, path) as JsonObject[]));
    const changed = valueAt(_meta, [nextPageKey, "arguments"]);
    next = isObject(changed) ? { ...next, ...changed } : undefined;
  }
  return found;
}

test("the pages of a connection follow each other, with and without select", async () => {
  await using shop = startBookshop();
  const { call, tool } = await openShop(shop);
  expect(tool("books")?._meta).toEqual({ [pagesKey]: { items: ["nodes"] } });
  const titles = Array.from({ length: 120 }, (_, at) => `Book ${at}`);
  expect((await allItems(call, "books", {}, ["nodes"])).map(({ title }) => title)).toEqual(titles);
  const rows = await allItems(call, "books", { first: 100, select: "rows: edges { node { title } }" }, ["nodes"]);
  expect(rows).toEqual(titles.map((title) => ({ node: { title } })));
  expect(shop.sent.map(({ variables }) => variables)).toEqual([
    { first: 50 },
    { first: 50, after: "49" },
    { first: 50, after: "99" },
    { first: 100 },
    { first: 100, after: "99" },
  ]);
});

test.each([
  "books(first: 2) { nodes { title } }",
  "id books(after: null, first: 2) { nodes { title } }",
  "all: books(first: 2) { mine: nodes { title } pageInfo { hasPreviousPage } }",
  "{ id books(first: 2) { nodes { title } } name }",
])("a connection inside of the result has pages, too: %p", async (select) => {
  await using shop = startBookshop();
  const { call } = await openShop(shop);
  const items = await allItems(call, "author", { id: "a1", select }, []);
  expect(items).toEqual([0, 1, 2, 3, 4].map((at) => ({ title: `Book ${at}` })));
  expect(shop.sent).toHaveLength(3);
});

test("the fields that were added for pages are not in the result, and several connections have no pages", async () => {
  await using shop = startBookshop();
  const { call } = await openShop(shop);
  const one = await call("author", { id: "a1", select: "books(first: 1) { nodes { id } }" });
  expect(one.structuredContent).toEqual({ books: { nodes: [{ id: "b0" }] } });
  const two = await call("author", {
    id: "a1",
    select: "a: books(first: 1) { nodes { id } } b: books { nodes { id } }",
  });
  expect(two._meta).toBeUndefined();
  const inList = await call("authors", { select: "books(first: 1) { nodes { id } }" });
  expect(inList._meta).toBeUndefined();
});

test("an error tells the message, the code and the place, and has the other fields", async () => {
  await using shop = startBookshop();
  const { call, failure } = await openShop(shop);
  expect(await failure("author", { id: "a9" })).toBe("no author has the id a9 (NOT_FOUND)");
  const partial = await call("book", { id: "b1", select: "id secret" });
  expect(textOf(partial)).toBe(
    'not for you (FORBIDDEN, at secret)\nThe other fields are in "data.value" of this error.\nLeave the failed fields out of the selection to get a value.',
  );
  expect(partial.structuredContent).toMatchObject({
    value: { id: "b1", secret: null },
    errors: [{ path: ["book", "secret"] }],
  });
  expect(await failure("book_mutation", { id: "b1", title: "x", select: "secret" })).toContain(
    "book_mutation was carried out: do not repeat it.",
  );
});

test("a default selection never makes a mutation of a namespace", async () => {
  await using shop = startBookshop();
  const { value, tool } = await openShop(shop);
  expect(await value("stock_add", { id: "b1", count: 3 })).toBe(3);
  expect(shop.made).toEqual(["add"]);
  expect(tool("stock")).toBeUndefined();
});

test("annotations say what reads, and what deletes", async () => {
  await using shop = startBookshop();
  const { tool } = await openShop(shop);
  const hints = ["book", "createBook", "deleteBook", "book_mutation", "stock_clear"].map((name) => {
    const { readOnlyHint, destructiveHint } = tool(name)?.annotations ?? {};
    return [name, readOnlyHint, destructiveHint];
  });
  expect(hints).toEqual([
    ["book", true, undefined],
    ["createBook", false, false],
    ["deleteBook", false, true],
    ["book_mutation", false, undefined],
    ["stock_clear", false, true],
  ]);
});

test("schemas describe arguments and results", async () => {
  await using shop = startBookshop();
  const { tool } = await openShop(shop);
  const books = tool("books");
  expect(books?.inputSchema.properties).toMatchObject({
    first: { type: "integer", default: 50 },
    filter: { $ref: "#/$defs/BookFilter" },
  });
  expect(tool("createBook")?.inputSchema["$defs"]).toEqual({
    NewBook: {
      type: "object",
      properties: {
        title: { type: "string" },
        genre: { type: ["string", "null"], enum: ["NOVEL", "POETRY", "SCIENCE", null], default: "NOVEL" },
        author: { type: ["string", "integer"] },
      },
      required: ["title", "author"],
      additionalProperties: false,
    },
  });
  expect(tool("book")?.outputSchema).toMatchObject({
    type: ["object", "null"],
    properties: { id: { type: "string" }, published: { type: ["string", "null"], format: "date-time" } },
  });
  expect(tool("oldBooks")?.description).toStartWith("Deprecated: Use books. Returns [Book!]!.");
});

test("describe_type shows a type, and near names of unknown ones", async () => {
  await using shop = startBookshop();
  const { call, failure } = await openShop(shop);
  expect(textOf(await call("describe_type", { type: "Review" }))).toBe(
    "type Review {\n  text: String!\n  stars: Int!\n}",
  );
  expect(await failure("describe_type", { type: "Reviev" })).toBe(
    'the schema has no type "Reviev". Did you mean Review?',
  );
});

test("a server that does not tell its schema needs a file", async () => {
  await using shop = startBookshop({ plugins: [refusesIntrospection] });
  expect(openShop(shop)).rejects.toThrow("the endpoint does not tell its schema: it answers: introspection is off");
  const { value } = await openShop(shop, { schema: schemaFile(bookshopSchema) });
  expect(await value("count")).toBe(120);
});

interface Validating {
  params: { documentAST: { definitions: { name?: { value: string } }[] } };
  setResult(errors: GraphQLError[]): void;
}

const refusesIntrospection = {
  onValidate({ params, setResult }: Validating) {
    const [definition] = params.documentAST.definitions;
    if (definition?.name?.value === "IntrospectionQuery") setResult([new GraphQLError("introspection is off")]);
  },
};

test("a second start reads what the first one has made, and a changed choice of tools does not", async () => {
  await using shop = startBookshop();
  const first = await openShop(shop);
  const second = await openShop(shop);
  expect(second.source.tools).toEqual(first.source.tools);
  const third = await openShop(shop, { include: ["book*", "stock_*"], exclude: ["*_clear"] });
  expect(third.source.tools.map(({ name }) => name)).toEqual([
    "book",
    "books",
    "book_mutation",
    "stock_add",
    "describe_type",
  ]);
});

test.each<[string, string, string]>([
  ["a sentence", "no schema at all", "its schema cannot be read: Syntax Error"],
  ["JSON of something else", "{}", 'its schema cannot be read: the JSON has no "__schema"'],
  ["deep brackets", `type Query { a: ${"[".repeat(200_000)} }`, "its schema cannot be read"],
  ["a type that is missing", "type Query { a: Missing }", "its schema cannot be read: Unknown type"],
])("a schema that cannot be read is named: %s", async (_title, schema, problem) => {
  expect(openShop({ url: "http://127.0.0.1:1" }, { schema: schemaFile(schema) })).rejects.toThrow(problem);
});

test("answers that are not GraphQL are errors with their status", async () => {
  await using shop = startBookshop();
  const { source } = await openShop(shop, {
    schema: schemaFile(bookshopSchema),
    send: async () => new Response("<h1>Bad gateway</h1>", { status: 502 }),
  });
  const result = await source.call("count", {}, { signal });
  expect(result.isError).toBe(true);
  expect(textOf(result as never)).toBe("The API answered with HTTP 502: <h1>Bad gateway</h1>.");
});

test("names of types and fields that JavaScript knows change nothing", async () => {
  const schema =
    "type Query { constructor(toString: String, __proto__: Int): hasOwnProperty } type hasOwnProperty { __proto__: String valueOf: Int }";
  const { source } = await openShop({ url: "http://127.0.0.1:1" }, { schema: schemaFile(schema) });
  expect(source.tools.map(({ name }) => name)).toEqual(["constructor", "describe_type"]);
  expect(isObject(source.tools[0]?.outputSchema)).toBe(true);
});

/** The answer of search_tools to a server alone: all of its tools, and how to call them. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { App } from "../../src/app/app.ts";
import { searchTools } from "../../src/serve/tools/search-tools.ts";
import { generate } from "../../src/tools/generate.ts";
import { searchLines } from "../support/search.ts";
import { type Project, project } from "../tools/generation/project.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const described = (description: string, properties: object = {}, required: string[] = []) => ({
  description,
  inputSchema: { type: "object", properties, required },
});

/** Tools with long signatures. */
const tools = (count: number) => {
  const properties = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`argument_${at}`, { type: "number" }]));
  const names = Array.from({ length: count }, (_, at) => `tool_${String(at).padStart(3, "0")}`);
  return Object.fromEntries(names.map((name) => [name, described("Does some of the work.", properties)]));
};

let folder: Project;
let app: App;
beforeAll(async () => {
  folder = project();
  folder.configure({
    short: folder.offering("short", {
      first: described("Begins", { n: { type: "number" } }),
      second: described("Ends"),
    }),
    plain: folder.offering("plain", Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`go_${at}`, {}]))),
    long: folder.offering("long", tools(80)),
    huge: folder.offering("huge", tools(230)),
    shop: folder.offering("shop", {
      find_items: described("Finds items", {
        words: { type: "string" },
        limit: { type: "integer" },
        tags: { type: "array", items: { type: "string" } },
        ids: { type: "array", items: { type: "number" } },
      }),
      find_item_details: described(
        "Finds details of items",
        {
          id: { type: "number" },
          ...Object.fromEntries(
            Array.from({ length: 20 }, (_, at) => [`include_${"long_".repeat(12)}part_${at}`, { type: "boolean" }]),
          ),
        },
        ["id"],
      ),
      either: described("Details by one of two ids, of items"),
    }),
  });
  app = await folder.open();
  await generate(app);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const linesOf = (args: object) => searchLines({ ...args }, app);

const howToCall = 'To call them, ask again with detail: "signatures", or with a query for a few of them.';

describe("a server alone", () => {
  test("is answered with signatures if they are short, whatever their number", async () => {
    expect(await linesOf({ server: "short" })).toEqual([
      "short.first(args?: { n?: number }): Promise<unknown>",
      "  Begins",
      "short.second(): Promise<unknown>",
      "  Ends",
    ]);
    const plain = await linesOf({ server: "plain" });
    expect(plain).toHaveLength(30);
    for (const line of plain) expect(line).toMatch(/^plain\.go_\d+\(\): Promise/);
  });

  test("is answered with the names of all tools if it is long, and with how to get the signatures", async () => {
    const lines = await linesOf({ server: "long" });
    expect(lines).toHaveLength(81);
    for (const line of lines.slice(0, -1)) expect(line).toMatch(/^long\.tool_\d+: Does some/);
    expect(lines.at(-1)).toBe(howToCall);
    const signatures = await linesOf({ server: "long", detail: "signatures" });
    expect(signatures.filter((line) => line.startsWith("long.tool_"))).toHaveLength(80);
    expect(signatures).not.toContain(howToCall);
    expect(await linesOf({ server: "long", detail: "names" })).not.toContain(howToCall);
  });

  test.each([{ query: "server:long" }, { query: "*", server: "long" }, { query: "", server: "long" }])(
    "is the same as %j",
    async (args) => {
      expect(await linesOf(args)).toEqual(await linesOf({ server: "long" }));
    },
  );

  test("is answered with the number of tools that are left out", async () => {
    expect((await linesOf({ server: "long", limit: 3, detail: "names" })).slice(-2)).toEqual([
      "long.tool_002: Does some of the work.",
      '77 more: raise "limit"',
    ]);
    expect((await linesOf({ server: "huge" })).slice(-2)).toEqual(["30 more: add a query", howToCall]);
  });
});

describe("less likely tools", () => {
  test("have the types of arguments, except strings", async () => {
    const lines = await linesOf({ query: "either of items", limit: 5 });
    const [unlikely = ""] = lines.filter((line) => line.startsWith("Less likely: "));
    expect(unlikely).toContain("shop.find_items({ words?, limit?: number, tags?: string[], ids?: number[] })");
  });

  test("have their required arguments alone if all of them are too many", async () => {
    const lines = await linesOf({ query: "either of items", limit: 5 });
    const [unlikely = ""] = lines.filter((line) => line.startsWith("Less likely: "));
    expect(unlikely).toContain("shop.find_item_details({ id: number, … })");
  });
});

test("the definition says that the limit is that of each query", () => {
  expect(searchTools.inputSchema.properties).toMatchObject({ limit: { description: "Per query" } });
});

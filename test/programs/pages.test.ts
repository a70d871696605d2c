import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/base/json-object.ts";
import { pagePlan, pageResult } from "../../src/programs/pages.ts";
import { itemsKey, nextPageKey, pagesKey } from "../../src/sources/source.ts";

const list = { type: "array", items: { type: "object" } };
const toolOf = (args: string[], fields: JsonObject, more: JsonObject = {}) => ({
  name: "list",
  description: "",
  inputSchema: { type: "object", properties: Object.fromEntries(args.map((each) => [each, { type: "string" }])) },
  outputSchema: { type: "object", properties: fields },
  ...more,
});
const nextOf = (tool: ReturnType<typeof toolOf>, args: JsonObject, value: JsonObject) => {
  const result = pageResult({ structuredContent: value, content: [] }, tool, args, pagePlan(tool, "s.list"), "s.list");
  const { [itemsKey]: items, [nextPageKey]: next } = result["_meta"] as Record<string, unknown>;
  return { items, next: (next as { arguments: unknown } | undefined)?.arguments };
};

describe("the pages of an MCP tool are recognised", () => {
  test("by a cursor in its arguments and results", () => {
    const tool = toolOf(["cursor"], { items: list, nextCursor: { type: "string" } });
    expect(nextOf(tool, {}, { items: [{}], nextCursor: "c2" })).toEqual({ items: ["items"], next: { cursor: "c2" } });
    expect(nextOf(tool, { cursor: "c2" }, { items: [{}] })).toEqual({ items: ["items"], next: undefined });
  });

  test("by an offset and a field that says whether there is more", () => {
    const tool = toolOf(["offset", "limit"], { rows: list, hasMore: { type: "boolean" } });
    const rows = [{}, {}];
    expect(nextOf(tool, { limit: 2 }, { rows, hasMore: true })).toEqual({ items: ["rows"], next: { offset: 2 } });
    expect(nextOf(tool, { limit: 2, offset: 2 }, { rows, hasMore: false }).next).toBeUndefined();
  });

  test("by an observed shape", () => {
    const { outputSchema: observed, ...rest } = toolOf(["page"], { rows: list, total: { type: "integer" } });
    const plan = pagePlan({ ...rest, observed }, "s.list");
    expect(plan).toMatchObject({ of: "server", pages: { by: "page", argument: "page", total: ["total"] } });
  });
});

test("a tool without pages, and one whose list cannot be told from others, is refused before the call", () => {
  for (const tool of [
    toolOf([], { items: list, nextCursor: { type: "string" } }),
    toolOf(["cursor"], { a: list, b: list, nextCursor: { type: "string" } }),
    toolOf(["offset"], { items: list }),
  ]) {
    expect(() => pagePlan(tool, "s.list")).toThrow("s.list has no pages that claudikins recognises");
  }
});

test("the result of a source says where its items are, and else its tool does", () => {
  const tool = toolOf([], {}, { _meta: { [pagesKey]: { items: ["data"] } } });
  const meta = (result: JsonObject) => pageResult(result, tool, {}, pagePlan(tool, "s.list"), "s.list")["_meta"];
  expect(meta({ content: [] })).toEqual({ [itemsKey]: ["data"] });
  expect(meta({ content: [], _meta: { [itemsKey]: ["own"] } })).toEqual({ [itemsKey]: ["own"] });
});

test("a page that failed is the error of the tool", () => {
  const tool = toolOf([], {}, { _meta: { [pagesKey]: { items: [] } } });
  const failed = { isError: true, content: [{ type: "text", text: "No rights" }] };
  expect(() => pageResult(failed, tool, {}, pagePlan(tool, "s.list"), "s.list")).toThrow("No rights");
});

/** What the server answers to the editor of the page: names and types for completion, and the mistakes of code. Nothing is started for it. */

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { PageEditor, PageEditorTool, PageMistake } from "../../src/page/programs-contract.ts";
import { Page } from "../support/page.ts";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

const status = {
  type: "string",
  enum: ["paid", "open"],
  description: "Only orders in this state. Others are left out.",
};
const order = { type: "object", properties: { id: { type: "string" }, total: { type: "number" } }, required: ["id"] };
const shop = {
  // A server that is started would leave a file.
  entry: { command: "sh", args: ["-c", "touch started"] },
  description: "The shop.",
  tools: [
    {
      name: "list_orders",
      description: "Lists the orders. The newest come first.",
      inputSchema: {
        type: "object",
        properties: { status, limit: { type: "integer" } },
        required: ["status"],
        additionalProperties: false,
      },
      outputSchema: {
        type: "object",
        properties: { orders: { type: "array", items: { $ref: "#/$defs/order" } } },
        $defs: { order },
      },
    },
    { name: "refund", description: "Pays back." },
  ],
};

/** Bytes of the first view, compressed: its script and its style sheet. */
const maxFirstViewBytes = 200_000;

/** Bytes of the script of the editor, compressed. */
const maxEditorBytes = 200_000;

let scene: Scene;
let page: Page;
beforeEach(async () => {
  scene = await Scene.open({ shop });
  page = await Page.open(scene.url);
});
afterEach(() => scene[Symbol.asyncDispose]());

async function answerTo<T>(path: string, body?: object): Promise<T> {
  const answer = await (body ? page.post(`api/${path}`, body) : page.get(`api/${path}`));
  return (await answer.json()) as T;
}

const tools = (server: string) => answerTo<PageEditorTool[]>("editor/tools", { server });
const mistakes = (code: string) => answerTo<PageMistake[]>("editor/check", { code });

describe("completion", () => {
  test("has the servers, and for each tool its signature and the types of its arguments and its result", async () => {
    expect(await answerTo<PageEditor>("editor/servers")).toEqual({
      servers: [{ name: "shop", jsName: "shop", description: "The shop." }],
      doors: [],
      agent: "claudikins ui",
    });
    const [listed, refund] = await tools("shop");
    expect(listed).toEqual({
      name: "list_orders",
      jsName: "list_orders",
      description: "Lists the orders.",
      signature: expect.stringContaining("shop.list_orders(args: { status: "),
      arguments: {
        text: "object",
        fields: [
          {
            name: "status",
            isOptional: false,
            description: "Only orders in this state.",
            type: { text: '"paid" | "open"', values: ['"paid"', '"open"'] },
          },
          { name: "limit", isOptional: true, description: "", type: { text: "number" } },
        ],
      },
      result: {
        text: "object",
        fields: [
          {
            name: "orders",
            isOptional: true,
            description: "",
            type: {
              text: "list",
              items: {
                text: "object",
                fields: [
                  { name: "id", isOptional: false, description: "", type: { text: "string" } },
                  { name: "total", isOptional: true, description: "", type: { text: "number" } },
                ],
              },
            },
          },
        ],
      },
    });
    expect(refund).toMatchObject({ name: "refund", arguments: { text: "object" } });
    expect(await tools("nobody")).toEqual([]);
  });

  test("is bounded for a type that contains itself and for thousands of fields", async () => {
    await scene[Symbol.asyncDispose]();
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`field${at}`, { type: "string" }]));
    const node = {
      type: "object",
      properties: { ...many, children: { type: "array", items: { $ref: "#/$defs/node" } } },
    };
    const inputSchema = { type: "object", properties: { node: { $ref: "#/$defs/node" } }, $defs: { node } };
    scene = await Scene.open({ tree: { entry: { command: "x" }, tools: [{ name: "grow", inputSchema }] } });
    page = await Page.open(scene.url);
    expect(JSON.stringify(await tools("tree")).length).toBeLessThan(100_000);
  });
});

describe("the check", () => {
  test("finds what a run would refuse, each at its place, and starts no server", async () => {
    const code = `const { orders } = await shop.list_orders({ status: "sold" });
await shop.refnd();
return orders.length;`;
    expect(await mistakes(code)).toEqual([
      {
        line: 1,
        column: expect.any(Number),
        message: expect.stringContaining("status"),
        hint: expect.any(String),
        isWarning: false,
      },
      {
        line: 2,
        column: 7,
        message: 'shop has no tool "refnd". Did you mean refund?',
        isWarning: false,
      },
    ]);
    expect(await mistakes('return (await shop.list_orders({ status: "paid" })).orders;')).toEqual([]);
    expect(existsSync(join(scene.folder.path, "started"))).toBe(false);
  });

  test("says where the code cannot be read", async () => {
    expect(await mistakes("const total = 1;\nreturn total +;")).toEqual([
      { line: 2, column: expect.any(Number), message: expect.any(String), isWarning: false },
    ]);
  });
});

test("the first view is small, and has nothing of the editor, which is loaded when it is opened", async () => {
  const textOf = async (path: string) => (await page.get(path)).text();
  const [script, style, editor] = [await textOf("page.js"), await textOf("page.css"), await textOf("editor.js")];
  const compressed = (text: string) => Bun.gzipSync(text).length;
  expect(compressed(script) + compressed(style)).toBeLessThan(maxFirstViewBytes);
  expect([script, editor].map((text) => text.includes("cm-content"))).toEqual([false, true]);
  expect(compressed(editor)).toBeLessThan(maxEditorBytes);
});

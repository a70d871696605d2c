/** Messages of servers are decoded unchanged, large or small, and messages above the limits are refused. */
import { describe, expect, test } from "bun:test";
import { weigh } from "../../src/base/json-weight.ts";
import { LargeJson, messageJson, objectJson } from "../../src/base/large-json.ts";
import { assemble, decode } from "../../src/servers/decoding/decode.ts";
import { InOrder, receive } from "../../src/servers/decoding/receive.ts";
import { boundedPage, ToolBudget, toolLimits } from "../../src/servers/lists/list-bounds.ts";
import { smallEvents } from "../../src/servers/network/event-stream.ts";
import { objectsOf, toolValue } from "../../src/servers/result.ts";

const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const answer = (result: string) => `{"jsonrpc":"2.0","id":7,"result":${result}}`;

/** The result of an answer, as the caller gets it. */
async function resultOf(result: string): Promise<Record<string, unknown>> {
  const message = await receive(bytes(answer(result)));
  if (!message || !("result" in message)) throw new Error(`no result: ${JSON.stringify(message)}`);
  return message.result;
}

async function errorOf(result: string): Promise<string | undefined> {
  const message = await receive(bytes(answer(result)));
  return message && "error" in message ? message.error.message : undefined;
}

const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `row "${id}"`, tags: ["a", "b"] }));

describe("a large result", () => {
  test("has its data as JSON text with the same value", async () => {
    const result = await resultOf(JSON.stringify({ content: [], structuredContent: { rows } }));
    expect(result["structuredContent"]).toBeInstanceOf(LargeJson);
    const value = toolValue(result, "x.y");
    expect("json" in value && JSON.parse(value.json)).toEqual({ rows });
  });

  test("with text blocks becomes their text; other blocks stay blocks", async () => {
    const texts = Array.from({ length: 5_000 }, (_, index) => ({
      type: "text",
      text: `line ${index} ${"x".repeat(30)}`,
    }));
    const text = toolValue(await resultOf(JSON.stringify({ content: texts })), "x.y");
    expect(text).toEqual({ text: texts.map((block) => block.text).join("\n") });
    const odd = [...texts, { type: "resource_link", uri: "a://b", name: "c" }];
    const blocks = toolValue(await resultOf(JSON.stringify({ content: odd })), "x.y");
    expect("blocks" in blocks && JSON.parse(blocks.blocks)).toEqual(odd);
  });

  test("is passed on unchanged", async () => {
    const sent = { content: [{ type: "text", text: "x" }], structuredContent: { rows }, _meta: { "a/b": 1 } };
    const result = await resultOf(JSON.stringify(sent));
    expect(JSON.parse(objectJson(result))).toEqual(sent);
    expect(JSON.parse(JSON.stringify(result))).toEqual(sent);
    expect(JSON.parse(messageJson({ jsonrpc: "2.0", id: 7, result }))).toEqual({ jsonrpc: "2.0", id: 7, result: sent });
  });

  test("from a failed tool keeps the beginning of its message", async () => {
    const result = await resultOf(
      JSON.stringify({ isError: true, content: [{ type: "text", text: "no ".repeat(200_000) }] }),
    );
    expect(() => toolValue(result, "x.y")).toThrow(/^no no .*… \(337856 more characters\)$/s);
  });
});

describe("an answer is refused", () => {
  test.each([
    [
      "if it is nested too deeply",
      `{"structuredContent":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
      "nested more than 500 levels",
    ],
    [
      "if it is large and nested too deeply",
      `{"structuredContent":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
      "nested more than 500 levels",
    ],
    ["if it has too many values", `{"structuredContent":[${"1,".repeat(4_100_000)}1]}`, "more than 4 million values"],
  ])(
    "%s",
    async (_, result, why) => {
      expect(await errorOf(result)).toContain(why);
    },
    30_000,
  );

  test("for the right request, wherever its id stands", () => {
    const deep = `{"x":${"[".repeat(5_000)}${"]".repeat(5_000)}}`;
    for (const text of [
      `{"jsonrpc":"2.0","id":7,"result":${deep}}`,
      `{"id":"seven","jsonrpc":"2.0","result":${deep}}`,
      `{"result":${deep},"jsonrpc":"2.0","id":7}`,
      `{"result":${deep},"id":7,"jsonrpc":"2.0"}`,
    ]) {
      const { message } = decode(bytes(text)) ?? {};
      expect(message && "error" in message && message.id).toBe(text.includes("seven") ? "seven" : 7);
    }
  });
});

test("a notification or request with too many values is refused", () => {
  const params = `{"data":[${"1,".repeat(150_000)}1]}`;
  expect(decode(bytes(`{"jsonrpc":"2.0","method":"notifications/message","params":${params}}`))).toBeUndefined();
  expect(decode(bytes('{"jsonrpc":"2.0","method":"notifications/message","params":{"data":1}}'))).toBeDefined();
});

test("a long error keeps its beginning, and that of its data as text", () => {
  const decoded = decode(
    bytes(
      `{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"${"e".repeat(100_000)}","data":[${"1,".repeat(9_000)}1]}}`,
    ),
  );
  const message = decoded && assemble(decoded);
  expect(message && "error" in message && message.error).toEqual({
    code: -1,
    message: `${"e".repeat(65_536)}… (34464 more characters)`,
    data: `[${"1,".repeat(9_000)}1]`,
  });
});

test.each([
  ["{}", { depth: 1, values: 2, large: [] }],
  ['{"a":[1,{"b":"],[{"}]}', { depth: 3, values: 5, large: [{ start: 8, end: 20 }] }],
  ['["\\"]","\\\\",[[]]]', { depth: 3, values: 6, large: [] }],
  ['["not closed', { depth: 1, values: 2, large: [] }],
])("weigh measures the depth, values and large parts of %s", (json, weight) => {
  expect(weigh(bytes(json), 10)).toMatchObject(weight);
});

describe("an answer that is decoded in parts", () => {
  const large = `[${'"x",'.repeat(40_000)}"x"]`;
  test.each([
    [
      "a list",
      `{"tools":[${'{"name":"a","description":"d","inputSchema":{"type":"object"}},'.repeat(3_000)}{"name":"b"}]}`,
    ],
    ["the same key twice", `{"structuredContent":${large},"structuredContent":{"a":${large}}}`],
    ["white space and escapes", `{ "structuredContent" : { "a" : ${large} , "b": "\\u0041\\"" } , "content" : [ ] }`],
    ["content that is not a list of blocks", `{"content":{"a":${large}}}`],
    ["metadata", `{"content":[],"_meta":{"a":${large}}}`],
  ])("has the same value as a whole one: %s", async (_, result) => {
    const whole = boundedPage(JSON.parse(result));
    expect(JSON.parse(objectJson(await resultOf(result)))).toEqual(JSON.parse(JSON.stringify(whole)));
  });

  test.each([
    ["with an invalid part", answer(`{"structuredContent":{"a":nope,"b":${large}}}`)],
    ["with a missing end", answer(`{"structuredContent":{"b":${large}}`)],
    ["in a list of messages", `[${answer(`{"structuredContent":{"b":${large}}}`)}]`],
  ])("is refused %s", async (_, text) => {
    expect(await receive(bytes(text))).toBeUndefined();
  });
});

describe("list results", () => {
  const tool = (name: string, more: object = {}) => ({
    name,
    description: "d",
    inputSchema: { type: "object" },
    ...more,
  });

  test("have at most 5,000 tools, and the number of omitted ones is known", () => {
    const budget = new ToolBudget();
    const taken = budget.take(Array.from({ length: 6_000 }, (_, index) => tool(`t${index}`)));
    expect([taken.length, budget.left, budget.isFull]).toEqual([toolLimits.tools, 1_000, true]);
    expect(budget.problem).toContain("1000 of its tools were omitted");
  });

  test("lose schemas that are too large or too deep, and the tool's description says so", () => {
    let deep: object = {};
    for (let level = 0; level < 300; level++) deep = { properties: { a: deep } };
    const wide = { properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`p${index}`, {}])) };
    const tools = objectsOf(
      boundedPage({ tools: [tool("deep", { inputSchema: deep }), tool("wide", { inputSchema: wide }), tool("ok")] })[
        "tools"
      ],
    );
    expect(tools.map(({ name }) => name)).toEqual(["deep", "wide", "ok"]);
    expect(tools[0]).toMatchObject({
      inputSchema: { type: "object" },
      description: expect.stringContaining("omitted the input schema"),
    });
    expect(tools[1]).toMatchObject({ inputSchema: { type: "object" } });
    expect(tools[2]).toEqual(tool("ok"));
  });

  test.each([
    ["objects", 49, (inner: unknown) => ({ a: inner })],
    ["lists", 49, (inner: unknown) => [inner]],
    ["lists of objects", 24, (inner: unknown) => [{ a: inner }]],
  ])("lose schemas of more than a hundred levels: %s", (_, half, around) => {
    const keeps = (levels: number) => {
      let inner: unknown = "x";
      for (let level = 0; level < levels; level++) inner = around(inner);
      const inputSchema = { type: "object", examples: inner };
      const { tools } = boundedPage({ tools: [tool("deep", { inputSchema })] });
      return JSON.stringify(objectsOf(tools)[0]?.["inputSchema"]) === JSON.stringify(inputSchema);
    };
    expect([keeps(2 * half), keeps(2 * half + 1), keeps(2 * half + 2)]).toEqual([true, true, false]);
  });

  test("may contain a limited number of resources", () => {
    const page = boundedPage({
      resources: Array.from({ length: 30_000 }, (_, index) => ({ uri: `a://${index}`, name: "n" })),
    });
    expect(objectsOf(page["resources"])).toHaveLength(10_000);
  });
});

test("messages are delivered in order, even if a large one takes longer to decode", async () => {
  const heard: number[] = [];
  const received = new InOrder<number>((value) => void heard.push(value));
  const { promise, resolve } = Promise.withResolvers<number>();
  received.add(() => 1);
  received.add(() => promise);
  received.add(() => 3);
  expect(heard).toEqual([1]);
  resolve(2);
  await Bun.sleep(0);
  received.add(() => 4);
  await Bun.sleep(0);
  expect(heard).toEqual([1, 2, 3, 4]);
});

describe("an event stream", () => {
  /** The remaining events, and the data of the events that were taken out. */
  async function sorted(stream: string, chunkSize: number, newline = "\n") {
    const all = Buffer.from(stream.replaceAll("\n", newline));
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < all.length; at += chunkSize) controller.enqueue(all.subarray(at, at + chunkSize));
        controller.close();
      },
    });
    const taken: string[] = [];
    const left = smallEvents(body, {
      largeBytes: 100,
      take: async (data) => void taken.push(data.toString()),
      maxBytes: 1_000,
      maxLines: 100,
      tooLarge: (limit) => new Error(limit),
    });
    // A line ending that is split between chunks may leave one more blank line, which has no meaning.
    const text = Buffer.concat(await Array.fromAsync(left))
      .toString()
      .replace(/\r\n?/g, "\n")
      .replace(/\n{3,}/g, "\n\n");
    return { left: text, taken };
  }

  const large = "x".repeat(300);
  const stream = `id: 1\ndata: small\n\nevent: message\nid: 2\ndata: {"a":\ndata: "${large}"}\n\n: comment\n\ndata:last\n\n`;

  test.each([
    [1, "\n"],
    [7, "\r\n"],
    [64, "\r"],
    [100_000, "\n"],
  ])("in chunks of %d bytes loses only its large events, whose data is taken out", async (size, newline) => {
    const { left, taken } = await sorted(stream, size, newline);
    expect(left).toBe("id: 1\ndata: small\n\n: comment\n\ndata:last\n\n");
    expect(taken).toEqual([`{"a":\n"${large}"}`]);
  });

  test.each([1, 100_000])(
    "in chunks of %d bytes loses byte order marks before its first line and before data",
    async (size) => {
      const marked = `\uFEFFdata: \uFEFFsmall\n\nid: 1\ndata:\uFEFF${large}\n\ndata: a\uFEFFb\ndata:c\n\n\uFEFFdata:\uFEFF${large}\n\n`;
      const { left, taken } = await sorted(marked, size);
      expect(left).toBe("data: small\n\ndata: a\uFEFFb\ndata:c\n\n");
      expect(taken).toEqual([large, large]);
    },
  );
});

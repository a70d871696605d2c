/** The value of a tool result, for every shape that servers send, and lists of tools. */
import { describe, expect, spyOn, test } from "bun:test";
import { parseExact } from "../../src/base/exact-json.ts";
import { LargeJson } from "../../src/base/large-json.ts";
import { readTools, type ToolResult, toolValue } from "../../src/servers/result.ts";

const text = (...texts: string[]) => texts.map((each) => ({ type: "text", text: each }));
const image = { type: "image", data: "AAAA", mimeType: "image/png" };

/** The value that code in the sandbox gets. */
function insideValue(result: ToolResult): unknown {
  const value = toolValue(result, "shop.find");
  if ("blocks" in value) return JSON.parse(value.blocks);
  if ("jsonOrText" in value) throw new Error("only the sandbox knows this value");
  return "json" in value ? JSON.parse(value.json) : value.text;
}

describe("the value of", () => {
  test.each<[string, ToolResult, unknown]>([
    ["structured content beside text", { content: text("x"), structuredContent: { a: [1] } }, { a: [1] }],
    ["empty structured content", { content: text("x"), structuredContent: {} }, {}],
    ["structured content that is not an object", { content: [], structuredContent: 0 }, 0],
    ["structured content that is null, which is ignored", { content: text("x"), structuredContent: null }, "x"],
    ["the result of the oldest protocol", { toolResult: { old: true } }, { old: true }],
    ["a text result of the oldest protocol", { toolResult: "old" }, "old"],
    ["text", { content: text("hello") }, "hello"],
    ["an empty text", { content: text("") }, ""],
    ["an object as text", { content: text(' {"a": 1}\n') }, { a: 1 }],
    ["a list as text", { content: text("[1, 2]") }, [1, 2]],
    ["a quoted text", { content: text('"a"') }, "a"],
    ["a number", { content: text("42.5") }, 42.5],
    ["null as text", { content: text("null") }, null],
    ["text that only begins like JSON", { content: text("[INFO] ready") }, "[INFO] ready"],
    ["text that begins like a number", { content: text("2025-01-31") }, "2025-01-31"],
    ["invalid JSON", { content: text('{"a": 1') }, '{"a": 1'],
    ["JSON with text around it", { content: text('Result: {"a": 1}') }, 'Result: {"a": 1}'],
    ["a number that would lose digits", { content: text("12345678901234567890") }, "12345678901234567890"],
    ...["1.10", "100.0", "1E5", "1e400", "3.10", "-0", "007", "+5", "1e21", "0.1234567890123456789"].map(
      (each): [string, ToolResult, unknown] => [`${each}, which no number prints`, { content: text(each) }, each],
    ),
    ...["0", "-7", "0.5", "42.5\n", "9007199254740991"].map((each): [string, ToolResult, unknown] => [
      `${JSON.stringify(each)}, which a number prints`,
      { content: text(each) },
      Number(each),
    ]),
    [
      "numbers in JSON text that JavaScript cannot hold",
      { content: text('{"id":17269385823764501234,"rows":[-7108510333361982070,1.10,1e400,"17269385823764501234"]}') },
      { id: "17269385823764501234", rows: ["-7108510333361982070", 1.1, "1e400", "17269385823764501234"] },
    ],
    [
      "numbers in structured content that JavaScript cannot hold",
      { structuredContent: parseExact('{"a":[9007199254740993,0.1234567890123456789,0.5,12]}') },
      { a: ["9007199254740993", "0.1234567890123456789", 0.5, 12] },
    ],
    ["several texts", { content: text("a", "b") }, "a\nb"],
    ["several texts of JSON", { content: text("1", "2") }, "1\n2"],
    ["JSON in several texts", { content: text("[1,", "2]") }, [1, 2]],
    ["an image", { content: [image] }, [image]],
    ["text and an image", { content: [...text("x"), image] }, [...text("x"), image]],
    ["empty content", { content: [] }, []],
    ["missing content", {}, []],
    ["content that is one text instead of a list", { content: "x" }, "x"],
    ["content that is one JSON text instead of a list", { content: '{"a":1}' }, { a: 1 }],
    ["content that is one block instead of a list", { content: text("x")[0] }, "x"],
    ["content that is one image instead of a list", { content: image }, [image]],
    ["content that is a number", { content: 7 }, [7]],
    ["content that is null", { content: null }, []],
    [
      "an answer in fields of the server's own",
      { temperature: 7, unit: "C", _meta: { a: 1 } },
      { temperature: 7, unit: "C" },
    ],
    ["an answer with nothing but _meta", { _meta: { a: 1 } }, []],
    ["invalid blocks", { content: [null, 5, { type: "text" }] }, [null, 5, { type: "text" }]],
    ["a result with isError false", { content: text("x"), isError: false }, "x"],
  ])("%s", (_, result, value) => {
    expect(insideValue(result)).toEqual(value);
  });

  test("JSON text is passed on as it is written, except for numbers that JavaScript cannot hold", () => {
    expect(toolValue({ content: text('{"b":1.0,"a":1}') }, "x")).toEqual({ json: '{"b":1.0,"a":1}' });
    expect(toolValue({ content: text('{"b":1.0,"a":12345678901234567890}') }, "x")).toEqual({
      json: '{"b":1.0,"a":"12345678901234567890"}',
      exact: true,
    });
  });
});

describe("long text", () => {
  const long = "x".repeat(70_000);

  test("is parsed only in the sandbox if it may be an object or a list", () => {
    for (const each of [`["${long}"]`, `\n {"a":"${long}"}`, `[INFO] ${long}`]) {
      expect(toolValue({ content: text(each) }, "x")).toEqual({ jsonOrText: each });
    }
  });

  test("in any other form is recognised at once", () => {
    expect(toolValue({ content: text(long) }, "x")).toEqual({ text: long });
    expect(toolValue({ content: text("1".repeat(70_000)) }, "x")).toEqual({ text: "1".repeat(70_000) });
    expect(toolValue({ content: text(JSON.stringify(long)) }, "x")).toEqual({ json: JSON.stringify(long) });
    expect(toolValue({ content: text(`[${long}]`), structuredContent: { a: 1 } }, "x")).toEqual({ json: '{"a":1}' });
  });
});

describe("a failed tool", () => {
  const failure = (result: ToolResult) => {
    expect(() => insideValue(result)).toThrow(expect.objectContaining({ code: "TOOL_FAILED", exitCode: 5 }));
    try {
      insideValue(result);
    } catch (error) {
      return (error as Error).message;
    }
    return undefined;
  };

  test("has the tool's own message", () => {
    expect(failure({ isError: true, content: text("no such order", "try another") })).toBe(
      "no such order\ntry another",
    );
    expect(failure({ isError: true, content: [image, ...text("broken")] })).toBe("broken");
    expect(failure({ isError: true, content: text('{"code":5}'), structuredContent: { code: 5 } })).toBe('{"code":5}');
  });

  test("without text is told by its data", () => {
    expect(failure({ isError: true, content: "no such order" })).toBe("no such order");
    expect(failure({ isError: true, structuredContent: { code: 5 } })).toBe('{"code":5}');
    expect(failure({ isError: true, content: [], reason: "late" })).toBe("shop.find failed without a message");
    expect(failure({ isError: true, reason: "late" })).toBe('{"reason":"late"}');
    const resource = { type: "resource", resource: { uri: "a:b", text: "the log" } };
    expect(failure({ isError: true, content: [resource] })).toBe(JSON.stringify([resource]));
  });

  test("has a default message", () => {
    expect(failure({ isError: true, content: [] })).toBe("shop.find failed without a message");
    expect(failure({ isError: true })).toBe("shop.find failed without a message");
  });
});

test("a large part in a field of the server's own is passed on as text, and is not parsed", () => {
  const large = new LargeJson(`{"rows":[${Array(1_000).fill(1).join()}]}`);
  const parsed = spyOn(large, "toJSON");
  expect(toolValue({ answer: large, count: 1 }, "shop.find")).toEqual({ json: `{"answer":${large.json},"count":1}` });
  expect(parsed).not.toHaveBeenCalled();
});

describe("a list of tools", () => {
  test("keeps all properties of a tool, in the order of the server", () => {
    const full = {
      name: "full",
      title: "Full",
      description: "All of it",
      inputSchema: { type: "object" },
      outputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      icons: [{ src: "https://example.com/icon.png" }],
      _meta: { "example.com/kind": "search" },
    };
    const page = { tools: [{ ...full, execution: {} }, { name: "bare" }] };
    expect(readTools(page, "shop")).toEqual([full, { name: "bare", description: "", inputSchema: { type: "object" } }]);
  });

  test("drops entries that are not tools, and properties of the wrong type", () => {
    const tools = [
      null,
      "x",
      [],
      {},
      { name: "" },
      { name: 5 },
      { name: "a", title: 5, description: {}, inputSchema: [], outputSchema: "x", annotations: null },
    ];
    expect(readTools({ tools }, "shop")).toEqual([{ name: "a", description: "", inputSchema: { type: "object" } }]);
  });

  test.each([[{}], [{ tools: null }], [{ tools: { a: 1 } }]])("%j is refused", (page) => {
    expect(() => readTools(page, "shop")).toThrow(
      expect.objectContaining({
        code: "PROTOCOL_ERROR",
        message: 'Server "shop" answered tools/list without a tool list',
      }),
    );
  });
});

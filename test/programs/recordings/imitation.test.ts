/** A recorded server gives its recorded answers. */
import { describe, expect, test } from "bun:test";
import type { Recording } from "../../../src/programs/recordings/format.ts";
import { ImitatedServer } from "../../../src/programs/recordings/imitation.ts";
import { recorded } from "./shop.ts";

const textIn = ({ content }: Record<string, unknown>) => (content as { text: string }[])[0]?.text;

function recording(calls: Partial<Recording["calls"][number]>[]): Recording {
  const usual = { server: "shop", tool: "get_customer", arguments: {}, ms: 1 };
  return { ...recorded(), calls: calls.map((call) => ({ ...usual, ...call })) };
}

const answered = (server: ImitatedServer, id: string) => textIn(server.call("get_customer", { id }));

describe("the answer of a call", () => {
  test("is that of the same arguments, in order, and then the last one again", () => {
    const one = { arguments: { id: "ann" } };
    const recordings = [
      recording([
        { ...one, result: "first" },
        { ...one, result: "second" },
      ]),
    ];
    const server = new ImitatedServer("shop", recordings, "exact");
    expect([1, 2, 3].map(() => answered(server, "ann"))).toEqual(["first", "second", "second"]);
  });

  test("is an error for other arguments, which names the recorded ones", () => {
    const server = new ImitatedServer("shop", [recorded()], "exact");
    const result = server.call("get_customer", { id: "eve" });
    expect(result["isError"]).toBe(true);
    expect(textIn(result)).toContain('Recorded arguments: {"id":"ann"}, {"id":"bob"}');
  });

  test("is the next answer of the tool by order, or a made-up one by schema", () => {
    const ordered = new ImitatedServer("shop", [recorded()], "order");
    expect(["x", "y"].map((id) => answered(ordered, id))).toEqual(['{"name":"Ann"}', '{"name":"Bob"}']);
    expect(answered(ordered, "z")).toContain("was ever recorded");
    const made = new ImitatedServer("shop", [recorded()], "schema");
    expect(JSON.parse(answered(made, "x") ?? "")).toEqual({ name: expect.any(String) });
  });

  test("is the recorded failure, or the recorded content blocks", () => {
    const image = { type: "image", data: "AA==", mimeType: "image/png" };
    const calls = [
      { arguments: { id: "a" }, error: { code: "TOOL_FAILED", message: "closed", data: '{"status":409}' } },
      { arguments: { id: "b" }, content: [image] },
      { arguments: { id: "c" }, raw: true as const, result: { content: [], structuredContent: { n: 1 } } },
    ];
    const server = new ImitatedServer("shop", [recording(calls)], "exact");
    const results = ["a", "b", "c"].map((id) => server.call("get_customer", { id }));
    expect(results).toEqual([
      { content: [{ type: "text", text: "closed" }], structuredContent: { status: 409 }, isError: true },
      { content: [image] },
      { content: [], structuredContent: { n: 1 } },
    ]);
  });
});

test("resources and prompts are answered by their arguments", () => {
  const contents = [{ uri: "a:b", text: "x" }];
  const calls = [{ tool: "resources.read", arguments: { uri: "a:b" }, result: { contents } }];
  const server = new ImitatedServer("shop", [recording(calls)], "exact");
  expect(server.other("resources.read", { uri: "a:b" })).toEqual({ contents });
  expect(() => server.other("resources.read", { uri: "a:c" })).toThrow("was ever recorded");
});

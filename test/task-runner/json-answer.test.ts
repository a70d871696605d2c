/** Reads JSON from the answers of models, which often surround or misspell it. */
import { describe, expect, test } from "bun:test";
import { choiceIn, objectIn } from "../../src/task-runner/json-answer.ts";

describe("objectIn", () => {
  test.each<[string, string, object | undefined]>([
    ["valid JSON", '{"id": "a"}', { id: "a" }],
    ["in a fence", 'Here you are:\n```json\n{"id": "a"}\n```\nDone.', { id: "a" }],
    ["in prose", 'The arguments are {"id": "a"} I think.', { id: "a" }],
    ["the last of several", 'Not {"id": "a"} but {"id": "b"}.', { id: "b" }],
    ["the outer one", '{"a": {"b": {"c": 1}}} x', { a: { b: { c: 1 } } }],
    ["trailing commas", '{"ids": ["a", "b",], "n": 1,}', { ids: ["a", "b"], n: 1 }],
    ["single quotes", "{'id': 'it\\'s', 'b': 'say \"x\"'}", { id: "it's", b: 'say "x"' }],
    ["bare keys", "{id: 'a', $b_c: 2}", { id: "a", $b_c: 2 }],
    ["Python literals", "{'yes': True, 'no': False, 'none': None}", { yes: true, no: false, none: null }],
    ["comments", '{"a": 1, // one\n /* two */ "b": 2}', { a: 1, b: 2 }],
    ["line breaks in texts", '{"body": "one\ntwo",}', { body: "one\ntwo" }],
    ["escapes", '{"a": "\\u00e9\\n\\"\\\\",}', { a: 'é\n"\\' }],
    ["numbers", "{a: -1.5e3, b: .5, c: +2}", { a: -1500, b: 0.5, c: 2 }],
    ["braces in texts", '{"a": "}{", }', { a: "}{" }],
    ["after thinking", '<think>{"id": "wrong"} no …</think>\n{"id": "a"}', { id: "a" }],
    ["nothing but thinking", '<think>{"id": "wrong"} no …', undefined],
    ["JSON that is cut off", '{"id": "a", "body": "and so', undefined],
    ["not JSON", "I cannot do that.", undefined],
    ["a list", '["a"]', undefined],
    ["an empty answer", "", undefined],
    ["an invalid key", "{a b: 1}", undefined],
    ["the key __proto__", '{"__proto__": {"x": 1},}', JSON.parse('{"__proto__": {"x": 1}}')],
  ])("reads %s", (_, answer, expected) => {
    expect(objectIn(answer)).toEqual(expected as never);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  test("reads malformed answers of any length quickly", () => {
    for (const text of ["{", '{"a":', "{a:[", "{'", "{a:/*", '{"a":"\\'])
      expect(objectIn(text.repeat(40_000))).toBeUndefined();
  });
});

describe("choiceIn", () => {
  const names = ["list_orders", "get-order", "order", "web.search", "none of these"];

  test.each<[string, string | undefined]>([
    ['{"choice": "get-order"}', "get-order"],
    ['```\n{"choice": "get-order"}\n```', "get-order"],
    ["{'choice': 'get-order',}", "get-order"],
    ['{"tool": "get-order"}', "get-order"],
    ['{"reason": "it lists", "choice": "list_orders"}', "list_orders"],
    ['{"choice": "Get_Order"}', "get-order"],
    ['{"choice": "None of these."}', "none of these"],
    ['"list_orders"', "list_orders"],
    ["list_orders", "list_orders"],
    ["`list_orders`.", "list_orders"],
    ["I would take list_orders here.", "list_orders"],
    ["It is get-order, of course.", "get-order"],
    ["list_orders or web.search", undefined],
    ["reorders", undefined],
    ['{"choice": "delete_all"}', undefined],
    ['{"choice": ""}', undefined],
    ['{"choice": 3}', undefined],
    ["", undefined],
  ])("reads %s", (answer, expected) => {
    expect(choiceIn(answer, names)).toBe(expected as never);
  });

  test("is undefined if two names differ only in punctuation", () => {
    expect(choiceIn('{"choice": "a b"}', ["a-b", "a_b"])).toBeUndefined();
    expect(choiceIn('{"choice": "a_b"}', ["a-b", "a_b"])).toBe("a_b");
  });
});

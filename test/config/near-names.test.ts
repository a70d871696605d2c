/** Similar names: the suggestions and their order. */
import { expect, test } from "bun:test";
import { didYouMean, misspelling, nearNames } from "../../src/base/near-names.ts";

const tools = ["list_orders", "get_order", "create_order", "cancel_order", "list_customers"];

test.each<[string, string[], string[]]>([
  // Another spelling, another order of letters, a missing or an extra letter.
  ["listOrders", tools, ["list_orders"]],
  ["LIST-ORDERS", tools, ["list_orders"]],
  ["exce", ["serve", "exec", "search"], ["exec"]],
  ["gne", ["gen", "demo"], ["gen"]],
  ["serach", ["serve", "exec", "search"], ["search"]],
  ["--jsno", ["--json", "--config"], ["--json"]],
  // Part of a name; the closest first, ties by name, three at most.
  ["order", tools, ["get_order", "list_orders", "cancel_order"]],
  ["customers", tools, ["list_customers"]],
  ["b", ["a", "c"], []],
  ["ab", ["abcdef"], []],
  // Nothing to compare.
  ["", tools, []],
  ["--", ["--json", "-"], []],
  ["order", [], []],
  // Letters of every script count.
  ["заказ", ["заказы", "клиенты"], ["заказы"]],
  ["天気", ["注文", "在庫"], []],
])("nearNames finds names similar to %p in %j", (wanted, names, near) => {
  expect(nearNames(wanted, names)).toEqual(near);
});

test("didYouMean makes a question of the similar names", () => {
  expect(didYouMean("exce", ["serve", "exec"])).toBe("Did you mean exec?");
  expect(didYouMean("orders", ["order", "orders2"])).toBe("Did you mean order or orders2?");
  expect(didYouMean("order", tools)).toBe("Did you mean get_order, list_orders or cancel_order?");
  expect(didYouMean("zzz", tools)).toBeUndefined();
});

test("a misspelling differs by a few letters; a name that contains another is not a misspelling", () => {
  const keys = ["command", "env", "disabled", "startTimeoutMs", "callTimeoutMs"];
  expect(["comand", "commnad", "ENV", "disable", "call_timeout_ms"].map((key) => misspelling(key, keys))).toEqual([
    "command",
    "command",
    "env",
    "disabled",
    "callTimeoutMs",
  ]);
  expect(["timeout", "envFile", "enabled", "disabledTools", "x"].map((key) => misspelling(key, keys))).toEqual(
    Array(5).fill(undefined),
  );
});

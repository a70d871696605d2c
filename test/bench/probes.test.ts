/** The section `probes`: what a search answer promises, whether real values keep it, and which programs only print a result. */
import { expect, test } from "bun:test";
import { printedTool } from "../../scripts/bench/probes/programs.ts";
import { needsProbe, promisesIn } from "../../scripts/bench/probes/promises.ts";
import { tryServer } from "../../scripts/bench/probes/real-server.ts";
import { misfits } from "../../scripts/bench/probes/type-check.ts";
import { textOf } from "../../scripts/results/plan.ts";
import { plans } from "../../scripts/results/plans.ts";
import { executable } from "../support/claudikins.ts";
import { temporaryFolder } from "../support/temporary.ts";

test("the promises of a search answer are read without its named types", () => {
  const answer = [
    "type T1 = { rows: T2[] }",
    "type T2 = { id: number }",
    "shop.list(args?: { from?: string }): Promise<T1>",
    "  Lists.",
    'shop["get one"](args: { id: string }): Promise<string> /* "a > b" per line */',
    "shop.seen(): Promise<{ id: number }[]> /* observed */",
    "Not callable now: shop (broken)",
  ];
  expect(Object.fromEntries(promisesIn(answer.join("\n")))).toEqual({
    "shop.list": { type: "{ rows: { id: number }[] }" },
    'shop["get one"]': { type: "string", format: '"a > b" per line' },
    "shop.seen": { type: "{ id: number }[]" },
  });
});

test.each([
  ["unknown", true],
  ["any", true],
  ["string", true],
  ["string | number", true],
  ["{ content: string }", true],
  ["{ type: string; text?: string; data?: string }[]", true],
  ["{ rows: unknown[] }", true],
  ["Record<string, unknown>[]", true],
  ["{ any: string; unknown?: number }", false],
  ["{ next: string | null; rows: { id: number }[] }", false],
  ["{ type: string; data: string }[]", false],
  ["number", false],
  ["Record<string, string>", false],
])("the type %s alone needs a probe: %p", (type, expected) => {
  expect(needsProbe({ type })).toBe(expected);
});

test("a described text needs no probe, and nothing describes an unknown value", () => {
  expect(needsProbe({ type: "string", format: "one path per line" })).toBe(false);
  expect(needsProbe({ type: "Record<string, unknown>[]", format: "one object per row" })).toBe(false);
  expect(needsProbe({ type: "unknown", format: "one path per line" })).toBe(true);
});

test("values that do not have their type are found", () => {
  const type = '{ kind: "file" | "folder"; size?: number }[]';
  expect(
    misfits([
      { type, value: [{ kind: "file", size: 1, more: true }] },
      { type, value: [{ kind: "link" }] },
      { type, value: "a text" },
      { type: "string", value: "a text\n*/ `${evil}` \u2028" },
      { type: "string", value: { content: "a text" } },
      { type: "Record<string, unknown>[]", value: [] },
    ]),
  ).toEqual([1, 2, 4]);
  expect(misfits([{ type: "number", value: 1 }])).toEqual([]);
});

test("the text of a value is that of a text, of its blocks, or of its only property", () => {
  expect(textOf("a")).toBe("a");
  expect(textOf([{ type: "text", text: "a" }, { type: "image" }])).toBe("a\n[image]");
  expect(textOf({ content: "a" })).toBe("a");
  expect(textOf([1])).toBe("[1]");
});

test.each([
  ["return await demo.get_order({ id: 'a' });", "demo.get_order"],
  ["return (await files.read_text_file({ path: 'a' })).content[0]?.name;", "files.read_text_file"],
  ['return await servers.demo["export-orders"]({});', 'servers.demo["export-orders"]'],
  ["return (await demo.list_orders({})).orders?.slice(0, 2);", "demo.list_orders"],
  ["const order = await demo.get_order({ id: 'a' });\nreturn order.status;", undefined],
  ["return (await demo.list_orders()).orders.map((each) => each.id);", undefined],
  ["return 1;", undefined],
])("the program %j prints the result of %p", async (code, expected) => {
  expect(await printedTool(code)).toBe(expected);
});

test("the demo server is searched and called through the executable", async () => {
  using folder = temporaryFolder();
  const plan = plans.find(({ server }) => server === "testing/demo")!;
  const calls = plan.calls.filter(({ tool }) => ["get_order", "export-orders"].includes(tool));
  const binary = executable();
  const tried = await tryServer(plan, { command: binary, args: ["demo"] }, { binary, folder: folder.path, calls });
  expect(tried.promises.size).toBe(19);
  expect([...tried.promises.values()].filter(needsProbe)).toEqual([]);
  expect(tried.promises.get("get_order")?.type).toStartWith("{ id: string; customer_id: string;");
  expect(tried.calls.map(({ call, value }) => [call.tool, Array.isArray(value) ? "list" : typeof value])).toEqual([
    ["get_order", "object"],
    ["export-orders", "string"],
    ["export-orders", "list"],
  ]);
}, 60_000);

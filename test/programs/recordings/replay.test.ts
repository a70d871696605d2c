/** A saved program is tested from its recording, without any server. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Recording, readRecording, recordingText } from "../../../src/programs/recordings/format.ts";
import { type Tested, testRecording } from "../../../src/programs/recordings/test-program.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { recorded, report } from "./shop.ts";

setDefaultTimeout(60_000);

const sandbox = new Sandbox({ keptWorkers: 1 });
afterAll(() => sandbox[Symbol.dispose]());

const signal = new AbortController().signal;

function tested(recording: Recording, code = report.code): Promise<Tested> {
  return testRecording({ ...report, code }, "report.recording.json", async () => recording, { sandbox, signal });
}

/** The kinds and places of what has changed. */
async function changes(recording: Recording, code?: string): Promise<string[]> {
  const { ok, problem, differences } = await tested(recording, code);
  expect([ok, problem]).toEqual([differences.length === 0, undefined]);
  return differences.map(({ kind, at }) => `${kind} ${at}`);
}

const resultOf = (recording: Recording, call: number) => recording.calls[call]?.result as Record<string, unknown>;
const ordersOf = (recording: Recording, call: number) =>
  resultOf(recording, call)["orders"] as Record<string, unknown>[];

test("an unchanged program passes", async () => {
  expect(await changes(recorded())).toEqual([]);
});

describe("a program that no longer fits its servers fails, and the reason is named", () => {
  test("a field of a result is renamed", async () => {
    const recording = recorded();
    const [order] = ordersOf(recording, 1);
    Object.assign(order!, { amount: order!["cents"] });
    delete order!["cents"];
    const { differences } = await tested(recording);
    expect(differences.map(({ text }) => text)).toEqual([
      "calls[4].arguments.total is null; it was a number (350)",
      'output.total is a text ("NaN"); it was a number (350)',
    ]);
  });

  test("a type is widened", async () => {
    const recording = recorded();
    ordersOf(recording, 0)[0]!["note"] = null;
    const { differences } = await tested(recording);
    expect(differences).toMatchObject([
      { kind: "failure", at: "output", text: expect.stringMatching(/line \d+: .*null/) },
    ]);
  });

  test("a tool has vanished", async () => {
    const recording = recorded();
    const error = { code: "TOOL_NOT_FOUND", message: 'shop has no tool "get_customer"' };
    for (const call of recording.calls) {
      if (call.tool !== "get_customer") continue;
      delete call.result;
      call.error = error;
    }
    const { differences } = await tested(recording);
    expect(differences.map(({ text }) => text)).toEqual([
      "shop.post_report is not called any more",
      expect.stringContaining(`The program fails in line 9: ${error.message}`),
    ]);
  });

  test("an order changes", async () => {
    const early = report.code.replace(
      "const orders",
      "await shop.post_report({ month: input.month, total: 350 });\nconst orders",
    );
    const late = early.replace("await shop.post_report({ month: input.month, total });\n", "");
    expect(await changes(recorded(), late)).toEqual(["order calls[4]"]);
  });

  test("a list is empty", async () => {
    const recording = recorded();
    ordersOf(recording, 0).pop();
    ordersOf(recording, 1).pop();
    expect(await changes(recording)).toEqual([
      "value calls[4].arguments.total",
      "missing call calls[2]",
      "missing call calls[3]",
      "failure output",
    ]);
  });

  test("a call fails", async () => {
    const recording = recorded();
    delete recording.calls[4]!.result;
    recording.calls[4]!.error = { code: "TOOL_FAILED", message: "The report is closed" };
    const { differences } = await tested(recording);
    expect(differences).toMatchObject([
      { kind: "failure", text: "The program fails in line 11: The report is closed" },
    ]);
  });

  test("a list has another page", async () => {
    const recording = recorded();
    Object.assign(resultOf(recording, 1), { next_cursor: "three" });
    const { differences } = await tested(recording);
    expect(differences.map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      "new call: shop.list_orders is called, which the recording does not have",
      "missing call: shop.get_customer is not called any more",
      "missing call: shop.get_customer is not called any more",
      "missing call: shop.post_report is not called any more",
      expect.stringContaining(
        "failure: The program fails in line 5: The recording has no further call of shop.list_orders",
      ),
    ]);
  });
});

test("a program that gives up waiting for a call passes", async () => {
  const code = `const orders = shop.list_orders({ month: input.month });
return await Promise.race([orders, sleep(20_000).then(() => "late")]);`;
  const calls = [{ server: "shop", tool: "list_orders", arguments: { month: "2026-10" }, ms: 0 }];
  expect(await changes({ ...recorded(), calls, output: "late" }, code)).toEqual([]);
});

describe("a program that was changed", () => {
  test("sends other arguments", async () => {
    const code = report.code.replace("total });", "total: total / 100 });");
    expect(await changes(recorded(), code)).toEqual(["value calls[4].arguments.total"]);
  });

  test("may send parallel calls in another order", async () => {
    const code = report.code
      .replace("orders.map(({ customer_id })", "orders.toReversed().map(({ customer_id })")
      .replace("customers.map", "customers.toReversed().map");
    expect(await changes(recorded(), code)).toEqual([]);
  });

  test("calls what it may not call", async () => {
    const code = report.code.replace("shop.post_report(", "shop.delete_report(");
    const { differences } = await tested(recorded(), code);
    expect(differences.map(({ text }) => text)).toContainEqual(
      expect.stringContaining("may not call shop.delete_report"),
    );
  });

  test("takes another input", async () => {
    const input = { type: "object", properties: { quarter: { type: "string" } }, required: ["quarter"] };
    const read = async () => recorded();
    const { ok, problem } = await testRecording({ ...report, input }, "r", read, { sandbox, signal });
    expect([ok, problem]).toEqual([false, expect.stringContaining("The input of the recording is not valid any more")]);
  });
});

describe("expectations", () => {
  const code = `${report.code.replace("return { total,", "return { at: input.month === '' ? 0 : 'R-17', id: 7, total,")}`;

  test("take anything at a place, or what a schema describes", async () => {
    const recording = recorded();
    recording.output = { ...(recording.output as object), at: "R-16", id: 6 };
    expect(await changes(recording, code)).toEqual(["value output.at", "value output.id"]);
    recording.expect = { "output.id": {}, "output.at": { type: "string", pattern: "^R-\\d+$" } };
    expect(await changes(recording, code)).toEqual([]);
    recording.expect["output.at"] = { type: "string", pattern: "^S-" };
    expect(await changes(recording, code)).toEqual(["value output.at"]);
    recording.expect = { "output.*": {}, "calls[*].arguments.total": {} };
    expect(await changes(recording, code.replace("total });", "total: 1 });"))).toEqual([]);
  });

  test("a secret that was replaced stands for any text", async () => {
    const recording = recorded();
    recording.output = { ...(recording.output as object), at: "R-***", id: 7 };
    expect(await changes(recording, code)).toEqual([]);
  });
});

describe("a file without a recording", () => {
  test.each([
    ["not JSON", "{", "it is not a JSON object"],
    ["another version", '{"version": 2}', "newer"],
    [
      "a call with two answers",
      recordingText({
        ...recorded(),
        calls: [{ server: "a", tool: "b", arguments: {}, ms: 1, result: 1, content: [] }],
      }),
      "calls[0] has more than one of result, content, error",
    ],
    ["a start that cannot be read", recordingText({ ...recorded(), startsAt: "yesterday" }), "startsAt is not a time"],
    [
      "a value that is too deep",
      `{"version": 1, "output": ${"[".repeat(600)}${"]".repeat(600)}}`,
      "more than 500 levels",
    ],
    ["too large a file", `"${"x".repeat(11_000_000)}"`, "it is larger than 10 MB"],
    ["an unknown key", JSON.stringify({ ...recorded(), outptu: 1 }), "outptu"],
  ])("is refused: %s", async (_, json, message) => {
    const error = await readRecording(json, "a.recording.json").then(
      () => undefined,
      (thrown) => thrown as Error,
    );
    expect(error?.message).toContain(message);
  });
});

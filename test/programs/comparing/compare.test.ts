/** Two executions side by side: which calls are pairs, what differs in a pair, and the differences of code, values and logs. */
import { describe, expect, test } from "bun:test";
import { alignedCalls, type CallPair } from "../../../src/programs/comparing/align-calls.ts";
import { compared } from "../../../src/programs/comparing/compare.ts";
import { recordedContents } from "../../../src/programs/comparing/contents.ts";
import type { ExecutionRecord, RecordedCall } from "../../../src/programs/trace/record.ts";
import { callOf, recordOf } from "../trace/records.ts";

const whole = (text: string) => ({ text, isWhole: true });
const call = (tool: string, args = "{}", more: Partial<RecordedCall> = {}) =>
  callOf({ tool, arguments: whole(args), argumentChars: args.length, ...more });
const shown = (pairs: CallPair[]) =>
  pairs.map(([one, other]) => [one, other].map((each) => each && `${each.tool}${each.arguments?.text ?? ""}`));

describe("calls are put side by side", () => {
  test("by their tool and arguments, so that a call in between moves no other", () => {
    const pairs = alignedCalls(
      [call("get", "1"), call("get", "3")],
      [call("get", "1"), call("get", "2"), call("get", "3")],
    );
    expect(shown(pairs)).toEqual([
      ["get1", "get1"],
      [undefined, "get2"],
      ["get3", "get3"],
    ]);
  });

  test("by their tool where the arguments differ, and alone where the other has no such call", () => {
    const pairs = alignedCalls(
      [call("list", "1"), call("get", "a")],
      [call("find"), call("get", "b"), call("list", "1")],
    );
    expect(shown(pairs)).toEqual([
      [undefined, "find{}"],
      [undefined, "getb"],
      ["list1", "list1"],
      ["geta", undefined],
    ]);
    expect(shown(alignedCalls([call("get", "a")], [call("find"), call("get", "b")]))).toEqual([
      [undefined, "find{}"],
      ["geta", "getb"],
    ]);
  });

  test("by the sizes of arguments if those were not recorded", () => {
    const [short, long] = [callOf({ argumentChars: 2 }), callOf({ argumentChars: 900 })];
    expect(alignedCalls([short, long], [long])).toEqual([
      [short, undefined],
      [long, long],
    ]);
  });

  test("in a limited time, whatever they are", () => {
    const many = (name: string) => Array.from({ length: 1_000 }, (_, at) => call(`${name}${at}`));
    const begun = performance.now();
    const pairs = alignedCalls(many("a"), many("b"));
    expect(performance.now() - begun).toBeLessThan(1_000);
    expect(pairs.length).toBe(2_000);
  });
});

const both = (one: Partial<ExecutionRecord>, other: Partial<ExecutionRecord>) => {
  const [earlier, later] = [recordOf({ at: Date.now() - 60_000, ...one }), recordOf(other)];
  return compared(recordedContents(earlier), recordedContents(later));
};

describe("a pair of calls differs", () => {
  const partsOf = (one: RecordedCall, other: RecordedCall) => {
    const [pair] = both({ timeline: [one] }, { timeline: [other] }).calls;
    return [pair?.change, ...(pair?.differs ?? [])];
  };
  const plain = callOf({});

  test("in arguments, outcome, result and duration", () => {
    expect(partsOf(plain, callOf({}))).toEqual(["same"]);
    expect(partsOf(plain, callOf({ argumentChars: 21 }))).toEqual(["changed", "arguments"]);
    expect(partsOf(call("a", '{"n":1}'), call("a", '{"n":2}'))).toEqual(["changed", "arguments"]);
    expect(partsOf(plain, callOf({ outcome: "failed", code: "X" }))).toEqual(["changed", "outcome"]);
    expect(partsOf(callOf({ outcome: "failed", code: "X" }), callOf({ outcome: "failed", code: "Y" }))).toEqual([
      "changed",
      "outcome",
    ]);
    expect(partsOf(plain, callOf({ resultChars: 3 }))).toEqual(["changed", "result"]);
    expect(partsOf(callOf({ result: whole("[1]") }), callOf({ result: whole("[2]") }))).toEqual(["changed", "result"]);
    expect(partsOf(plain, callOf({ endMs: 400 }))).toEqual(["changed", "duration"]);
  });

  test("neither by small differences of time, nor because only one was recorded with contents", () => {
    expect(partsOf(plain, callOf({ endMs: 190 }))).toEqual(["same"]);
    expect(partsOf(callOf({ startMs: 0, endMs: 10 }), callOf({ startMs: 0, endMs: 100 }))).toEqual(["same"]);
    expect(partsOf(plain, callOf({ arguments: whole("{}"), result: whole("[]") }))).toEqual(["same"]);
    const failed = { outcome: "failed", code: "X" } as const;
    expect(partsOf(callOf(failed), callOf({ ...failed, message: "No" }))).toEqual(["same"]);
  });
});

describe("two executions", () => {
  test("are in the order in which they began, with their states and failures", () => {
    const [first, second] = [
      recordOf({ at: Date.now() - 5_000 }),
      recordOf({ ok: false, reason: "timeout", failures: 2 }),
    ];
    const { earlier, later } = compared(recordedContents(second), recordedContents(first));
    expect([earlier.id, earlier.state, later.id, later.state, later.failure]).toEqual([
      first.id,
      "done",
      second.id,
      "failed",
      "The code did not end in time",
    ]);
  });

  test("have the difference of their code, values and logs, with equal lines only around a change", () => {
    const code = (text: string) => ({ chars: text.length, lines: 1, text });
    const lines = Array.from({ length: 20 }, (_, at) => `line ${at};`);
    const changed = lines.with(10, "return 2;");
    const logs = (text: string) => ({ lines: 1, chars: 3, entries: [{ level: "log", text }] });
    const found = both(
      { hasContents: true, code: code(`${lines.join("\n")}\n`), value: whole('{"n":1}'), logs: logs("a") },
      { hasContents: true, code: code(changed.join("\n")), value: whole('{"n":1}'), logs: logs("b") },
    );
    expect(found.code.lines.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      "skipped 7",
      ...[7, 8, 9].map((at) => `same line ${at};`),
      "removed line 10;",
      "added return 2;",
      ...[11, 12, 13].map((at) => `same line ${at};`),
      "skipped 6",
    ]);
    expect([found.value.isSame, found.value.lines]).toEqual([true, []]);
    expect(found.logs.lines).toEqual([
      { kind: "removed", text: "log: a" },
      { kind: "added", text: "log: b" },
    ]);
  });

  test("name the one that has not stored a content, and whether only beginnings were compared", () => {
    const recorded = {
      hasContents: true,
      code: { chars: 9, lines: 1, text: "ret" },
      value: { text: '{"n', isWhole: false },
    };
    const { code, value } = both(recorded, {});
    expect([code.isSame, code.missing, value.missing]).toEqual([null, ["later"], ["later"]]);
    expect(both(recorded, recorded).code).toEqual({ isSame: true, missing: [], isCut: true, lines: [], moreLines: 0 });
  });

  test("count the calls that are not compared", () => {
    const timeline = Array.from({ length: 1_002 }, () => callOf({}));
    expect(both({ timeline, moreCalls: 5 }, { timeline: [] }).moreCalls).toBe(7);
  });
});

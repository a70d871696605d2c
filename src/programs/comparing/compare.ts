/** Compares two executions: their calls side by side, and the difference of the code, the values and the logs. */
import { type DiffLine, lineDifference } from "../../base/line-difference.ts";
import { endStateOf, type RecordedCall } from "../trace/record.ts";
import { failureOf, tookMs } from "../trace/record-text.ts";
import { alignedCalls, type CallPair } from "./align-calls.ts";
import type { CallPart, ComparedCall, ComparedSide, Comparison, SidePart, TextDifference } from "./comparison.ts";
import type { ComparedExecution, ComparedText } from "./contents.ts";

/** A duration differs from another if it is at least so much longer, in milliseconds, and at least twice as long. */
const notableMs = 100;

/** Calls of each execution that are compared. The others are counted. */
const maxComparedCalls = 1_000;

/** Lines of one difference. The others are counted. */
const maxShownLines = 1_000;

/** Equal lines that are shown before and after a change. */
const linesAround = 3;

/** The execution that began first is the earlier one, whatever the order of the arguments. */
export function compared(one: ComparedExecution, other: ComparedExecution): Comparison {
  const [earlier, later] = one.record.id < other.record.id ? [one, other] : [other, one];
  const [left, right] = [earlier, later].map((each) => each.record.timeline.slice(0, maxComparedCalls));
  const all = alignedCalls(left!, right!);
  return {
    earlier: sideOf(earlier),
    later: sideOf(later),
    differs: differingFacts(sideOf(earlier), sideOf(later)),
    calls: all.map(comparedCall),
    moreCalls: moreCalls(earlier) + moreCalls(later),
    code: differenceOf(earlier.code, later.code),
    value: differenceOf(earlier.value, later.value),
    logs: differenceOf(earlier.logs, later.logs),
  };
}

/** At most `count` calls in their order: those that differ before equal ones. */
export function tellingCalls(calls: readonly ComparedCall[], count: number): ComparedCall[] {
  const isOther = ({ change }: ComparedCall) => change !== "same";
  const chosen = new Set([...calls.filter(isOther), ...calls.filter((each) => !isOther(each))].slice(0, count));
  return calls.filter((each) => chosen.has(each));
}

function moreCalls({ record: { timeline, moreCalls: unrecorded } }: ComparedExecution): number {
  return Math.max(0, timeline.length - maxComparedCalls) + unrecorded;
}

function sideOf({ record }: ComparedExecution): ComparedSide {
  const { id, at, ok, durationMs, calls, failures, charsIn, charsOut, program, agent, dryRun, hasContents } = record;
  const failure = ok ? undefined : failureOf(record);
  const figures = { durationMs, calls, failures, charsIn, charsOut };
  return { id, at, state: endStateOf(record), failure, ...figures, program, agent, dryRun, hasContents };
}

function differingFacts(earlier: ComparedSide, later: ComparedSide): SidePart[] {
  const facts = ["state", "failure", "calls", "failures", "charsIn", "charsOut"] as const;
  return [
    ...facts.filter((fact) => earlier[fact] !== later[fact]),
    ...(isOtherDuration(earlier.durationMs, later.durationMs) ? ["duration" as const] : []),
  ];
}

function isOtherDuration(one: number, other: number): boolean {
  const [short, long] = [Math.min(one, other), Math.max(one, other)];
  return long - short >= notableMs && long >= 2 * short;
}

function comparedCall([earlier, later]: CallPair): ComparedCall {
  if (!earlier) return { change: "added", differs: [], later };
  if (!later) return { change: "removed", differs: [], earlier };
  const differs = differingParts(earlier, later);
  return { change: differs.length === 0 ? "same" : "changed", differs, earlier, later };
}

function differingParts(earlier: RecordedCall, later: RecordedCall): CallPart[] {
  const checks: [CallPart, boolean][] = [
    ["arguments", isOther(earlier.arguments, later.arguments, earlier.argumentChars, later.argumentChars)],
    ["outcome", isOtherOutcome(earlier, later)],
    ["result", isOther(earlier.result, later.result, earlier.resultChars, later.resultChars)],
    ["duration", isOtherDuration(tookMs(earlier), tookMs(later))],
  ];
  return checks.flatMap(([part, differs]) => (differs ? [part] : []));
}

function isOther(one: { text: string } | undefined, other: typeof one, chars: number, otherChars: number): boolean {
  return chars !== otherChars || (one !== undefined && other !== undefined && one.text !== other.text);
}

function isOtherOutcome(one: RecordedCall, other: RecordedCall): boolean {
  const isOtherMessage = one.message !== undefined && other.message !== undefined && one.message !== other.message;
  return one.outcome !== other.outcome || one.code !== other.code || one.notMade !== other.notMade || isOtherMessage;
}

function differenceOf(earlier: ComparedText | undefined, later: ComparedText | undefined): TextDifference {
  if (!earlier || !later) {
    const missing = [...(earlier ? [] : ["earlier" as const]), ...(later ? [] : ["later" as const])];
    return { isSame: null, missing, isCut: false, lines: [], moreLines: 0 };
  }
  const isCut = !earlier.isWhole || !later.isWhole;
  const [before, now] = [earlier, later].map((each) => each.text.replace(/\n$/, ""));
  const isSame = before === now;
  const lines = isSame ? [] : nearChanges(lineDifference(before!, now!));
  const moreLines = Math.max(0, lines.length - maxShownLines);
  return { isSame, missing: [], isCut, lines: lines.slice(0, maxShownLines), moreLines };
}

/** Leaves out equal lines that are far from a change. */
function nearChanges(lines: readonly DiffLine[]): TextDifference["lines"] {
  const isNear = new Set<number>();
  for (const [place, { kind }] of lines.entries()) {
    if (kind === "same") continue;
    for (let near = place - linesAround; near <= place + linesAround; near++) isNear.add(near);
  }
  const shown: TextDifference["lines"] = [];
  let skipped = 0;
  const endSkipped = () => {
    if (skipped > 0) shown.push({ kind: "skipped", text: String(skipped) });
    skipped = 0;
  };
  for (const [place, line] of lines.entries()) {
    if (!isNear.has(place)) {
      skipped += 1;
      continue;
    }
    endSkipped();
    shown.push(line);
  }
  endSkipped();
  return shown;
}

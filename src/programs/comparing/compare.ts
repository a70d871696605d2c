/** Compares two executions: their calls side by side, and the difference of the code, the values and the logs. */
import {
  about,
  either,
  exactly,
  list,
  named,
  nothing,
  number,
  oneOf,
  record,
  text,
  time,
  type ValueOf,
  yesOrNo,
} from "../../base/json-shape.ts";
import { type DiffLine, lineDifference } from "../../base/line-difference.ts";
import { callShape, type RecordedCall } from "../trace/record.ts";
import { failureOf, tookMs } from "../trace/record-text.ts";
import { endStateOf, endStates } from "../trace/store.ts";
import { alignedCalls, type CallPair } from "./align-calls.ts";
import type { ComparedExecution, ComparedText } from "./contents.ts";

/** Calls of each execution that are compared. The others are counted. */
const maxComparedCalls = 1_000;

/** Lines of one difference. The others are counted. */
const maxShownLines = 1_000;

/** Equal lines that are shown before and after a change. */
const linesAround = 3;

/** A duration differs from another if it is at least so much longer, in milliseconds, and at least twice as long. */
const notableMs = 100;

const callPartShape = oneOf("arguments", "outcome", "result", "duration");
/** A part in which two calls differ. */
export type CallPart = ValueOf<typeof callPartShape>;

const comparedCallShape = named(
  "ComparedCall",
  record({
    change: oneOf("same", "changed", "added", "removed"),
    differs: about(
      "What differs. Without recorded contents, only sizes are compared. A duration differs if it is at least twice as long, and 100 ms longer",
      list(callPartShape),
    ),
    "earlier?": callShape,
    "later?": callShape,
  }),
);
export type ComparedCall = ValueOf<typeof comparedCallShape>;

const differenceShape = named(
  "Difference",
  record({
    isSame: about("null if one of them is not stored", either(yesOrNo, nothing)),
    missing: about("The executions of which it is not stored", list(oneOf("earlier", "later"))),
    isCut: about("Whether only the beginnings were compared", yesOrNo),
    lines: about(
      "The changed lines with the lines around them. skipped: the text is the number of equal lines",
      list(record({ kind: oneOf("same", "added", "removed", "skipped"), text })),
    ),
    moreLines: number,
  }),
);
export type TextDifference = ValueOf<typeof differenceShape>;

const sideShape = named(
  "Compared",
  record({
    id: text,
    at: about("The start, in milliseconds since 1970", time),
    state: oneOf(...endStates),
    "failure?": text,
    durationMs: number,
    calls: number,
    failures: number,
    charsIn: number,
    charsOut: number,
    "program?": text,
    "agent?": text,
    "dryRun?": exactly(true),
    hasContents: yesOrNo,
  }),
);
export type ComparedSide = ValueOf<typeof sideShape>;

export const comparisonShape = named(
  "Comparison",
  record({
    earlier: sideShape,
    later: sideShape,
    calls: about("The calls of both executions in their order", list(comparedCallShape)),
    moreCalls: about("Number of calls of both executions that are not compared", number),
    code: differenceShape,
    value: about("What they returned, as indented JSON", differenceShape),
    logs: differenceShape,
  }),
);
export type Comparison = ValueOf<typeof comparisonShape>;

/** The execution that began first is the earlier one, whatever the order of the arguments. */
export function compared(one: ComparedExecution, other: ComparedExecution): Comparison {
  const [earlier, later] = one.record.id < other.record.id ? [one, other] : [other, one];
  const [left, right] = [earlier, later].map((each) => each.record.timeline.slice(0, maxComparedCalls));
  const all = alignedCalls(left!, right!);
  return {
    earlier: sideOf(earlier),
    later: sideOf(later),
    calls: all.map(comparedCall),
    moreCalls: moreCalls(earlier) + moreCalls(later),
    code: differenceOf(earlier.code, later.code),
    value: differenceOf(earlier.value, later.value),
    logs: differenceOf(earlier.logs, later.logs),
  };
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

function comparedCall([earlier, later]: CallPair): ComparedCall {
  if (!earlier) return { change: "added", differs: [], later };
  if (!later) return { change: "removed", differs: [], earlier };
  const differs = differingParts(earlier, later);
  return { change: differs.length === 0 ? "same" : "changed", differs, earlier, later };
}

function differingParts(earlier: RecordedCall, later: RecordedCall): CallPart[] {
  const isLonger = (ms: number, than: number) => ms - than >= notableMs && ms >= 2 * than;
  const [took, tookLater] = [tookMs(earlier), tookMs(later)];
  const checks: [CallPart, boolean][] = [
    ["arguments", isOther(earlier.arguments, later.arguments, earlier.argumentChars, later.argumentChars)],
    ["outcome", isOtherOutcome(earlier, later)],
    ["result", isOther(earlier.result, later.result, earlier.resultChars, later.resultChars)],
    ["duration", isLonger(took, tookLater) || isLonger(tookLater, took)],
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

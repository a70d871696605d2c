/** What a comparison of two executions says, as the command line, the page and its browser part know it. */
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
import { callShape, endStates } from "../trace/record.ts";

/** How an execution is related to the one that is compared, the closest first. */
export const relations = ["run again from", "run again as", "same program", "same code", "other"] as const;
export type Relation = (typeof relations)[number];

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
    missing: about("The executions that have not stored it", list(oneOf("earlier", "later"))),
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

const sidePartShape = oneOf("state", "failure", "duration", "calls", "failures", "charsIn", "charsOut");
/** A fact in which two executions differ. */
export type SidePart = ValueOf<typeof sidePartShape>;

export const comparisonShape = named(
  "Comparison",
  record({
    earlier: sideShape,
    later: sideShape,
    differs: about("The facts that differ", list(sidePartShape)),
    calls: about("The calls of both executions in their order", list(comparedCallShape)),
    moreCalls: about("Number of calls of both executions that are not compared", number),
    code: differenceShape,
    value: about("What they returned, as indented JSON", differenceShape),
    logs: differenceShape,
  }),
);
export type Comparison = ValueOf<typeof comparisonShape>;

/** The shape of the facts about a call that waits: see approval-facts.ts. The page of the browser imports the types. */
import { about, list, named, number, oneOf, record, text, time, type ValueOf, yesOrNo } from "../../base/json-shape.ts";
import { startedByShape } from "../trace/record.ts";

const changeShape = named(
  "ArgumentChange",
  record({ at: text, kind: oneOf("new", "gone", "changed"), "before?": text, "now?": text }),
);
/** `at` is a place such as `files[0].path`. `before` and `now` are the beginning of the values as JSON. */
export type ArgumentChange = ValueOf<typeof changeShape>;

const askerShape = record({ startedBy: startedByShape, "agent?": text, "folder?": text, "program?": text });

const readShape = record({
  label: text,
  source: about("What it came from, such as a tool", text),
  calls: about(
    "The first calls of this execution that read it, from the call log; none if its session had read it before",
    list(record({ call: number, at: time })),
  ),
});

const earlierShape = record({
  id: text,
  decidedAt: time,
  isWhole: about("Whether all of its arguments are kept. Otherwise nothing is compared", yesOrNo),
  changes: list(changeShape),
  more: about("Number of further differences", number),
});

export const factsShape = {
  "asker?": about("Who runs the program; missing if its execution is not stored", askerShape),
  reads: about("The labelled data that the program or its session had read", list(readShape)),
  "lastApproved?": about("The last approved call of the tool, and what differs since", earlierShape),
};

export interface ApprovalFacts {
  asker?: ValueOf<typeof askerShape> | undefined;
  reads: ValueOf<typeof readShape>[];
  lastApproved?: ValueOf<typeof earlierShape> | undefined;
}

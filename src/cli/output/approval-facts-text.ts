/** The facts about a call that waits, as lines of text for a terminal. */
import { counted } from "../../base/counted.ts";
import { ageText } from "../../base/duration.ts";
import { oneLine } from "../../base/visible-text.ts";
import { visible } from "../../policy/visible.ts";
import type { ApprovalFacts } from "../../programs/approvals/facts-shape.ts";

/** Characters of the line of one difference, so that no terminal breaks it where an argument wants it. */
const maxDifferenceChars = 90;

/** Each line ends with a line break. Empty if nothing is known. */
export function factsText({ asker, reads, lastApproved }: ApprovalFacts): string {
  return [...askerLines(asker), ...readLines(reads), ...differenceLines(lastApproved)]
    .map((line) => `${line}\n`)
    .join("");
}

function askerLines(asker: ApprovalFacts["asker"]): string[] {
  if (!asker) return [];
  const { agent, startedBy, folder, program } = asker;
  const parts = [
    agent ?? startedBy,
    ...(program === undefined ? [] : [`program ${program}`]),
    ...(folder === undefined ? [] : [`in ${folder}`]),
  ];
  return [`Asked by: ${visible(parts.join(", "))}`];
}

function readLines(reads: ApprovalFacts["reads"]): string[] {
  if (reads.length === 0) return ["Read before: nothing with a label"];
  const lines = reads.map(({ label, source, calls }) => {
    const [first] = calls;
    const when = first ? `call ${first.call}, ${ageText(Date.now() - first.at)}` : "earlier in its session";
    return `    ${label} data of ${visible(source)} (${when})`;
  });
  return ["Read before:", ...lines];
}

function differenceLines(last: ApprovalFacts["lastApproved"]): string[] {
  if (!last) return [];
  const { decidedAt, isWhole, changes, more, id } = last;
  const head = `Since the last approved call of this tool (${id}, ${ageText(Date.now() - decidedAt)})`;
  if (!isWhole) return [`${head}: not comparable, because only the beginning of its arguments is kept`];
  if (changes.length === 0) return [`${head}: the arguments are the same`];
  const lines = changes.map(({ at, kind, before, now }) => {
    const value = kind === "changed" ? `${before} → ${now}` : kind === "new" ? `new: ${now}` : `gone: ${before}`;
    return `    ${oneLine(visible(`${at}: ${value}`), maxDifferenceChars)}`;
  });
  return [`${head}:`, ...lines, ...(more > 0 ? [`    and ${counted(more, "more difference")}`] : [])];
}

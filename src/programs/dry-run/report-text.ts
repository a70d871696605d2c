/** Writes the calls that a dry run has not made as text, for people and for models. */
import { counted } from "../../base/counted.ts";
import { oneLine } from "../../base/visible-text.ts";
import type { DryRunReport, PlannedCall } from "../../sandbox/contract.ts";

/** Characters of the list of calls that an agent or a person gets. */
const maxPlannedTextChars = 6_000;

/** Characters of one call in this list. */
const maxPlannedCallChars = 500;

/** A line for each call, as code would make it. Text beyond the limit is left out, and the last line says how much. */
export function dryRunText({ calls, more }: DryRunReport): string {
  if (calls.length === 0) return "Would have called nothing that changes something.";
  const lines = ["Would have called (in order; results are made up):"];
  let chars = 0;
  let shown = 0;
  for (const call of calls) {
    const line = `${shown + 1}. ${callText(call)}`;
    chars += line.length;
    if (shown > 0 && chars > maxPlannedTextChars) break;
    lines.push(line);
    shown += 1;
  }
  const left = calls.length - shown + more;
  if (left > 0) lines.push(`… and ${counted(left, "more call")}`);
  return lines.join("\n");
}

function callText({ server, tool, arguments: args, argumentChars, line, approval }: PlannedCall): string {
  const json = args === undefined ? `… ${argumentChars} characters …` : JSON.stringify(args);
  const call = oneLine(`${server}.${tool}(${json === "{}" ? "" : json})`, maxPlannedCallChars);
  const notes = [
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(approval === undefined ? [] : [`needs an approval: ${approval}`]),
  ];
  return notes.length === 0 ? call : `${call} // ${oneLine(notes.join("; "), maxPlannedCallChars)}`;
}

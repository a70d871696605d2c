/** Why a person is asked before a call shows to others what a session has read. */
import { counted } from "../../base/counted.ts";
import { digestOf } from "../../config/trust/marks.ts";
import { maxNamedSources } from "../limits.ts";
import type { Read, SessionReads } from "./session-reads.ts";

/** The part of a permission that is bound to what was read, by a name that the user understands. */
export const readsPart = "what was read before";

export function readsDigest(reads: SessionReads): string {
  return digestOf(reads.all.map(({ label, source }) => `${label} ${source}`).sort());
}

/** Such as `others can see what it is given, and this session has read …`. */
export function flowText(reads: SessionReads, args: object): string {
  const ofLabel = (label: Read["label"]) => sourcesText(reads.all.filter((each) => each.label === label));
  const read = `private data (${ofLabel("private")}) and text that strangers may have written (${ofLabel("untrusted")})`;
  return `others can see what it is given, and this session has read ${read}${comparisonText(reads, args)}`;
}

function comparisonText(reads: SessionReads, args: object): string {
  const compared = reads.compare(args);
  if (compared === undefined) return "";
  if (compared === "nothing") return "; its arguments repeat nothing of the private data word for word";
  return `; its arguments repeat a part of what ${compared.repeats} returned`;
}

function sourcesText(reads: readonly Read[]): string {
  const names = reads.slice(0, maxNamedSources).map(({ source }) => source);
  const more = reads.length - names.length;
  return [...names, ...(more > 0 ? [`and ${counted(more, "other")}`] : [])].join(", ");
}

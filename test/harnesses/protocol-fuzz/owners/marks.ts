/** Whose private data a text has: marks in texts of the owners themselves, and what the server `desk` returns for a person alone. */
import { peopleIn } from "../../team-storm/marks.ts";

const ofDesk = /\b(?:key_of|secret of|of)[_ ]p(\d+)\b/g;

export function ownersIn(text: string): Set<number> {
  return new Set([...peopleIn(text), ...Array.from(text.matchAll(ofDesk), ([, owner]) => Number(owner))]);
}

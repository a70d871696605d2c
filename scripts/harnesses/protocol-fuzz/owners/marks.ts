/** Finds the owner of private data in a text: marks in texts of the owners, and results of the server `desk` for one person. */
import { peopleIn } from "../../team-storm/marks.ts";

const ofDesk = /\b(?:key_of|secret of|of)[_ ]p(\d+)\b/g;

export function ownersIn(text: string): Set<number> {
  return new Set([...peopleIn(text), ...Array.from(text.matchAll(ofDesk), ([, owner]) => Number(owner))]);
}

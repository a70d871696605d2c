/** Texts of ours in files that are read by agents: how they are known again, replaced and taken out, and nothing else with them. */
import { createHash } from "node:crypto";

const skillMark = /^<!-- claudikins skill ([\da-f]{12})\b.*-->\r?\n/m;

/** With a line below the header that has a hash of all else: what somebody has changed is theirs. */
export function markedSkill(text: string): string {
  const end = text.indexOf("\n---\n") + "\n---\n".length;
  const line = `<!-- claudikins skill ${hashOf(text)}: "claudikins skill install" updates this file unless you change it -->\n`;
  return text.slice(0, end) + line + text.slice(end);
}

/** `changed` was ours, and somebody has edited it; `foreign` never was. */
export function originOfSkill(text: string): "ours" | "changed" | "foreign" {
  const [line, hash] = skillMark.exec(text) ?? [];
  if (line === undefined) return "foreign";
  const at = text.indexOf(line);
  return hashOf(text.slice(0, at) + text.slice(at + line.length)) === hash ? "ours" : "changed";
}

/** Git may have changed the ends of lines. */
function hashOf(text: string): string {
  return createHash("sha256").update(text.replaceAll("\r\n", "\n")).digest("hex").slice(0, 12);
}

/** How many ends of lines were put before the section, or that the file was not there: what taking it out has to undo. */
type Added = "new" | "0" | "1" | "2";

const sectionEnd = "<!-- claudikins end -->";
const anySection = /<!-- claudikins begin (new|[012])\b[^\n]*-->\r?\n[\s\S]*?<!-- claudikins end -->/g;
const anyMark = /<!-- claudikins (?:begin|end)\b/g;

/** Without an end of line after it. */
export function section(body: string, added: Added = "0"): string {
  const begin = `<!-- claudikins begin ${added}: "claudikins skill" replaces everything up to the end mark; write outside it -->`;
  return `${begin}\n${body.trimEnd()}\n${sectionEnd}`;
}

/** Undefined for a text whose marks are not in pairs, or of which there are several. `text` is undefined where there is no file. */
export function withSection(text: string | undefined, body: string): string | undefined {
  const lineEnd = text?.includes("\r\n") ? "\r\n" : "\n";
  const written = (added: Added) => section(body, added).replaceAll("\n", lineEnd);
  if (text === undefined) return `${written("new")}\n`;
  const found = sectionIn(text);
  if (found === "damaged") return undefined;
  if (found) return text.slice(0, found.from) + written(found.added) + text.slice(found.to);
  const added = missingEnds(text, lineEnd);
  return text + lineEnd.repeat(Number(added)) + written(added) + lineEnd;
}

/** As it was before; `file: false` where there was no file. The very same text where it has no section; undefined as above. */
export function withoutSection(text: string): { text: string; file: boolean } | undefined {
  const found = sectionIn(text);
  if (found === "damaged") return undefined;
  if (!found) return { text, file: true };
  const after = text.slice(found.to).replace(/^\r?\n/, "");
  let before = text.slice(0, found.from);
  // Where somebody has written below it, the space before it is needed.
  for (let left = Number(found.added); left > 0 && after === ""; left--) before = before.replace(/\r?\n$/, "");
  const rest = before + after;
  return { text: rest, file: rest !== "" || found.added !== "new" };
}

function sectionIn(text: string): { from: number; to: number; added: Added } | "damaged" | undefined {
  const [first, ...others] = text.matchAll(anySection);
  const marks = text.match(anyMark)?.length ?? 0;
  if (!first) return marks === 0 ? undefined : "damaged";
  if (others.length > 0 || marks !== 2) return "damaged";
  return { from: first.index, to: first.index + first[0].length, added: first[1] as Added };
}

/** So that an empty line stands before it. */
function missingEnds(text: string, lineEnd: string): Added {
  if (text === "" || text.endsWith(lineEnd.repeat(2))) return "0";
  return text.endsWith(lineEnd) ? "1" : "2";
}

/** Recognises, replaces and removes our texts in agents' files without changing anything else. */
import { sha256 } from "../../base/sha256.ts";

const skillMark = /^<!-- claudikins skill ([\da-f]{12})\b.*-->\r?\n/m;

/** Adds a line with a hash below the header. It shows whether the user has edited the skill. */
export function markedSkill(text: string): string {
  const end = text.indexOf("\n---\n") + "\n---\n".length;
  const line = `<!-- claudikins skill ${hashOf(text)}: "claudikins skill install" updates this file unless you change it -->\n`;
  return text.slice(0, end) + line + text.slice(end);
}

/** `changed` is our skill with edits by the user; `foreign` is not ours. */
export function originOfSkill(text: string): "ours" | "changed" | "foreign" {
  const [line, hash] = skillMark.exec(text) ?? [];
  if (line === undefined) return "foreign";
  const at = text.indexOf(line);
  return hashOf(text.slice(0, at) + text.slice(at + line.length)) === hash ? "ours" : "changed";
}

/** Ignores line endings, which git may change. */
function hashOf(text: string): string {
  return sha256(text.replaceAll("\r\n", "\n")).slice(0, 12);
}

/** The text that `withSection` added before the section: line breaks, or the whole file. Removing the section undoes it. */
type Added = "new" | "0" | "1" | "2";

const sectionEnd = "<!-- claudikins end -->";
const anySection = /<!-- claudikins begin (new|[012])\b[^\n]*-->\r?\n[\s\S]*?<!-- claudikins end -->/g;
const anyMark = /<!-- claudikins (?:begin|end)\b/g;

/** The section without a final line break. */
export function section(body: string, added: Added = "0"): string {
  const begin = `<!-- claudikins begin ${added}: "claudikins skill" replaces everything up to the end mark; write outside it -->`;
  return `${begin}\n${body.trimEnd()}\n${sectionEnd}`;
}

/** Adds or replaces the section. Undefined if the marks in the text are unpaired or repeated. `text` is undefined if there is no file. */
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

/** The text without the section; `file: false` if there was no file before. The same text if it has no section. Undefined if the marks are unpaired or repeated. */
export function withoutSection(text: string): { text: string; file: boolean } | undefined {
  const found = sectionIn(text);
  if (found === "damaged") return undefined;
  if (!found) return { text, file: true };
  const after = text.slice(found.to).replace(/^\r?\n/, "");
  let before = text.slice(0, found.from);
  // If there is text below the section, the line breaks before it stay.
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

/** The line breaks that are missing for an empty line before the section. */
function missingEnds(text: string, lineEnd: string): Added {
  if (text === "" || text.endsWith(lineEnd.repeat(2))) return "0";
  return text.endsWith(lineEnd) ? "1" : "2";
}

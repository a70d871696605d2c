/** The servers that a program names, which are listed before it runs. */
import { firstAnswerMs } from "../tools/limits.ts";
import { maxSourceChars } from "./limits.ts";
import type { Parts } from "./parts.ts";

/** Lists the servers that the code names and that are not known, so that exact names are known before it runs. */
export async function learnMentioned(source: string, parts: CatalogParts, signal?: AbortSignal): Promise<void> {
  // Denied tools are not stored: the server is listed, so that the error of such a call can explain it.
  const freshAs = (name: string) => (parts.catalog.find(name)?.denied === undefined ? "stored" : "listed");
  await learnAll(mentionedServers(source, parts), freshAs, parts, signal);
}

type CatalogParts = Pick<Parts, "catalog">;

/**
 * Lists the servers that the code names and that may have other tools by now: those that this process has not listed yet, and those that
 * announce changes. Returns false if there was none.
 */
export async function askAgain(
  source: string,
  parts: CatalogParts & Pick<Parts, "pool">,
  signal?: AbortSignal,
): Promise<boolean> {
  const { catalog, pool } = parts;
  const isListed = (name: string) => catalog.freshness(name) === "listed";
  const mentioned = mentionedServers(source, parts);
  const old = mentioned.filter((name) => !isListed(name));
  // What such a server has listed may have changed without a word.
  const growing = mentioned.filter((name) => isListed(name) && pool.announcesTools(name));
  const late = AbortSignal.timeout(firstAnswerMs);
  const over = signal ? AbortSignal.any([signal, late]) : late;
  await Promise.all([
    learnAll(old, () => "listed", parts, signal),
    ...growing.map((name) => catalog.verify(name, over).catch(() => {})),
  ]);
  return old.length + growing.length > 0;
}

/** The servers that the code names, without closed ones. */
function mentionedServers(written: string, parts: CatalogParts): string[] {
  const source = written.slice(0, maxSourceChars);
  return parts.catalog.names
    .filter(({ name }) => !parts.catalog.isClosed(name))
    .filter(({ name, jsName }) => mentions(source, name) || (jsName && mentions(source, jsName)))
    .map(({ name }) => name);
}

/** Servers that do not answer in time, or fail, stay as they are known. */
async function learnAll(
  names: string[],
  freshAs: (name: string) => "stored" | "listed",
  { catalog }: CatalogParts,
  signal: AbortSignal | undefined,
): Promise<void> {
  const wait = { waitMs: firstAnswerMs, signal };
  await Promise.all(names.map((name) => catalog.tools(name, { freshAs: freshAs(name), ...wait }).catch(() => {})));
}

/** Whether the text contains the name as a whole word. Strings and comments count: at worst, a server is listed needlessly. */
export function mentions(source: string, name: string): boolean {
  for (let at = source.indexOf(name); at !== -1; at = source.indexOf(name, at + 1)) {
    if (!isWordAt(source, at - 1) && !isWordAt(source, at + name.length)) return true;
  }
  return false;
}

/** Whether an ASCII letter, a digit, `_` or `$` is there. A regular expression would be slow: this runs for every occurrence. */
function isWordAt(source: string, at: number): boolean {
  const code = source.charCodeAt(at);
  const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
  return isLetter || (code >= 48 && code <= 57) || code === 95 || code === 36;
}

/** Tools that a name may have meant: by their own names, by other hosts' ways of naming them, by what the words say. */
import { nearNames } from "../../near-names.ts";
import type { KnownFunction, Namespace, Suggestion } from "../contract.ts";
import { calleeName } from "./corrected-call.ts";

export interface Meant {
  namespace: Namespace;
  tool: KnownFunction;
  callee: string;
}

function* allTools(namespaces: readonly Namespace[]): Generator<Meant> {
  for (const namespace of namespaces) {
    for (const tool of namespace.functions === "any" ? [] : namespace.functions) {
      yield { namespace, tool, callee: calleeName(namespace, tool) };
    }
  }
}

/** `mcp__demo__get_stock` and `demo_get_stock` name a tool in the way of other hosts. */
export function toolInName(name: string | undefined, namespaces: readonly Namespace[]): Meant | undefined {
  if (!name) return undefined;
  for (const meant of allTools(namespaces)) {
    const { namespace, tool } = meant;
    const servers = [namespace.name, namespace.jsName];
    const ends = servers.flatMap((server) =>
      [tool.name, tool.jsName].flatMap((each) => [`${server}__${each}`, `${server}_${each}`]),
    );
    if (ends.some((end) => name === end || name.endsWith(`__${end}`))) return meant;
  }
  return undefined;
}

/** The tools of that name, in any writing, of whatever server. */
export function toolsNamed(name: string, namespaces: readonly Namespace[]): Meant[] {
  const wanted = plain(name);
  return [...allTools(namespaces)].filter(({ tool }) => plain(tool.name) === wanted);
}

/** The one tool of a server that a name is another writing of: `listOrders`. */
export function renamed(name: string, functions: readonly KnownFunction[]): KnownFunction | undefined {
  const same = functions.filter((each) => plain(each.name) === plain(name));
  return same.length === 1 ? same[0] : undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

/** Signatures of those that may have been meant, by name first, then by what the words say. */
export function candidates(
  name: string,
  functions: readonly KnownFunction[],
  suggested: readonly Suggestion[],
  limit = 3,
): { names: string[]; signatures: string[] } {
  const names = functions.map((each) => each.jsName ?? each.name);
  const same = renamed(name, functions);
  if (same) return { names: [same.jsName ?? same.name], signatures: same.signature ? [same.signature] : [] };
  const near = nearNames(name, names, 2);
  const others = suggested.filter(({ name: found }) => !near.includes(found));
  const bySearch = near.length > 1 ? [] : others.slice(0, limit - near.length);
  const signatures = functions
    .filter((each) => near.includes(each.jsName ?? each.name))
    .sort((a, b) => near.indexOf(a.jsName ?? a.name) - near.indexOf(b.jsName ?? b.name))
    .flatMap(({ signature }) => signature ?? []);
  return {
    names: [...near, ...bySearch.map((each) => each.name)],
    signatures: [...signatures, ...bySearch.map((each) => each.signature)],
  };
}

/** The words of a name or an address, for a search. */
export function wordsOf(text: string): string {
  const words = text
    .replace(/\$\{[^}]*\}|process\.env\.\w+/g, " ")
    .replace(/https?:\/\/[^/\s"'`]+([^\s"'`?]*)(?:\?[^\s"'`]*)?/g, " $1 ")
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .split(/[^\p{L}]+/u)
    .filter(
      (word) =>
        word.length > 2 &&
        !/^(?:api|http|https|www|com|org|true|false|null|rest|url|const|await|select|from|where|insert|into|join|values)$/i.test(
          word,
        ),
    );
  return [...new Set([...words, ...words.flatMap((word) => synonyms[word.toLowerCase()] ?? [])])].join(" ");
}

/** Verbs that other interfaces use for the same. */
const synonyms: Record<string, string[]> = {
  __proto__: null as never,
  ...sameAs("create add write", "store save remember put set insert new make append upsert"),
  ...sameAs("read get open search", "retrieve fetch load recall lookup show query view"),
  ...sameAs("list", "all index browse"),
  ...sameAs("search", "find query filter"),
  ...sameAs("update", "edit modify change patch"),
  ...sameAs("delete", "remove drop erase"),
  ...sameAs("sum", "add plus total"),
  ...sameAs("send reply", "post respond answer mail message"),
};

const verbs = new Set([...Object.entries(synonyms).flat(2), "list", "get", "count", "fetch", "id"]);
const things = new Set(["mail", "message", "reply"]);

/** A word that says what is done and not with what. */
export function isVerb(word: string): boolean {
  return verbs.has(word.toLowerCase()) && !things.has(word.toLowerCase());
}

function sameAs(meant: string, words: string): Record<string, string[]> {
  return Object.fromEntries(words.split(" ").map((word) => [word, meant.split(" ")]));
}

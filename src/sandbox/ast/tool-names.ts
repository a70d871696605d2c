/** Finds the tools and keys that a wrong name may have meant. */
import { misspelling, nearNames } from "../../base/near-names.ts";
import type { Bindings, KnownFunction, Namespace } from "../contract.ts";
import { isCalled, type KnownNamespace } from "./tool-calls.ts";

export interface Meant {
  namespace: Namespace;
  tool: KnownFunction;
  callee: string;
}

/** A server as it is written in code: `demo`, `servers["my-server"]`. */
export function objectName({ name, jsName }: Pick<Namespace, "name" | "jsName">): string {
  return jsName ?? `servers[${JSON.stringify(name)}]`;
}

/** A tool as it is written in code: `demo.list_orders`, `demo["odd name"]`. */
export function calleeName(namespace: Pick<Namespace, "name" | "jsName">, tool: KnownFunction): string {
  const object = objectName(namespace);
  return tool.jsName === undefined ? `${object}[${JSON.stringify(tool.name)}]` : `${object}.${tool.jsName}`;
}

function* allTools(namespaces: readonly Namespace[]): Generator<Meant> {
  for (const namespace of namespaces) {
    for (const tool of namespace.functions === "any" ? [] : namespace.functions) {
      yield { namespace, tool, callee: calleeName(namespace, tool) };
    }
  }
}

/** The tool that other agents call `mcp__demo__get_stock` or `demo_get_stock`. */
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

/** The tools with that name on any server. Case, dashes and underscores do not count. */
export function toolsNamed(name: string, namespaces: readonly Namespace[]): Meant[] {
  return [...allTools(namespaces)].filter(({ tool }) => isSameName(tool.name, name));
}

/** Names of functions that call a tool by its name elsewhere: `callTool`, `invoke`, `use_mcp_tool`. */
export const callers = /^(?:call|invoke|execute|run|use|request)(?:_?(?:mcp_?)?tool)?$|^(?:use|call)_mcp_tool$/i;

/** The only tool with that name if case, dashes and underscores do not count: `listOrders` finds `list_orders`. */
export function renamed(name: string, functions: readonly KnownFunction[]): KnownFunction | undefined {
  const same = functions.filter((each) => isSameName(each.name, name));
  return same.length === 1 ? same[0] : undefined;
}

/** Whether two names have the same letters and digits: `totalCents` and `total_cents`. */
export function isSameName(a: string, b: string): boolean {
  const plain = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  return plain(a) === plain(b);
}

/**
 * The explanation for a tool that a server does not have. It names the tools that may have been meant (similar names first, then search
 * results), and all tools if none has a similar name.
 */
export function insteadOfTool(
  name: string,
  { name: server, functions }: KnownNamespace,
  suggest: Bindings["suggest"],
): { text: string; signatures: string[] } {
  const all = functions.map((each) => each.jsName ?? each.name);
  const same = renamed(name, functions);
  const near = same ? [same.jsName ?? same.name] : nearNames(name, all, 2);
  const found =
    suggest?.(wordsOf(name), 20).filter((each) => each.server === server && !near.includes(each.name)) ?? [];
  const bySearch = same || near.length > 1 ? [] : found.slice(0, 3 - near.length);
  const names = [...near, ...bySearch.map((each) => each.name)];
  const isClear = names.length > 0 && (all.length > 10 || nearNames(name, all).length > 0);
  const more = all.length > 20 ? ` and ${all.length - 20} more` : "";
  const texts = [
    names.length > 0 ? `Did you mean ${new Intl.ListFormat("en-GB", { type: "disjunction" }).format(names)}?` : "",
    isClear ? "" : `Its tools: ${all.slice(0, 20).join(", ") || "none"}${more}`,
  ];
  const signatures = near.flatMap((each) => functions.find((tool) => isCalled(tool, each))?.signature ?? []);
  return {
    text: texts.filter(Boolean).join(" "),
    signatures: [...signatures, ...bySearch.map((each) => each.signature)],
  };
}

const meaningless =
  /^(?:api|http|https|www|com|org|true|false|null|rest|url|const|await|select|from|where|insert|into|join|values)$/i;

/** The words of a name, an address or a piece of code, as a query for a search. */
export function wordsOf(text: string): string {
  const words = text
    .replace(/\$\{[^}]*\}|process\.env\.\w+/g, " ")
    .replace(/https?:\/\/[^/\s"'`]+([^\s"'`?]*)(?:\?[^\s"'`]*)?/g, " $1 ")
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .split(/[^\p{L}]+/u)
    .filter((word) => word.length > 2 && !meaningless.test(word));
  return [...new Set([...words, ...words.flatMap((word) => synonyms.get(word.toLowerCase()) ?? [])])].join(" ");
}

/** Verbs that tools here use, each with verbs of other interfaces for the same. */
const otherVerbs = {
  "create add write": "store save remember put set insert new make append upsert",
  "read get open search": "retrieve fetch load recall lookup show query view",
  list: "all index browse",
  search: "find query filter",
  update: "edit modify change patch",
  delete: "remove drop erase",
  sum: "add plus total",
  "send reply": "post respond answer mail message",
};
const synonyms = new Map(
  Object.entries(otherVerbs).flatMap(([here, others]) => others.split(" ").map((word) => [word, here.split(" ")])),
);

const verbs = new Set([...synonyms, "list", "get", "count", "fetch", "id"].flat(2));
const things = new Set(["mail", "message", "reply"]);

/** Whether a word names an action and not a thing. */
export function isVerb(word: string): boolean {
  return verbs.has(word.toLowerCase()) && !things.has(word.toLowerCase());
}

/**
 * The key that was meant: another spelling of the wanted one, or one that shares its words (`total_cents` for
 * `total`).
 */
export function meantKey(wanted: string, keys: readonly string[]): string | undefined {
  const words = partsOf(wanted);
  const close = misspelling(wanted, keys);
  if (close !== undefined) return close;
  const within = keys.filter((key) => {
    const others = partsOf(key);
    const [few, many] = words.length < others.length ? [words, others] : [others, words];
    return few.join("").length >= 3 && few.every((word) => many.includes(word));
  });
  return within.sort((a, b) => a.length - b.length)[0] ?? nearNames(wanted, keys, 1)[0];
}

function partsOf(name: string): string[] {
  return name
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
}

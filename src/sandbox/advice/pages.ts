/** How a tool returns its results in pages. */
import type { CallExpression } from "acorn";
import { isObject } from "../../base/json-object.ts";
import { keyName } from "../ast/nodes.ts";
import type { KnownFunction } from "../contract.ts";
import { keysOf } from "./shapes.ts";
import type { Surroundings } from "./surroundings.ts";

const nextKeys = /^(?:next_?(?:page_?)?(?:cursor|token|page)|cursor|(?:page_?)?token)$/i;
const cursorArguments = /^(?:(?:next_?)?(?:page_?)?(?:cursor|token)|after|page|offset)$/i;

export interface Paging {
  /** The argument for the next page, and the key of a result whose value it takes. */
  argument: string;
  key: string;
}

/** The paging of a tool, or undefined if its schema and its results show none. */
export function pagingOf(id: string, around: Surroundings): Paging | undefined {
  const properties = (knownTool(id, around)?.inputSchema as { properties?: unknown } | undefined)?.properties;
  const names = isObject(properties) ? Object.keys(properties) : [];
  const argument = names.find((name) => cursorArguments.test(name));
  const key = keysOf(around.resultsOf(id)).find((name) => nextKeys.test(name));
  return argument === undefined || key === undefined ? undefined : { argument, key };
}

/** The loop that reads all pages. */
export function pagesText({ argument, key }: Paging, callee: string): string {
  return `Pages: let ${argument}; do { const page = await ${callee}({ …, ${argument} }); ${argument} = page.${key} ?? undefined; } while (${argument}); (${key} is null on the last page).`;
}

export function knownTool(id: string, { namespaces }: Surroundings): KnownFunction | undefined {
  for (const { name, functions } of namespaces) {
    for (const each of functions === "any" ? [] : functions) if (`${name}.${each.name}` === id) return each;
  }
  return undefined;
}

/** The calls of a tool in the code. */
export function callsOf(id: string, { tree, values }: Surroundings): CallExpression[] {
  return tree.all("CallExpression").filter((call) => values.toolOf(call)?.tool === id);
}

/** The names of the arguments that are written in a call; undefined if it has none by name. */
export function argumentNames({ arguments: [first] }: CallExpression): (string | undefined)[] | undefined {
  if (first?.type !== "ObjectExpression") return undefined;
  return first.properties.map((each) => (each.type === "Property" ? keyName(each) : undefined));
}

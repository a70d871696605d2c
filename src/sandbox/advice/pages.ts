/** How a tool returns its results in pages. */
import type { CallExpression, Node, ObjectExpression, Property } from "acorn";
import { isObject } from "../../json-object.ts";
import { keyName } from "../ast/nodes.ts";
import type { KnownFunction } from "../contract.ts";
import type { SeenValues } from "./seen-values.ts";
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
export function pagingOf(tool: KnownFunction | undefined, results: readonly unknown[]): Paging | undefined {
  const properties = (tool?.inputSchema as { properties?: unknown } | undefined)?.properties;
  const argument = isObject(properties)
    ? Object.keys(properties).find((name) => cursorArguments.test(name))
    : undefined;
  const key = keysOf(results).find((name) => nextKeys.test(name));
  return argument === undefined || key === undefined ? undefined : { argument, key };
}

/** The loop that reads all pages. */
export function pagesText({ argument, key }: Paging, callee: string): string {
  return `Pages: let ${argument}; do { const page = await ${callee}({ …, ${argument} }); ${argument} = page.${key} ?? undefined; } while (${argument}); (${key} is null on the last page).`;
}

/** The names of the arguments that are written in a call. */
export function argumentNames(call: CallExpression): string[] {
  const [first] = call.arguments;
  if (first?.type !== "ObjectExpression") return [];
  return (first as ObjectExpression).properties.flatMap((each) =>
    each.type === "Property" ? (keyName(each as Property) ?? []) : [],
  );
}

export function knownTool(id: string, { scope }: Pick<Surroundings, "scope">): KnownFunction | undefined {
  for (const { name, functions } of scope.namespaces) {
    for (const each of functions === "any" ? [] : functions) if (`${name}.${each.name}` === id) return each;
  }
  return undefined;
}

/** The calls of a tool in the code. */
export function callsOf(id: string, values: SeenValues): CallExpression[] {
  return values.tree.all<CallExpression>("CallExpression").filter((call) => values.toolOf(call)?.tool === id);
}

const loops = new Set("WhileStatement DoWhileStatement ForStatement ForOfStatement ForInStatement".split(" "));

export function isLoop(node: Node): boolean {
  return loops.has(node.type);
}

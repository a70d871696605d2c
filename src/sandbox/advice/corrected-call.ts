/** A call as it should have been written, where that is plain. */
import type { CallExpression, Node } from "acorn";
import { checkArguments } from "../code/check-arguments.ts";
import type { KnownFunction, Namespace } from "../contract.ts";

const maxArguments = 160;

/** The name of a namespace's object in code: `demo`, `servers["my-server"]`. */
export function objectName({ name, jsName }: Pick<Namespace, "name" | "jsName">): string {
  return jsName ?? `servers[${JSON.stringify(name)}]`;
}

/** `demo.list_orders`, `demo["odd name"]`. */
export function calleeName(namespace: Pick<Namespace, "name" | "jsName">, tool: KnownFunction): string {
  const object = objectName(namespace);
  return tool.jsName === undefined ? `${object}[${JSON.stringify(tool.name)}]` : `${object}.${tool.jsName}`;
}

/** `await demo.list_orders({ status: "paid" })` with the arguments of a call; `…` where they are long or do not fit. */
export function correctedCall(call: CallExpression, callee: string, tool: KnownFunction, code: string): string {
  const [first] = call.arguments;
  const last = call.arguments.at(-1);
  const text = first && last ? code.slice(first.start, last.end) : "";
  const fits = text.length <= maxArguments && checkArguments(call, tool, callee, code).length === 0;
  return `await ${callee}(${fits ? text.replace(/\s+/g, " ") : "…"})`;
}

/** The call that a name is called by: `name(…)` or `name.member(…)`. */
export function callOf(name: Node, calls: readonly CallExpression[]): CallExpression | undefined {
  return calls
    .filter(({ callee }) => callee.start <= name.start && name.end <= callee.end)
    .sort((a, b) => a.end - a.start - (b.end - b.start))[0];
}

/** Which expressions are promises, whatever happens at run time. */
import type { CallExpression, Node } from "acorn";
import { calledFunction, type Scope } from "../check.ts";
import type { Source } from "./bindings.ts";
import { bare, isCall, isFunction, isMember, isNamed, propertyName } from "./nodes.ts";
import type { Tree } from "./tree.ts";

const combinators = new Set(["all", "allSettled", "race", "any", "resolve"]);

export interface PromiseOf {
  /** The call that made it. */
  call: CallExpression;
  /** As it is written, shortened: `demo.list_orders(…)`. */
  text: string;
}

/** The call whose promise this is, without an await. */
export function promiseOf(node: Node, tree: Tree, scope: Scope): PromiseOf | undefined {
  const value = bare(node);
  if (isCall(value))
    return isPromiseCall(value, tree, scope) ? { call: value, text: callText(value, tree) } : undefined;
  if (value.type !== "Identifier") return undefined;
  const [only, another] = tree.binding(value)?.sources ?? [];
  if (!only || another || only.kind !== "value" || only.path.length > 0) return undefined;
  const made = bare(only.node);
  return isCall(made) && isPromiseCall(made, tree, scope) ? { call: made, text: callText(made, tree) } : undefined;
}

function callText(call: CallExpression, tree: Tree): string {
  return `${tree.text(call.callee)}(${call.arguments.length > 0 ? "…" : ""})`;
}

function isPromiseCall(call: CallExpression, tree: Tree, scope: Scope): boolean {
  if (isToolCall(call, scope)) return true;
  const { callee } = call;
  if (isMember(callee) && isNamed(callee.object, "Promise") && !tree.binding(callee.object)) {
    return combinators.has(propertyName(callee) ?? "");
  }
  const [only, another] = callee.type === "Identifier" ? (tree.binding(callee)?.sources ?? []) : [];
  return !another && isAsync(only);
}

function isToolCall(call: CallExpression, scope: Scope): boolean {
  const called = calledFunction(call, scope);
  return called?.functions.some((each) => each.name === called.name || each.jsName === called.name) ?? false;
}

function isAsync(source: Source | undefined): boolean {
  return source?.kind === "function" && isFunction(source.node) && source.node.async && !source.node.generator;
}

/** Finds the expressions that are promises, whatever happens at run time. */
import type { CallExpression, Node } from "acorn";
import type { Source } from "./bindings.ts";
import { bare, isCall, isFunction, isMember, isNamed, propertyName } from "./nodes.ts";
import { calledTool, type Scope } from "./tool-calls.ts";
import type { Tree } from "./tree.ts";

const combinators = new Set(["all", "allSettled", "race", "any", "resolve"]);

export interface PromiseOf {
  /** The call that made it. */
  call: CallExpression;
  /** The call as it is written, without its arguments: `demo.list_orders(…)`. */
  text: string;
  /** The promise is an element of a list, so the whole list must be awaited. */
  list?: boolean;
}

/** The call whose promise an expression is, if it is not awaited. */
export function promiseOf(node: Node, tree: Tree, scope: Scope): PromiseOf | undefined {
  const value = bare(node);
  if (isCall(value))
    return isPromiseCall(value, tree, scope) ? { call: value, text: callText(value, tree) } : undefined;
  if (value.type !== "Identifier") return elementOf(value, tree, scope);
  const [only, another] = tree.binding(value)?.sources ?? [];
  if (!only || another) return undefined;
  const list = only.kind === "element" ? only.node : only.kind === "parameter" ? listOf(only, tree) : undefined;
  if (list && "path" in only && only.path.length === 0) return promiseList(list, tree, scope);
  if (only.kind !== "value" || only.path.length > 0) return undefined;
  const made = bare(only.node);
  return isCall(made) && isPromiseCall(made, tree, scope) ? { call: made, text: callText(made, tree) } : undefined;
}

/** `details[0]`, where details is a list of promises. */
function elementOf(node: Node, tree: Tree, scope: Scope): PromiseOf | undefined {
  if (!isMember(node) || !node.computed || node.object.type === "Super" || propertyName(node) !== undefined)
    return undefined;
  return promiseList(node.object, tree, scope);
}

const listMethods = /^(?:map|filter|forEach|find|findLast|some|every|flatMap|sort|toSorted)$/;

/** The list whose elements a callback receives. */
function listOf({ of, index }: Source & { kind: "parameter" }, tree: Tree): Node | undefined {
  const call = tree.parent(of);
  if (!isCall(call) || call.arguments[0] !== of || !isMember(call.callee) || call.callee.object.type === "Super")
    return undefined;
  const method = propertyName(call.callee) ?? "";
  return listMethods.test(method) && (index === 0 || /ort/.test(method)) ? call.callee.object : undefined;
}

/** `orders.map(async (o) => …)` is a list of promises. An await before it changes nothing. */
function promiseList(node: Node, tree: Tree, scope: Scope): PromiseOf | undefined {
  const value = bare(node);
  if (value.type === "AwaitExpression") return promiseList((value as Node & { argument: Node }).argument, tree, scope);
  if (value.type === "Identifier") {
    const made = tree.onlyValue(value);
    return made && !setsMembers(value, tree) ? promiseList(made, tree, scope) : undefined;
  }
  if (!isCall(value) || !isMember(value.callee) || propertyName(value.callee) !== "map") return undefined;
  const [callback] = value.arguments;
  if (!isFunction(callback) || !isList(value.callee.object, tree, scope)) return undefined;
  const { body } = callback;
  const gives = callback.async || (isCall(body) && isPromiseCall(body, tree, scope));
  return gives ? { call: value, text: `Promise.all(${tree.text(value.callee)}(…))`, list: true } : undefined;
}

const givingLists = /^(?:map|filter|slice|flat|flatMap|concat|sort|toSorted|reverse|toReversed)$/;

/**
 * Whether an expression is certainly a list or a part of a tool's value, and not an object of the program with its
 * own `map`.
 */
export function isList(given: Node, tree: Tree, scope: Scope): boolean {
  const node = bare(given);
  if (node.type === "ArrayExpression") return true;
  if (node.type === "AwaitExpression") return isList((node as Node & { argument: Node }).argument, tree, scope);
  if (isMember(node)) return isList(node.object, tree, scope);
  if (isCall(node)) {
    if (calledTool(node, scope)) return true;
    const { callee } = node;
    return isMember(callee) && givingLists.test(propertyName(callee) ?? "") && isList(callee.object, tree, scope);
  }
  const [only, another] = tree.binding(node)?.sources ?? [];
  return !another && (only?.kind === "value" || only?.kind === "element") && isList(only.node, tree, scope);
}

/** Whether the program assigns to properties or elements of a variable: `all[i] = await all[i]`. */
export function setsMembers(name: Node, tree: Tree): boolean {
  const references: Node[] = tree.binding(name)?.references ?? [];
  return references.some((each) => {
    const member = tree.parent(each);
    const outer = member && (tree.parent(member) as (Node & { left?: Node }) | undefined);
    return isMember(member) && outer?.type === "AssignmentExpression" && outer.left === member;
  });
}

function callText(call: CallExpression, tree: Tree): string {
  return `${tree.text(call.callee)}(${call.arguments.length > 0 ? "…" : ""})`;
}

function isPromiseCall(call: CallExpression, tree: Tree, scope: Scope): boolean {
  if (calledTool(call, scope)) return true;
  const { callee } = call;
  if (isMember(callee) && isNamed(callee.object, "Promise") && !tree.binding(callee.object)) {
    return combinators.has(propertyName(callee) ?? "");
  }
  const called = tree.onlyFunction(callee);
  return called?.async === true && !called.generator;
}

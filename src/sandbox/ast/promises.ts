/** Finds the expressions that are promises, whatever happens at run time. */
import type { CallExpression } from "acorn";
import { bare, isCall, isFunction, isMember, methodName, type Node, propertyName } from "./nodes.ts";
import { calledTool, isOfPages, type Scope } from "./tool-calls.ts";
import type { Source, Tree } from "./tree.ts";

export interface PromiseOf {
  /** The call that made it. */
  call: CallExpression;
  /** The call as it is written, without its arguments: `demo.list_orders(…)`. */
  text: string;
  /** The promise is an element of a list, so the whole list must be awaited. */
  list?: boolean;
}

/** The call whose promise an expression is, if it is not awaited. */
export function promiseOf(node: Node, scope: Scope): PromiseOf | undefined {
  const value = bare(node);
  if (isCall(value)) return madeBy(value, scope);
  // `details[0]`, where details is a list of promises.
  if (isMember(value) && value.computed && propertyName(value) === undefined) return promiseList(value.object, scope);
  const [only, another] = (value.type === "Identifier" && scope.tree.binding(value)?.sources) || [];
  if (!only || another || !("path" in only) || only.path.length > 0) return undefined;
  if (only.kind === "value") return isCall(bare(only.node)) ? promiseOf(only.node, scope) : undefined;
  const list = only.kind === "parameter" ? listOf(only, scope.tree) : only.node;
  return list && promiseList(list, scope);
}

/** The promise that a call returns. */
function madeBy(call: CallExpression, scope: Scope): PromiseOf | undefined {
  const text = `${scope.tree.text(call.callee)}(${call.arguments.length > 0 ? "…" : ""})`;
  return isPromiseCall(call, scope) ? { call, text } : undefined;
}

function isPromiseCall(call: CallExpression, scope: Scope): boolean {
  const { callee } = call;
  if (calledTool(call, scope)) return !isOfPages(call);
  const method = methodName(call, "Promise");
  if (method !== undefined && isMember(callee) && !scope.tree.binding(callee.object))
    return /^(?:all|allSettled|race|any|resolve)$/.test(method);
  const called = scope.tree.onlyFunction(callee);
  return called?.async === true && !called.generator;
}

/** The list whose elements a callback receives. */
function listOf({ of, index }: Extract<Source, { kind: "parameter" }>, tree: Tree): Node | undefined {
  const call = tree.parent(of);
  const method = methodName(call) ?? "";
  if (!isCall(call) || !isMember(call.callee) || call.arguments[0] !== of) return undefined;
  const takesElements = /^(?:map|filter|forEach|find|findLast|some|every|flatMap|sort|toSorted)$/.test(method);
  return takesElements && (index === 0 || /sort/i.test(method)) ? call.callee.object : undefined;
}

/** `orders.map(async (o) => …)` is a list of promises. An await before it changes nothing. */
function promiseList(node: Node, scope: Scope): PromiseOf | undefined {
  const { tree } = scope;
  const value = bare(node);
  if (value.type === "AwaitExpression") return promiseList(value.argument, scope);
  if (value.type === "Identifier") {
    const made = tree.onlyValue(value);
    return made && !setsMembers(value, tree) ? promiseList(made, scope) : undefined;
  }
  if (!isCall(value) || !isMember(value.callee) || methodName(value) !== "map") return undefined;
  const [callback] = value.arguments;
  if (!isFunction(callback) || !isList(value.callee.object, scope)) return undefined;
  const gives = callback.async || (isCall(callback.body) && isPromiseCall(callback.body, scope));
  return gives ? { call: value, text: `Promise.all(${tree.text(value.callee)}(…))`, list: true } : undefined;
}

const givingLists = /^(?:map|filter|slice|flat|flatMap|concat|sort|toSorted|reverse|toReversed)$/;

/**
 * Whether an expression is certainly a list or a part of a tool's value, and not an object of the program with its
 * own `map`.
 */
export function isList(given: Node, scope: Scope): boolean {
  const node = bare(given);
  if (node.type === "ArrayExpression") return true;
  if (node.type === "AwaitExpression") return isList(node.argument, scope);
  if (isMember(node)) return isList(node.object, scope);
  if (isCall(node)) {
    const isGiven = isMember(node.callee) && givingLists.test(methodName(node) ?? "");
    return (calledTool(node, scope) !== undefined && !isOfPages(node)) || (isGiven && isList(node.callee, scope));
  }
  const [only, another] = scope.tree.binding(node)?.sources ?? [];
  return !another && (only?.kind === "value" || only?.kind === "element") && isList(only.node, scope);
}

/** Whether the program assigns to properties or elements of a variable: `all[i] = await all[i]`. */
export function setsMembers(name: Node, tree: Tree): boolean {
  const references = tree.binding(name)?.references ?? [];
  return references.some((each) => {
    const member = tree.parent(each);
    const outer = member && tree.parent(member);
    return isMember(member) && outer?.type === "AssignmentExpression" && outer.left === member;
  });
}

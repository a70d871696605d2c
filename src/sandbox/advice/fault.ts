/** Finds the expression that an error of the engine is about. The engine tells only a position, not the expression. */
import type { CallExpression, Expression, Node } from "acorn";
import { isCall, isFunction, isMember, isNamed, propertyName } from "../ast/nodes.ts";
import type { Tree } from "../ast/tree.ts";
import type { Failing } from "./surroundings.ts";

export interface Fault {
  node: Node;
  /** Whether the expression was undefined, or something else than expected. */
  is: "undefined" | "other";
  message: string;
  /** Offset of the expression, if the engine told another place. */
  at?: number;
}

export function faultOf({ message, name, at }: Failing, tree: Tree): Fault | undefined {
  if (at === undefined || name !== "TypeError") return undefined;
  const [, verb, property, nothing] =
    /^cannot (read|set) property(?: '(.*)')? of (undefined|null)$/.exec(message) ?? [];
  if (property === "Symbol.iterator") return iterated(at, tree, nothing ?? "undefined");
  if (verb) return memberOf(at, tree, verb, nothing ?? "undefined");
  if (message === "not a function") return called(at, tree);
  if (/not iterable|^not an object$/.test(message)) return iterated(at, tree, undefined);
  return message === "cannot convert to object" ? converted(at, tree) : undefined;
}

/** The engine tells the position after the object. */
function memberOf(at: number, tree: Tree, verb: string, nothing: string): Fault | undefined {
  const members = tree.nodes.filter(isMember).filter((node) => node.object.end <= at && at <= node.property.start);
  const member = smallest(members);
  if (!member) return undefined;
  const { object } = member;
  const part = member.computed
    ? tree.code.slice(object.end, member.end).replace(/^\?\./, "")
    : `.${propertyName(member)}`;
  const what = verb === "set" ? "cannot be set" : "cannot be read";
  return {
    node: object,
    is: "undefined",
    message: `${shownExpression(object, tree)} is ${nothing}, so ${shortened(part)} ${what}`,
  };
}

function called(at: number, tree: Tree): Fault | undefined {
  const calls = tree.nodes.filter((node): node is CallExpression => isCall(node) || node.type === "NewExpression");
  const call = smallest(calls.filter(({ callee, end }) => callee.end <= at && at < end && isOpening(at, callee, tree)));
  return call && { node: call.callee, is: "other", message: `${shownExpression(call.callee, tree)} is not a function` };
}

/** Whether only parentheses and spaces are between the callee and the position. */
function isOpening(at: number, callee: Node, tree: Tree): boolean {
  return /^[\s(]*(?:\?\.)?$/.test(tree.code.slice(callee.end, at));
}

function iterated(at: number, tree: Tree, nothing: string | undefined): Fault | undefined {
  const loops = tree.all<Node & { right: Expression }>("ForOfStatement").map(({ right }) => right);
  const spreads = tree.all<Node & { argument: Expression }>("SpreadElement").map(({ argument }) => argument);
  const given = tree.nodes
    .filter(isTakingList)
    .flatMap(({ callee, arguments: [first] }) => (first && callee.end <= at ? [first] : []));
  const here = [...loops, ...spreads, ...given].filter((node) => node.start - 1 <= at && at <= node.end);
  const patterns = tree
    .all<Node & { id: Node; init?: Expression }>("VariableDeclarator")
    .filter(({ id }) => id.type === "ArrayPattern")
    .flatMap(({ init }) => init ?? []);
  const node = smallest(here) ?? only(patterns);
  if (!node) return undefined;
  const message = `${shownExpression(node, tree)} is ${nothing ?? "not iterable"}${nothing ? ", so it cannot be iterated" : ""}`;
  return { node, is: nothing ? "undefined" : "other", message, ...(here.length === 0 ? { at: node.start } : {}) };
}

/** Calls that iterate over their first argument: `new Map(list)`, `Promise.all(list)`, `Object.fromEntries(list)`. */
function isTakingList(node: Node): node is CallExpression {
  if (node.type !== "NewExpression" && !isCall(node)) return false;
  const { callee } = node as CallExpression;
  if (node.type === "NewExpression") return callee.type === "Identifier" && /^(?:Weak)?(?:Map|Set)$/.test(callee.name);
  return isMember(callee) && /^(?:all|allSettled|race|any|fromEntries)$/.test(propertyName(callee) ?? "");
}

/** `Object.entries(undefined)`, or a pattern that destructures undefined. */
function converted(at: number, tree: Tree): Fault | undefined {
  const calls = tree.nodes.filter(isCall).filter(({ callee, end }) => callee.end <= at && at < end);
  const call = smallest(calls.filter(({ callee }) => isOpening(at, callee, tree)));
  const [first] = call?.arguments ?? [];
  if (call && isMember(call.callee) && isNamed(call.callee.object, "Object") && first) {
    return {
      node: first,
      is: "undefined",
      message: `${shownExpression(first, tree)} is undefined or null, not an object`,
    };
  }
  const patterns = tree
    .all<Node & { id: Node; init?: Expression }>("VariableDeclarator")
    .filter(({ id }) => id.type === "ObjectPattern")
    .flatMap(({ init }) => init ?? []);
  const node = only(patterns);
  if (!node || isFunction(first)) return undefined;
  return {
    node,
    is: "undefined",
    message: `${shownExpression(node, tree)} is undefined or null and cannot be destructured`,
    at: node.start,
  };
}

function only<T>(list: T[]): T | undefined {
  return list.length === 1 ? list[0] : undefined;
}

function smallest<T extends Node>(nodes: T[]): T | undefined {
  return nodes.sort((a, b) => a.end - a.start - (b.end - b.start))[0];
}

/** An expression on one line, without the arguments of calls, and shortened. */
export function shownExpression(node: Node, tree: Tree): string {
  if (isCall(node)) return `${shownExpression(node.callee, tree)}(${node.arguments.length > 0 ? "…" : ""})`;
  if (isMember(node) && node.object.type !== "Super") {
    const rest = tree.code.slice(node.object.end, node.end).replace(/\s+/g, "");
    const object = shownExpression(node.object, tree);
    return `${node.object.type === "AwaitExpression" ? `(${object})` : object}${shortened(rest)}`;
  }
  if (node.type === "AwaitExpression")
    return `await ${shownExpression((node as Node & { argument: Node }).argument, tree)}`;
  return shortened(tree.text(node).replace(/\s+/g, " "));
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

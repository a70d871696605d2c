/** Finds the expression that an error of the engine is about. The engine tells only a position, not the expression. */
import { isCall, isFunction, isInside, isMember, methodName, type Node, propertyName } from "../ast/nodes.ts";
import type { Tree } from "../ast/tree.ts";
import type { Failing } from "./surroundings.ts";

export interface FaultyExpression {
  node: Node;
  /** Whether the expression was undefined, or something else than expected. */
  is: "undefined" | "other";
  message: string;
  /** Offset of the expression, if the engine named another place. */
  at?: number;
}

export function faultOf({ message, name, at }: Failing, tree: Tree): FaultyExpression | undefined {
  if (at === undefined || name !== "TypeError") return undefined;
  const [, verb, property, nothing = "undefined"] =
    /^cannot (read|set) property(?: '(.*)')? of (undefined|null)$/.exec(message) ?? [];
  if (property === "Symbol.iterator") return iterated(at, tree, nothing);
  if (verb) return memberOf(at, tree, verb, nothing);
  if (message === "not a function") return called(at, tree);
  if (/not iterable|^not an object$/.test(message)) return iterated(at, tree, undefined);
  return message === "cannot convert to object" ? converted(at, tree) : undefined;
}

/** The engine tells the position after the object. */
function memberOf(at: number, tree: Tree, verb: string, nothing: string): FaultyExpression | undefined {
  const member = tree.all("MemberExpression").findLast((node) => node.object.end <= at && at <= node.property.start);
  if (!member) return undefined;
  const { object } = member;
  const part = member.computed
    ? tree.code.slice(object.end, member.end).replace(/^\?\./, "")
    : `.${propertyName(member)}`;
  const what = verb === "set" ? "cannot be set" : "cannot be read";
  const message = `${shownExpression(object, tree)} is ${nothing}, so ${shortened(part)} ${what}`;
  return { node: object, is: "undefined", message };
}

function called(at: number, tree: Tree): FaultyExpression | undefined {
  const callee = callOpenedAt(at, tree)?.callee;
  return callee && { node: callee, is: "other", message: `${shownExpression(callee, tree)} is not a function` };
}

/** The call whose opening parenthesis is at the position. */
function callOpenedAt(at: number, tree: Tree) {
  const call = tree.callAt(at);
  return call && /^[\s(]*(?:\?\.)?$/.test(tree.code.slice(call.callee.end, at)) ? call : undefined;
}

function iterated(at: number, tree: Tree, nothing: string | undefined): FaultyExpression | undefined {
  const around = functionAt(at, tree);
  const here = tree.nodes
    .flatMap((node) => iteratedBy(node, at))
    .findLast((node) => node.start - 1 <= at && at <= node.end && tree.functionAround(node) === around);
  const other = here ? undefined : onlyDestructured("ArrayPattern", at, tree);
  const node = here ?? other?.node;
  if (!node) return undefined;
  const message = `${other?.name ?? shownExpression(node, tree)} is ${nothing ?? "not iterable"}${nothing ? ", so it cannot be iterated" : ""}`;
  return { node, is: nothing ? "undefined" : "other", message, ...(here ? {} : { at: node.start }) };
}

/** What a node iterates over: in a loop, a spread, `new Map(list)`, `Promise.all(list)`, `Object.fromEntries(list)`. */
function iteratedBy(node: Node, at: number): Node[] {
  if (node.type === "ForOfStatement") return [node.right];
  if (node.type === "SpreadElement") return [node.argument];
  const takesList =
    node.type === "NewExpression"
      ? node.callee.type === "Identifier" && /^(?:Weak)?(?:Map|Set)$/.test(node.callee.name)
      : /^(?:all|allSettled|race|any|fromEntries)$/.test(methodName(node) ?? "");
  if (!takesList || !(node.type === "NewExpression" || isCall(node)) || node.callee.end > at) return [];
  return node.arguments.slice(0, 1);
}

/** `Object.entries(undefined)`, or a pattern that destructures undefined. */
function converted(at: number, tree: Tree): FaultyExpression | undefined {
  const call = callOpenedAt(at, tree);
  const given = methodName(call, "Object") === undefined ? undefined : call?.arguments[0];
  if (given) {
    const message = `${shownExpression(given, tree)} is undefined or null, not an object`;
    return { node: given, is: "undefined", message };
  }
  const other = onlyDestructured("ObjectPattern", at, tree);
  if (!other) return undefined;
  const message = `${other.name} is undefined or null and cannot be destructured`;
  return { node: other.node, is: "undefined", message, at: other.node.start };
}

interface Destructured {
  node: Node;
  /** The value, or one of its parts. */
  name: string;
}

/**
 * The only value that patterns of one type may have failed to take apart. The engine has no position for that: it tells the last call
 * before it in the same function, or the function. Lists and objects that are written out do not fail.
 */
function onlyDestructured(type: "ArrayPattern" | "ObjectPattern", at: number, tree: Tree): Destructured | undefined {
  const around = functionAt(at, tree);
  const all = tree.nodes.flatMap((node) => {
    const found = takenApart(node, type);
    const isAfter =
      found !== undefined && found.end >= at && (isFunction(node) ? node : tree.functionAround(node)) === around;
    return isAfter && !/^(?:Array|Object)Expression$/.test(found.type) ? [{ node, found }] : [];
  });
  const [first, ...others] = all;
  // A pattern within the first one takes a part of the same value.
  if (!first || others.some(({ node }) => !isInside(node, first.node))) return undefined;
  const shown = shownExpression(first.found, tree);
  return { node: first.found, name: others.length === 0 ? shown : `${shown} or a part of it` };
}

/** `list` of `const [a] = list`, `[a] = list` and `const { b: [a] } = list`: an expression, or a pattern for a part or a parameter. */
function takenApart(node: Node, type: "ArrayPattern" | "ObjectPattern"): Node | undefined {
  if (node.type === "VariableDeclarator") return node.id.type === type && node.init ? node.init : undefined;
  if (node.type === "AssignmentExpression") return node.left.type === type ? node.right : undefined;
  if (node.type === "ForOfStatement") {
    const [declared] = node.left.type === "VariableDeclaration" ? node.left.declarations : [];
    return declared?.id.type === type ? declared.id : undefined;
  }
  if (isFunction(node)) return node.params.find((each) => each.type === type);
  if (node.type === "Property") return node.value.type === type ? node.value : undefined;
  return node.type === "ArrayPattern" ? (node.elements.find((each) => each?.type === type) ?? undefined) : undefined;
}

/** The innermost function at an offset, which may be where the function begins. Undefined outside of functions. */
function functionAt(at: number, tree: Tree): Node | undefined {
  return tree.nodes.filter(isFunction).findLast((node) => node.start <= at && at <= node.end);
}

/** An expression on one line, without the arguments of calls, and shortened. */
export function shownExpression(node: Node, tree: Tree): string {
  if (isCall(node)) return `${shownExpression(node.callee, tree)}(${node.arguments.length > 0 ? "…" : ""})`;
  if (isMember(node)) {
    const rest = tree.code.slice(node.object.end, node.end).replace(/\s+/g, "");
    const object = shownExpression(node.object, tree);
    return `${node.object.type === "AwaitExpression" ? `(${object})` : object}${shortened(rest)}`;
  }
  if (node.type === "AwaitExpression") return `await ${shownExpression(node.argument, tree)}`;
  return shortened(tree.text(node).replace(/\s+/g, " "));
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

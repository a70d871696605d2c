/** Properties that a program reads and that no value of its tools has. */
import type { MemberExpression, Node } from "acorn";
import { isObject } from "../../json-object.ts";
import { isCall, isMember, propertyName } from "../ast/nodes.ts";
import { meantKey } from "../ast/tool-names.ts";
import type { Tree } from "../ast/tree.ts";
import type { Seen } from "./seen.ts";
import type { SeenValues } from "./seen-values.ts";
import { keysOf, shapeOf } from "./shapes.ts";

export interface Missing {
  node: Node;
  /** The object that it is read from, as it is written in the code. */
  object: string;
  property: string;
  seen: Seen;
  meant: string | undefined;
  line: number;
}

/**
 * The missing properties in the order of the code, without those that the program may set itself. `guarded` asks for
 * the ones that the program tests for or replaces.
 */
export function missingProperties(values: SeenValues, guarded = false): Missing[] {
  const { tree } = values;
  const written = writtenNames(tree);
  const read = tree.all<MemberExpression>("MemberExpression").flatMap((node) => {
    const property = propertyName(node);
    if (property === undefined || written.has(property) || isGuarded(node, tree) !== guarded) return [];
    return missingIn(node, node.object, property, values) ?? [];
  });
  return [...read, ...(guarded ? [] : destructured(values, written))].sort((a, b) => a.node.start - b.node.start);
}

/** The missing property at one place, whether or not the program expects that it may be missing. */
export function missingAt(node: MemberExpression, values: SeenValues): Missing | undefined {
  const property = propertyName(node);
  return property === undefined ? undefined : missingIn(node, node.object, property, values);
}

function missingIn(node: Node, object: Node, property: string, values: SeenValues): Missing | undefined {
  const seen = values.of(object);
  if (!seen || seen.promised || seen.tool === undefined || !lacks(seen.values, property)) return undefined;
  const { tree } = values;
  const meant = meantKey(property, keysOf(seen.values));
  return { node, object: tree.text(object), property, seen, meant, line: tree.line(node) };
}

function lacks(all: readonly unknown[], property: string): boolean {
  const values = all.filter((value) => value !== null && value !== undefined);
  if (values.length === 0) return false;
  if (values.every(isObject)) return !values.some((value) => property in value);
  if (values.every(Array.isArray)) return !(property in Array.prototype) && !values.some((value) => property in value);
  if (values.every((value) => typeof value === "string")) return !(property in String.prototype);
  return values.every((value) => typeof value === "number") && !(property in Number.prototype);
}

/** `const { total } = order`, `({ total }) => …`: names without a default. */
function destructured(values: SeenValues, written: ReadonlySet<string>): Missing[] {
  const { tree } = values;
  return tree.all<Node & { id: Node; init?: Node }>("VariableDeclarator").flatMap(({ id, init }) => {
    if (id.type !== "ObjectPattern" || !init) return [];
    const { properties } = id as Node & { properties: (Node & { key?: Node; value?: Node; computed?: boolean })[] };
    return properties.flatMap((each) => {
      const { key, value, computed } = each;
      if (key?.type !== "Identifier" || computed || value?.type === "AssignmentPattern") return [];
      const name = tree.text(key);
      return (written.has(name) ? undefined : missingIn(key, init, name, values)) ?? [];
    });
  });
}

/**
 * Names of properties that the program sets on some object: `o.name = …`, `Object.assign(o, { name })`, `{ ...o, name
 * }`.
 */
function writtenNames(tree: Tree): Set<string> {
  const names = new Set<string>();
  const add = (node: Node | undefined) => {
    const name = isMember(node) ? propertyName(node) : undefined;
    if (name !== undefined) names.add(name);
  };
  for (const { left } of tree.all<Node & { left: Node }>("AssignmentExpression")) add(left);
  for (const { argument } of tree.all<Node & { argument: Node }>("UpdateExpression")) add(argument);
  for (const call of tree.nodes.filter(isCall)) {
    if (!/^(?:Object\.(?:assign|defineProperty|defineProperties)|Reflect\.set)$/.test(tree.text(call.callee))) continue;
    for (const name of tree.text(call).match(/[\w$]+/g) ?? []) names.add(name);
  }
  return names;
}

/** Whether the program tests for the property, or replaces it if it is missing. */
function isGuarded(node: MemberExpression, tree: Tree): boolean {
  let inner: Node = node;
  for (const outer of tree.ancestors(node)) {
    const { test, left, operator } = outer as Node & { test?: Node; left?: Node; operator?: string };
    switch (outer.type) {
      case "ChainExpression":
        inner = outer;
        continue;
      case "MemberExpression":
        if ((outer as MemberExpression).object === inner && (outer as MemberExpression).optional) return true;
        return false;
      case "CallExpression":
        return (outer as Node & { optional?: boolean }).optional === true || tree.text(outer).startsWith("Boolean(");
      case "LogicalExpression":
        return left === inner || operator !== "??" ? true : isTested(outer, tree);
      case "UnaryExpression":
        return /^(?:!|typeof|delete|void)$/.test(operator ?? "");
      case "BinaryExpression":
        return /^(?:[!=]==?|in)$/.test(operator ?? "");
      case "IfStatement":
      case "ConditionalExpression":
      case "WhileStatement":
        return test === inner;
      case "AssignmentExpression":
        return left === inner;
      case "ArrowFunctionExpression":
      case "ReturnStatement":
        // The answer of the callback of `filter` and the like.
        return isPredicate(outer, tree);
      default:
        return false;
    }
  }
  return false;
}

function isTested(node: Node, tree: Tree): boolean {
  const parent = tree.parent(node) as (Node & { test?: Node }) | undefined;
  return parent?.test === node;
}

function isPredicate(node: Node, tree: Tree): boolean {
  const isArrow = node.type === "ArrowFunctionExpression";
  const callback = isArrow ? node : [...tree.ancestors(node)].find((each) => each.type.includes("Function"));
  const call = callback && tree.parent(callback);
  if (!isCall(call) || !isMember(call.callee)) return false;
  return /^(?:filter|find|findLast|findIndex|some|every)$/.test(propertyName(call.callee) ?? "");
}

/** `order.total: demo.list_orders gave { id, total_cents }. Did you mean total_cents?` */
export function missingText({ object, property, seen, meant }: Missing): string {
  if (seen.values.every((value) => typeof value === "string")) {
    return seen.values.every((value) => String(value).length <= 2)
      ? `${object} is one character of a string and has no ${property}: loop over text.split("\\n").`
      : `${object} is a string and has no ${property}.`;
  }
  if (seen.values.every((value) => typeof value === "number")) return `${object} is a number and has no ${property}.`;
  const keys = seen.whole ? `: ${seen.call} returns` : ", only";
  return `${object} has no "${property}"${keys} ${shapeOf(seen.values)}.${meant ? ` Did you mean ${meant}?` : ""}`;
}

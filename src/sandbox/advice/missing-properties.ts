/** Finds properties that a program reads but no value of its tools has. */
import type { MemberExpression } from "acorn";
import { isObject } from "../../base/json-object.ts";
import { isFunction, isMember, methodName, type Node, propertyName } from "../ast/nodes.ts";
import { meantKey } from "../ast/tool-names.ts";
import type { Tree } from "../ast/tree.ts";
import { mayNotHaveRun } from "./guards.ts";
import type { Seen } from "./seen.ts";
import { areTexts, keysOf, shapeOf } from "./shapes.ts";
import type { Surroundings } from "./surroundings.ts";

export interface Missing {
  node: Node;
  /** The object that it is read from, as it is written in the code. */
  object: string;
  property: string;
  seen: Seen;
  meant: string | undefined;
  /** The key below which every value has the property: `result` for `{ result: { orders } }`. */
  below: string | undefined;
  line: number;
}

/**
 * The missing properties in the order of the code, without properties that the program may set itself. `guarded` asks for
 * the ones that the program tests for or replaces.
 */
export function missingProperties(around: Surroundings, guarded = false): Missing[] {
  const { tree } = around;
  const written = writtenNames(tree);
  const read = tree.all("MemberExpression").flatMap((node) => {
    return isGuarded(node, tree) === guarded ? (missingAt(node, around) ?? []) : [];
  });
  const all = guarded ? read : [...read, ...destructured(around)];
  const certain = all.filter(({ node, property }) => !written.has(property) && !mayNotHaveRun(node, around));
  return certain.sort((a, b) => a.node.start - b.node.start);
}

/** The missing property at one place, whether or not the program expects that it may be missing. */
export function missingAt(node: MemberExpression, around: Surroundings): Missing | undefined {
  const property = propertyName(node);
  return property === undefined ? undefined : missingIn(node, node.object, property, around);
}

function missingIn(node: Node, object: Node, property: string, { tree, values }: Surroundings): Missing | undefined {
  const seen = values.of(object);
  if (!seen || seen.promised || seen.tool === undefined || !lacks(seen.values, property)) return undefined;
  const meant = meantKey(property, keysOf(seen.values));
  const below = keyAbove(property, seen.values);
  return { node, object: tree.text(object), property, seen, meant, below, line: tree.line(node) };
}

/** The only key below which all values have the property. */
function keyAbove(property: string, values: readonly unknown[]): string | undefined {
  const records = values.filter(isObject);
  const keys = keysOf(records.slice(0, 1)).filter((key) =>
    records.every(({ [key]: inner }) => isObject(inner) && Object.hasOwn(inner, property)),
  );
  return keys.length === 1 ? keys[0] : undefined;
}

function lacks(all: readonly unknown[], property: string): boolean {
  const values = all.filter((value) => value !== null && value !== undefined);
  if (values.length === 0) return false;
  if (values.every(isObject)) return !values.some((value) => property in value);
  if (values.every(Array.isArray)) return !(property in Array.prototype) && !values.some((value) => property in value);
  if (areTexts(values)) return !(property in String.prototype);
  return values.every((value) => typeof value === "number") && !(property in Number.prototype);
}

/** `const { total } = order`: names without a default. */
function destructured(around: Surroundings): Missing[] {
  return around.tree.all("VariableDeclarator").flatMap(({ id, init }) => {
    if (id.type !== "ObjectPattern" || !init) return [];
    return id.properties.flatMap((each) => {
      const isName = each.type === "Property" && each.key.type === "Identifier" && !each.computed;
      if (!isName || each.value.type === "AssignmentPattern") return [];
      return missingIn(each.key, init, around.tree.text(each.key), around) ?? [];
    });
  });
}

/** Names of properties that the program sets on some object: `o.name = …`, `Object.assign(o, { name })`. */
function writtenNames(tree: Tree): Set<string> {
  const targets = [
    ...tree.all("AssignmentExpression").map(({ left }) => left),
    ...tree.all("UpdateExpression").map(({ argument }) => argument),
  ];
  const setters = tree.all("CallExpression").filter(({ callee }) => {
    return /^(?:Object\.(?:assign|defineProperty|defineProperties)|Reflect\.set)$/.test(tree.text(callee));
  });
  return new Set([
    ...targets.flatMap((each) => (isMember(each) ? (propertyName(each) ?? []) : [])),
    ...setters.flatMap((call) => tree.text(call).match(/[\w$]+/g) ?? []),
  ]);
}

/** Whether the program tests for the property, or replaces it if it is missing. */
function isGuarded(node: MemberExpression, tree: Tree): boolean {
  let inner: Node = node;
  for (const outer of tree.ancestors(node)) {
    switch (outer.type) {
      case "ChainExpression":
        inner = outer;
        continue;
      case "MemberExpression":
        return outer.object === inner && outer.optional;
      case "CallExpression":
        return outer.optional || tree.text(outer).startsWith("Boolean(");
      case "LogicalExpression": {
        const parent = tree.parent(outer);
        return (
          outer.left === inner ||
          outer.operator !== "??" ||
          (parent && "test" in parent && parent.test === outer) === true
        );
      }
      case "UnaryExpression":
        return /^(?:!|typeof|delete|void)$/.test(outer.operator);
      case "BinaryExpression":
        return /^(?:[!=]==?|in)$/.test(outer.operator);
      case "IfStatement":
      case "ConditionalExpression":
      case "WhileStatement":
        return outer.test === inner;
      case "AssignmentExpression":
        return outer.left === inner;
      case "ArrowFunctionExpression":
      case "ReturnStatement": {
        // The answer of the callback of `filter` and the like.
        const callback = isFunction(outer) ? outer : tree.functionAround(outer);
        const call = callback && tree.parent(callback);
        return /^(?:filter|find|findLast|findIndex|some|every)$/.test(methodName(call) ?? "");
      }
      default:
        return false;
    }
  }
  return false;
}

/** `order has no "total", only { id, total_cents }. Did you mean total_cents?` */
export function missingText({ object, property, seen, meant, below }: Missing): string {
  const [first] = seen.values;
  if (areTexts(seen.values)) {
    return seen.values.every((value) => value.length <= 2)
      ? `${object} is one character of a string and has no ${property}: loop over text.split("\\n").`
      : `${object} is a string and has no ${property}.`;
  }
  if (typeof first === "number") return `${object} is a number and has no ${property}.`;
  const keys = seen.whole ? `: ${seen.call} returns` : ", only";
  // A call in front of the path would be made again.
  const path = /^[\w$.]+$/.test(object) ? `${object}.` : "";
  const meantText = meant ? ` Did you mean ${meant}?` : "";
  const advice = below === undefined ? meantText : ` It is one level below: ${path}${below}.${property}.`;
  return `${object} has no "${property}"${keys} ${shapeOf(seen.values)}.${advice}`;
}

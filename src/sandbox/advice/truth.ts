/** Derives whether a condition was true from the values that were seen: `Array.isArray(x)`, `"id" in x`, `x.items`. */
import type { BinaryExpression, CallExpression, Expression } from "acorn";
import { isObject } from "../../base/json-object.ts";
import { bare, isCall, isMember, isNamed, methodName, type Node, propertyName } from "../ast/nodes.ts";
import type { Seen } from "./seen.ts";

type ValuesOf = (node: Node) => Seen | undefined;

/** Undefined if it is not known, or if it was not the same for all values. */
export function truthOf(test: Node, valuesOf: ValuesOf): boolean | undefined {
  const node = bare(test);
  switch (node.type) {
    case "UnaryExpression": {
      const truth = node.operator === "!" ? truthOf(node.argument, valuesOf) : undefined;
      return truth === undefined ? undefined : !truth;
    }
    case "LogicalExpression":
      return ofLogical(node.operator, truthOf(node.left, valuesOf), truthOf(node.right, valuesOf));
    case "BinaryExpression":
      return ofComparison(node, valuesOf);
    case "CallExpression":
      return ofCall(node, valuesOf);
    case "Identifier":
      return same(node, valuesOf, Boolean);
    case "MemberExpression": {
      const name = propertyName(node);
      return name === undefined ? undefined : same(node.object, valuesOf, (value) => Boolean(propertyOf(value, name)));
    }
    default:
      return undefined;
  }
}

function ofLogical(operator: string, left: boolean | undefined, right: boolean | undefined): boolean | undefined {
  const all = [left, right];
  if (operator === "&&") return all.includes(false) ? false : left && right;
  if (operator === "||") return all.includes(true) ? true : all.includes(undefined) ? undefined : false;
  return undefined;
}

function ofComparison({ operator, left, right }: BinaryExpression, valuesOf: ValuesOf): boolean | undefined {
  if (operator === "in") {
    const key = left.type === "Literal" ? String(left.value) : undefined;
    return key === undefined ? undefined : same(right, valuesOf, (value) => hasProperty(value, key));
  }
  if (operator === "instanceof") {
    return isNamed(right, "Array") ? same(left as Expression, valuesOf, Array.isArray) : undefined;
  }
  if (!/^[!=]==?$/.test(operator)) return undefined;
  const isEqual =
    comparedTypes(left as Expression, right, valuesOf) ?? comparedNothing(left as Expression, right, valuesOf);
  return isEqual === undefined ? undefined : isEqual === !operator.startsWith("!");
}

/** `typeof x === "string"`. */
function comparedTypes(left: Expression, right: Expression, valuesOf: ValuesOf): boolean | undefined {
  const [asked, type] = right.type === "Literal" ? [left, right] : [right, left];
  if (asked.type !== "UnaryExpression" || asked.operator !== "typeof" || type.type !== "Literal") return undefined;
  const argument = bare(asked.argument);
  const name = isMember(argument) ? propertyName(argument) : undefined;
  if (!isMember(argument)) return same(argument, valuesOf, (value) => typeof value === type.value);
  return name === undefined
    ? undefined
    : same(argument.object, valuesOf, (value) => typeof propertyOf(value, name) === type.value);
}

/** `x.items === undefined`, `x == null`. */
function comparedNothing(left: Expression, right: Expression, valuesOf: ValuesOf): boolean | undefined {
  const isNothing = (node: Node) => isNamed(node, "undefined") || (node.type === "Literal" && node.raw === "null");
  if (!isNothing(right)) return undefined;
  const node = bare(left);
  const missing = (value: unknown) => value === undefined || value === null;
  const name = isMember(node) ? propertyName(node) : undefined;
  if (!isMember(node)) return same(node, valuesOf, missing);
  return name === undefined ? undefined : same(node.object, valuesOf, (value) => missing(propertyOf(value, name)));
}

/** `Array.isArray(x)`, `Object.hasOwn(x, "id")`, `x.hasOwnProperty("id")`, `Boolean(x)`. */
function ofCall(call: CallExpression, valuesOf: ValuesOf): boolean | undefined {
  const [first, second] = call.arguments;
  if (isNamed(call.callee, "Boolean") && first) return truthOf(first, valuesOf);
  if (methodName(call, "Array") === "isArray" && first) return same(first, valuesOf, Array.isArray);
  const own =
    methodName(call, "Object") === "hasOwn"
      ? [first, second]
      : [isMember(call.callee) ? call.callee.object : undefined, first];
  const isOwn = /^hasOwn(?:Property)?$/.test(methodName(call) ?? "");
  const [object, key] = own;
  if (!isOwn || !object || key?.type !== "Literal") return undefined;
  return same(object, valuesOf, (value) => hasProperty(value, String(key.value)));
}

function same(node: Node, valuesOf: ValuesOf, holds: (value: unknown) => boolean): boolean | undefined {
  const seen = valuesOf(node);
  if (!seen || seen.promised || seen.values.length === 0) return undefined;
  const first = holds(seen.values[0]);
  return seen.values.every((value) => holds(value) === first) ? first : undefined;
}

function hasProperty(value: unknown, name: string): boolean {
  return (isObject(value) || Array.isArray(value)) && name in value;
}

function propertyOf(value: unknown, name: string): unknown {
  return value === undefined || value === null ? undefined : (Object(value) as Record<string, unknown>)[name];
}

/** Whether a condition asks what kind of value something is. */
export function asksForKind(
  test: Node,
  isMeant: (node: Node) => boolean,
  inside: (node: Node) => Iterable<Node>,
): boolean {
  for (const node of inside(test)) {
    const asked =
      node.type === "UnaryExpression" && node.operator === "typeof"
        ? node.argument
        : node.type === "BinaryExpression" && node.operator === "in"
          ? node.right
          : node.type === "BinaryExpression" && node.operator === "instanceof"
            ? node.left
            : isCall(node) && /^(?:isArray|hasOwn|hasOwnProperty)$/.test(methodName(node) ?? "")
              ? node
              : undefined;
    if (asked && [...inside(asked)].some(isMeant)) return true;
  }
  return false;
}

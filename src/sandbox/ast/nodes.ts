/** Questions about single nodes of a program. */
import type { AnyNode, CallExpression, MemberExpression } from "acorn";

export type Node = AnyNode;
export type NodeOf<T extends Node["type"]> = Extract<Node, { type: T }>;
export type FunctionNode = NodeOf<"FunctionDeclaration" | "FunctionExpression" | "ArrowFunctionExpression">;

type Maybe<T> = T | null | undefined;

/** The name of a property in an object or a pattern; undefined if it is computed. */
export function keyName({ key, computed }: { key: Node; computed: boolean }): string | undefined {
  if (key.type === "Identifier") return computed ? undefined : key.name;
  return key.type === "Literal" ? String(key.value) : undefined;
}

/** `b` of `a.b` and `a["b"]`; undefined if it is computed. */
export function propertyName({ property, computed }: MemberExpression): string | undefined {
  if (property.type === "Identifier" && !computed) return property.name;
  return property.type === "Literal" && typeof property.value === "string" ? property.value : undefined;
}

/** `b` of the call `a.b(…)`. With `object`, only if `a` has that name. */
export function methodName(node: Maybe<Node>, object?: string): string | undefined {
  if (!isCall(node) || !isMember(node.callee)) return undefined;
  return object === undefined || isNamed(node.callee.object, object) ? propertyName(node.callee) : undefined;
}

export function isCall(node: Maybe<Node>): node is CallExpression {
  return node?.type === "CallExpression";
}

export function isMember(node: Maybe<Node>): node is MemberExpression {
  return node?.type === "MemberExpression";
}

export function isFunction(node: Maybe<Node>): node is FunctionNode {
  return (
    node?.type === "FunctionDeclaration" ||
    node?.type === "FunctionExpression" ||
    node?.type === "ArrowFunctionExpression"
  );
}

export function isNamed(node: Maybe<Node>, name: string): boolean {
  return node?.type === "Identifier" && node.name === name;
}

/** The expression within an optional chain: `a?.b` is a ChainExpression around a MemberExpression. */
export function bare<T extends Node>(node: T): T | NodeOf<"MemberExpression" | "CallExpression"> {
  return node.type === "ChainExpression" ? node.expression : node;
}

/** Whether a node is another one or a part of it. */
export function isInside(node: Node, outer: Node): boolean {
  return outer.start <= node.start && node.end <= outer.end;
}

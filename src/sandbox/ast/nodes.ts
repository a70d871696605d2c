/** Questions about single nodes of a program. */
import type { CallExpression, Function as FunctionNode, Identifier, MemberExpression, Node } from "acorn";
import { full } from "acorn-walk";

const functionTypes = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** The name of a property in an object or a pattern; undefined if it is computed. */
export function keyName({ key, computed }: { key: Node; computed: boolean }): string | undefined {
  if (key.type === "Identifier") return computed ? undefined : (key as Identifier).name;
  return key.type === "Literal" ? String((key as Node & { value: unknown }).value) : undefined;
}

/** `b` of `a.b` and `a["b"]`; undefined if it is computed. */
export function propertyName({ property, computed }: MemberExpression): string | undefined {
  if (property.type === "Identifier" && !computed) return property.name;
  return property.type === "Literal" && typeof property.value === "string" ? property.value : undefined;
}

export function isCall(node: Node | null | undefined): node is CallExpression {
  return node?.type === "CallExpression";
}

export function isMember(node: Node | null | undefined): node is MemberExpression {
  return node?.type === "MemberExpression";
}

export function isFunction(node: Node | null | undefined): node is FunctionNode {
  return node !== null && node !== undefined && functionTypes.has(node.type);
}

export function isNamed(node: Node | null | undefined, name: string): boolean {
  return node?.type === "Identifier" && (node as Identifier).name === name;
}

/** The expression within an optional chain: `a?.b` is a ChainExpression around a MemberExpression. */
export function bare(node: Node): Node {
  return node.type === "ChainExpression" ? (node as Node & { expression: Node }).expression : node;
}

/** Whether a node is another one or a part of it. */
export function isWithin(node: Node, outer: Node): boolean {
  return outer.start <= node.start && node.end <= outer.end;
}

export function* childrenOf(node: Node): Generator<Node> {
  for (const value of Object.values(node)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && typeof each === "object" && typeof (each as Node).type === "string") yield each as Node;
    }
  }
}

/** All nodes of one type in a program. */
export function allOf<T extends Node>(type: T["type"], program: Node): T[] {
  const found: T[] = [];
  full(program, (node: Node) => {
    if (node.type === type) found.push(node as T);
  });
  return found;
}

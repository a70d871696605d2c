/** Where variables get their values: expressions, loops and parameters, through patterns. */
import type { Expression, Function as FunctionNode, Identifier, Node, Pattern } from "acorn";
import { isFunction, keyName } from "./nodes.ts";

/** One place where a variable gets a value: an expression, and the path into its value. */
export type Source =
  | { kind: "value"; node: Expression; path: Step[] }
  | { kind: "element"; node: Expression; path: Step[] }
  | { kind: "key"; node: Expression }
  | { kind: "parameter"; of: FunctionNode; index: number; path: Step[] }
  | { kind: "function"; node: FunctionNode }
  | { kind: "unknown" };

/** A property by name, an element by index, or the rest of a list. */
export type Step = { property: string } | { index: number } | "rest";

export interface Binding {
  name: string;
  sources: Source[];
  references: Identifier[];
}

export function initSource(init: Expression | null | undefined) {
  return (path: Step[]): Source | undefined => {
    if (!init) return undefined;
    return isFunction(init) ? { kind: "function", node: init } : { kind: "value", node: init, path };
  };
}

export function loopSource(declaration: Node, loop: Node | undefined): ((path: Step[]) => Source) | undefined {
  const { left, right } = (loop ?? {}) as { left?: Node; right?: Expression };
  if (left !== declaration || !right) return undefined;
  if ((loop as Node & { await?: boolean }).await) return () => ({ kind: "unknown" });
  if (loop?.type === "ForOfStatement") return (path) => ({ kind: "element", node: right, path });
  if (loop?.type === "ForInStatement") return () => ({ kind: "key", node: right });
  return undefined;
}

/** The names of a pattern, each with its path into the value. A name with a default has no path. */
export function boundPaths(
  pattern: Pattern,
  path: Step[] | undefined = [],
): { name: string; path: Step[] | undefined }[] {
  switch (pattern.type) {
    case "Identifier":
      return [{ name: pattern.name, path }];
    case "ObjectPattern":
      return pattern.properties.flatMap((property) => {
        if (property.type === "RestElement") return boundPaths(property.argument, undefined);
        const name = keyName(property);
        return boundPaths(property.value, path && name !== undefined ? [...path, { property: name }] : undefined);
      });
    case "ArrayPattern":
      return pattern.elements.flatMap((element, index) => {
        if (!element) return [];
        if (element.type === "RestElement") return boundPaths(element.argument, path && [...path, "rest"]);
        return boundPaths(element, path && [...path, { index }]);
      });
    case "AssignmentPattern":
      return boundPaths(pattern.left, undefined);
    case "RestElement":
      return boundPaths(pattern.argument, undefined);
    default:
      return [];
  }
}

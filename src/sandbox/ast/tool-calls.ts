/** Which tool a call in a program means. */
import type { CallExpression } from "acorn";
import type { KnownFunction, Namespace } from "../contract.ts";
import { isMember, keyName, type Node, propertyName } from "./nodes.ts";
import type { Tree } from "./tree.ts";

/** A program and the servers that it can call. */
export interface Scope {
  tree: Tree;
  namespaces: readonly Namespace[];
}

export type KnownNamespace = Namespace & { functions: KnownFunction[] };

export interface CalledFunction {
  namespace: KnownNamespace;
  /** The server as it is written in the code: `demo`, `servers["my-server"]`. */
  server: string;
  name: string;
}

/** The function that a call certainly means. `demo.tool.raw(…)` and `demo.tool.pages(…)` mean `tool`. */
export function calledFunction({ callee }: CallExpression, scope: Scope): CalledFunction | undefined {
  const called = isMember(callee) && ["raw", "pages"].includes(propertyName(callee) ?? "") ? callee.object : callee;
  if (called.type === "Identifier") return importedFunction(called, scope);
  const name = isMember(called) && !called.optional ? propertyName(called) : undefined;
  if (!isMember(called) || name === undefined) return undefined;
  const namespace = serverOf(called.object, scope);
  return namespace && { namespace, server: scope.tree.text(called.object), name };
}

/** Whether a call is `demo.tool.pages(…)`, which is no promise. */
export function isOfPages({ callee }: CallExpression): boolean {
  return isMember(callee) && propertyName(callee) === "pages";
}

/** The functions that a program names as members of their servers, in patterns and in imports. */
export function usedFunctions(scope: Scope): { use: Node; called: CalledFunction }[] {
  const { tree } = scope;
  const of = (use: Node, server: Node, name: string | undefined) => {
    const namespace = name === undefined ? undefined : serverOf(server, scope);
    return namespace && name !== undefined ? [{ use, called: { namespace, server: tree.text(server), name } }] : [];
  };
  const members = tree.all("MemberExpression").filter((node) => !node.optional && !isAsked(node, tree));
  const patterns = tree
    .all("VariableDeclarator")
    .flatMap(({ id, init }) =>
      id.type === "ObjectPattern" && init
        ? id.properties.flatMap((each) => (each.type === "Property" ? of(each, init, keyName(each)) : []))
        : [],
    );
  const imports = tree.all("CallExpression").flatMap((use) => {
    const called = use.callee.type === "Identifier" ? importedFunction(use.callee, scope) : undefined;
    return called ? [{ use, called }] : [];
  });
  return [...members.flatMap((node) => of(node, node.object, propertyName(node))), ...patterns, ...imports];
}

/** Whether a member is only asked for: the test of a condition, an operand of `typeof`, or a call with `?.`. */
function isAsked(node: Node, tree: Tree): boolean {
  const around = [...tree.ancestors(node)];
  for (const each of around) {
    if (each.type !== "CallExpression") continue;
    const { callee, optional } = each;
    if (callee === node || (isMember(callee) && callee.object === node)) return optional;
  }
  return around.some((each) => {
    if (each.type === "UnaryExpression") return each.operator === "typeof";
    const isTest = each.type === "IfStatement" || each.type === "ConditionalExpression";
    return isTest ? isIn(node, each.test) : each.type === "LogicalExpression" && isIn(node, each.left);
  });
}

const isIn = (inner: Node, outer: Node) => outer.start <= inner.start && inner.end <= outer.end;

/** The existing tool that a call means, by its original name or its name in JavaScript. */
export function calledTool(
  call: CallExpression,
  scope: Scope,
): { tool: KnownFunction; called: CalledFunction } | undefined {
  const called = calledFunction(call, scope);
  const functions = called?.namespace.functions ?? [];
  const tool =
    functions.find(({ name }) => name === called?.name) ?? functions.find(({ jsName }) => jsName === called?.name);
  return called && tool && { tool, called };
}

/** Whether a namespace is known by a name. */
export function isCalled({ name, jsName }: { name: string; jsName: string | undefined }, wanted: string): boolean {
  return name === wanted || jsName === wanted;
}

/** The namespace of a name, if its functions are known. */
export function knownNamespace(wanted: string, namespaces: readonly Namespace[]): KnownNamespace | undefined {
  const found = namespaces.find((each) => isCalled(each, wanted));
  return found?.functions === "any" ? undefined : (found as KnownNamespace | undefined);
}

/** A function that the program imports from `./servers/<server>`. */
function importedFunction(name: Node, { tree, namespaces }: Scope): CalledFunction | undefined {
  const [source] = tree.binding(name)?.sources ?? [];
  if (source?.kind !== "import" || source.name === undefined) return undefined;
  const path = /^(?:\.{0,2}\/|@\/)*servers\/([^/]+?)(?:\/index)?(?:\.[cm]?[jt]s)?$/;
  const server = path.exec(source.module)?.[1] ?? "";
  const namespace = source.name === server ? undefined : knownNamespace(server, namespaces);
  return namespace && { namespace, server, name: source.name };
}

/** The server of `demo`, `servers.demo` or `servers["demo"]`. */
function serverOf(object: Node, { tree, namespaces }: Scope): KnownNamespace | undefined {
  const global = isMember(object) ? object.object : object;
  const source = tree.binding(global)?.sources[0]?.kind;
  // An imported server has the name of its global.
  if (global.type !== "Identifier" || (tree.binding(global) && source !== "import")) return undefined;
  if (!isMember(object)) {
    const found = knownNamespace(global.name, namespaces);
    return found?.jsName === global.name ? found : undefined;
  }
  return global.name === "servers" ? knownNamespace(propertyName(object) ?? "", namespaces) : undefined;
}

/** Which tool a call in a program means. */
import type { CallExpression, Expression, Node, Pattern, Program, Super } from "acorn";
import { full } from "acorn-walk";
import type { KnownFunction, Namespace } from "../contract.ts";
import { boundPaths } from "./bindings.ts";
import { propertyName } from "./nodes.ts";

export interface Scope {
  code: string;
  namespaces: readonly Namespace[];
  /** Names that the program declares anywhere. They hide the global of a server with the same name. */
  declared: ReadonlySet<string>;
  /** Functions imported from a server's module, by their local name. */
  imported: ReadonlyMap<string, ImportedFunction>;
}

interface ImportedFunction {
  server: string;
  name: string;
}

interface Found {
  namespace: string;
  functions: KnownFunction[];
  hidden: NonNullable<Namespace["hidden"]>;
}

export interface Called extends Found {
  /** The server as it is written in the code: `demo`, `servers["my-server"]`. */
  server: string;
  name: string;
}

export function scopeOf(program: Program, code: string, namespaces: readonly Namespace[]): Scope {
  return { code, namespaces, declared: declaredNames(program), imported: importedFunctions(program) };
}

/** The function that a call certainly means. `demo.tool.raw(…)` means `tool`. */
export function calledFunction(call: CallExpression, scope: Scope): Called | undefined {
  let callee: Expression | Super = call.callee;
  if (callee.type === "MemberExpression" && propertyName(callee) === "raw") callee = callee.object;
  if (callee.type === "Identifier") {
    const imported = scope.declared.has(callee.name) ? undefined : scope.imported.get(callee.name);
    const found = imported && functionsOf(scope, ({ name, jsName }) => [name, jsName].includes(imported.server));
    return imported && found && { ...found, server: imported.server, name: imported.name };
  }
  const name = callee.type === "MemberExpression" ? propertyName(callee) : undefined;
  if (callee.type !== "MemberExpression" || name === undefined || callee.optional) return undefined;
  const { object } = callee;
  const found = serverFunctions(object, scope);
  return found && { ...found, server: scope.code.slice(object.start, object.end), name };
}

/** The existing tool that a call means, by its original name or its name in JavaScript. */
export function calledTool(call: CallExpression, scope: Scope): { tool: KnownFunction; called: Called } | undefined {
  const called = calledFunction(call, scope);
  const isNamed = (name: string | undefined) => name === called?.name;
  const tool =
    called?.functions.find((each) => isNamed(each.name)) ?? called?.functions.find((each) => isNamed(each.jsName));
  return called && tool && { tool, called };
}

/** The functions of `demo`, `servers.demo` or `servers["demo"]`. */
function serverFunctions(object: Expression | Super, scope: Scope): Found | undefined {
  if (object.type === "Identifier") {
    if (scope.declared.has(object.name)) return undefined;
    return functionsOf(scope, ({ jsName }) => jsName === object.name);
  }
  if (object.type !== "MemberExpression" || object.object.type !== "Identifier") return undefined;
  if (object.object.name !== "servers" || scope.declared.has("servers")) return undefined;
  const wanted = propertyName(object);
  return functionsOf(scope, ({ name, jsName }) => name === wanted || jsName === wanted);
}

function functionsOf({ namespaces }: Scope, is: (namespace: Namespace) => boolean): Found | undefined {
  const found = namespaces.find(is);
  if (!found || found.functions === "any") return undefined;
  return { namespace: found.name, functions: found.functions, hidden: found.hidden ?? [] };
}

/** Every name that is bound anywhere in the program, except by imports. */
function declaredNames(program: Program): Set<string> {
  const names = new Set<string>();
  const add = (pattern: Pattern | null | undefined) => {
    for (const { name } of pattern ? boundPaths(pattern) : []) names.add(name);
  };
  full(program, (node: Node) => {
    const { type, id, params, param } = node as Node & {
      id?: Pattern | null;
      params?: Pattern[];
      param?: Pattern | null;
    };
    if (type === "VariableDeclarator" || type.startsWith("Function") || type.startsWith("Class")) add(id);
    for (const parameter of params ?? []) add(parameter);
    if (type === "CatchClause") add(param);
  });
  return names;
}

/** Names imported from `./servers/<server>`, by their local name. */
function importedFunctions(program: Program): Map<string, ImportedFunction> {
  const imported = new Map<string, ImportedFunction>();
  for (const node of program.body) {
    if (node.type !== "ImportDeclaration") continue;
    const server = /^(?:\.{0,2}\/|@\/)*servers\/([^/]+?)(?:\/index)?(?:\.[cm]?[jt]s)?$/.exec(
      String(node.source.value),
    )?.[1];
    for (const specifier of server === undefined ? [] : node.specifiers) {
      if (specifier.type !== "ImportSpecifier" || specifier.imported.type !== "Identifier") continue;
      const { name } = specifier.imported;
      if (name !== server) imported.set(specifier.local.name, { server: String(server), name });
    }
  }
  return imported;
}

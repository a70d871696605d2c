/**
 * Compares calls of known functions with their schemas before anything runs: unknown functions, unknown and missing
 * arguments, literals of the wrong type. Only what is certain is found; what is computed is left to the call itself.
 */
import type { CallExpression, Expression, MemberExpression, Node, Program, Super } from "acorn";
import { ancestor } from "acorn-walk";
import { nearNames } from "../../near-names.ts";
import { correctedCall } from "../advice/corrected-call.ts";
import { candidates, renamed, wordsOf } from "../advice/tool-names.ts";
import type { Bindings, KnownFunction, Namespace } from "../contract.ts";
import { serverMembers } from "../guest/kinds.ts";
import { checkArguments } from "./check-arguments.ts";
import { checkPromises } from "./check-promises.ts";
import { declaredNames, importedNames } from "./declared-names.ts";

export interface Finding {
  /** Offset in the checked code. */
  at: number;
  code: "TOOL_NOT_FOUND" | "INVALID_ARGUMENTS" | "MISSING_AWAIT";
  message: string;
  /** The call as it should be, where that is plain. */
  write?: string;
  /** How the function is called, or those that may have been meant. */
  signatures: string[];
}

/** What is needed to tell which function a call means. */
export interface Scope {
  code: string;
  namespaces: readonly Namespace[];
  /** Names that the code declares itself, anywhere: they hide a server's global. */
  declared: ReadonlySet<string>;
  /** Functions imported from a server's module, by their local name. */
  imported: ReadonlyMap<string, { server: string; name: string }>;
}

/** The functions there are, and those that words may mean. */
export type Known = Pick<Bindings, "namespaces" | "suggest">;

interface Found {
  namespace: string;
  functions: KnownFunction[];
  hidden: NonNullable<Namespace["hidden"]>;
}

interface Called extends Found {
  /** The server as it stands in the code: `demo`, `servers["my-server"]`. */
  server: string;
  name: string;
}

/** In the order of the code. */
export function checkCalls(program: Program, code: string, known: Known): Finding[] {
  const scope = scopeOf(program, code, known.namespaces);
  const findings: Finding[] = [];
  ancestor(program, {
    CallExpression(call, _, ancestors) {
      const called = calledFunction(call, scope);
      if (!called) return;
      const { server, functions, hidden, name } = called;
      const tool = functions.find((each) => each.name === name) ?? functions.find((each) => each.jsName === name);
      // Why one that is hidden cannot be called is said when it is called.
      const isHidden = hidden.some((each) => each.name === name || each.jsName === name);
      if (tool) findings.push(...checkArguments(call, tool, `${server}.${tool.jsName ?? tool.name}`, code));
      else if (!isHidden && !serverMembers.includes(name) && !call.optional && !isGuarded(call, ancestors, code))
        findings.push(unknownFunction(call, called, code, known));
    },
  });
  if (namespacesIn(code, known.namespaces)) findings.push(...checkPromises(program, scope));
  return findings.sort((a, b) => a.at - b.at);
}

export function scopeOf(program: Program, code: string, namespaces: readonly Namespace[]): Scope {
  return { code, namespaces, declared: declaredNames(program), imported: importedNames(program) };
}

/** Which function a call means, where that is certain. `.raw` belongs to the function before it. */
export function calledFunction(call: CallExpression, scope: Scope): Called | undefined {
  let callee: Expression | Super = call.callee;
  if (callee.type === "MemberExpression" && memberName(callee) === "raw") callee = callee.object;
  if (callee.type === "Identifier") {
    const imported = scope.declared.has(callee.name) ? undefined : scope.imported.get(callee.name);
    const found = imported && functionsOf(scope, ({ name, jsName }) => [name, jsName].includes(imported.server));
    return imported && found && { ...found, server: imported.server, name: imported.name };
  }
  const name = callee.type === "MemberExpression" ? memberName(callee) : undefined;
  if (callee.type !== "MemberExpression" || name === undefined || callee.optional) return undefined;
  const { object } = callee;
  const found = serverFunctions(object, scope);
  return found && { ...found, server: scope.code.slice(object.start, object.end), name };
}

/** `demo`, `servers.demo` or `servers["demo"]`. */
function serverFunctions(object: Expression | Super, scope: Scope): Found | undefined {
  if (object.type === "Identifier") {
    if (scope.declared.has(object.name)) return undefined;
    return functionsOf(scope, ({ jsName }) => jsName === object.name);
  }
  if (object.type !== "MemberExpression" || object.object.type !== "Identifier") return undefined;
  if (object.object.name !== "servers" || scope.declared.has("servers")) return undefined;
  const wanted = memberName(object);
  return functionsOf(scope, ({ name, jsName }) => name === wanted || jsName === wanted);
}

function functionsOf({ namespaces }: Scope, is: (namespace: Namespace) => boolean): Found | undefined {
  const found = namespaces.find(is);
  if (!found || found.functions === "any") return undefined;
  return { namespace: found.name, functions: found.functions, hidden: found.hidden ?? [] };
}

/** A name that is fixed in the code. */
function memberName({ property, computed }: MemberExpression): string | undefined {
  if (!computed) return property.type === "Identifier" ? property.name : undefined;
  return property.type === "Literal" && typeof property.value === "string" ? property.value : undefined;
}

/** The code asks first whether the function is there: `demo.a ? demo.a() : …`, `if ("a" in demo)`, `demo.a && demo.a()`. */
function isGuarded(call: CallExpression, ancestors: Node[], code: string): boolean {
  return ancestors.some((node) => {
    if (node === call || node.start > call.start) return false;
    const test = (node as Node & { test?: Node; left?: Node }).test ?? (node as Node & { left?: Node }).left;
    const asks =
      node.type === "IfStatement" || node.type === "ConditionalExpression" || node.type === "LogicalExpression";
    if (!asks || !test || (test.start <= call.start && call.end <= test.end)) return false;
    const { callee } = call;
    const name = callee.type === "MemberExpression" ? memberName(callee) : undefined;
    return name !== undefined && code.slice(test.start, test.end).includes(name);
  });
}

function unknownFunction(
  call: CallExpression,
  { server, namespace, functions, name }: Called,
  code: string,
  { suggest }: Known,
): Finding {
  const suggested = suggest?.(wordsOf(name), 20).filter((each) => each.server === namespace) ?? [];
  const { names, signatures } = candidates(name, functions, suggested);
  const same = renamed(name, functions);
  const all = functions.map((each) => each.jsName ?? each.name);
  const isPlain = names.length > 0 && (all.length > 10 || nearNames(name, all).length > 0);
  const nearest = [
    names.length > 0 ? `Did you mean ${orList(names)}?` : "",
    isPlain ? "" : `Its tools: ${listed(all)}`,
  ];
  return {
    at: call.callee.start,
    code: "TOOL_NOT_FOUND",
    message: `${server} has no tool "${name}". ${nearest.filter(Boolean).join(" ")}`,
    ...(same ? { write: correctedCall(call, `${server}.${same.jsName ?? same.name}`, same, code) } : {}),
    signatures,
  };
}

function orList(names: string[]): string {
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} or ${names.at(-1)}` : (names[0] ?? "");
}

function listed(names: string[]): string {
  const more = names.length > 20 ? ` and ${names.length - 20} more` : "";
  return names.length > 0 ? `${names.slice(0, 20).join(", ")}${more}` : "none";
}

/** Most code that names no server has no promises of tools to look for. */
function namespacesIn(code: string, namespaces: readonly Namespace[]): boolean {
  return namespaces.some(({ name, jsName }) => code.includes(jsName ?? name));
}

/**
 * Compares calls of tools with their schemas before anything runs: unknown tools, unknown and missing arguments, literals
 * of the wrong type. Only certain mistakes are found. Computed arguments are checked when the call is made.
 */
import type { CallExpression, Node, Program } from "acorn";
import { ancestor } from "acorn-walk";
import { nearNames } from "../../near-names.ts";
import { checkArguments, correctedCall } from "../ast/arguments.ts";
import { isMember, propertyName } from "../ast/nodes.ts";
import { type Called, calledFunction, calledTool, scopeOf } from "../ast/tool-calls.ts";
import { candidates, renamed, wordsOf } from "../ast/tool-names.ts";
import type { Bindings, Namespace } from "../contract.ts";
import { serverMembers } from "../guest/kinds.ts";
import type { Finding } from "./check-error.ts";
import { checkPromises } from "./check-promises.ts";

/** The tools, and a search for tools by words. */
export type Known = Pick<Bindings, "namespaces" | "suggest">;

/** The certain mistakes of a program, in the order of the code. */
export function checkCalls(program: Program, code: string, known: Known): Finding[] {
  const scope = scopeOf(program, code, known.namespaces);
  const findings: Finding[] = [];
  ancestor(program, {
    CallExpression(call, _, ancestors) {
      const found = calledTool(call, scope);
      if (found) {
        const { tool, called } = found;
        const problems = checkArguments(call, tool, `${called.server}.${tool.jsName ?? tool.name}`, code);
        const signatures = tool.signature ? [tool.signature] : [];
        findings.push(...problems.map((each): Finding => ({ ...each, code: "INVALID_ARGUMENTS", signatures })));
        return;
      }
      const called = calledFunction(call, scope);
      if (!called || call.optional || serverMembers.includes(called.name)) return;
      // A call of a hidden tool is explained when it is made.
      const isHidden = called.hidden.some(({ name, jsName }) => name === called.name || jsName === called.name);
      if (!isHidden && !isGuarded(call, ancestors, code)) findings.push(unknownFunction(call, called, code, known));
    },
  });
  if (namespacesIn(code, known.namespaces)) findings.push(...checkPromises(program, scope));
  return findings.sort((a, b) => a.at - b.at);
}

/**
 * Whether the code first asks if the tool exists: `demo.a ? demo.a() : …`, `if ("a" in demo)`, `demo.a && demo.a()`.
 */
function isGuarded(call: CallExpression, ancestors: Node[], code: string): boolean {
  return ancestors.some((node) => {
    if (node === call || node.start > call.start) return false;
    const test = (node as Node & { test?: Node; left?: Node }).test ?? (node as Node & { left?: Node }).left;
    const asks =
      node.type === "IfStatement" || node.type === "ConditionalExpression" || node.type === "LogicalExpression";
    if (!asks || !test || (test.start <= call.start && call.end <= test.end)) return false;
    const { callee } = call;
    const name = isMember(callee) ? propertyName(callee) : undefined;
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

/** Whether the code names a server at all. Without one, there are no promises of tools to look for. */
function namespacesIn(code: string, namespaces: readonly Namespace[]): boolean {
  return namespaces.some(({ name, jsName }) => code.includes(jsName ?? name));
}

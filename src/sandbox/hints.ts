/** What to do about an error that the engine words badly: from the code, the tools there are, and what they returned. */
import type { CallExpression, Expression, MemberExpression, Node, Program } from "acorn";
import { full } from "acorn-walk";
import { didYouMean } from "../near-names.ts";
import { calledFunction, type Scope } from "./check.ts";
import type { Namespace } from "./contract.ts";
import { positionOf } from "./edits.ts";

export interface Failing {
  name: string;
  message: string;
  /** Line of the code, which is the original's. */
  line: number;
}

export interface Surroundings {
  program: Program;
  scope: Scope;
  /** The keys of the last result of a tool, by tool id; undefined for what has none. */
  resultKeys(tool: string): string[] | undefined;
}

/** A variable that holds what a tool gave, or its promise. */
interface Held {
  /** As it stands in the code: `demo.list_orders`. */
  call: string;
  tool: string;
  awaited: boolean;
  line: number;
}

/** Undefined where there is nothing certain to say. */
export function hintFor(error: Failing, around: Surroundings): string | undefined {
  return undefinedName(error, around) ?? wrongShape(error, around) ?? unknownTool(error, around);
}

/** `'orders' is not defined`: a dashed tool name, another host's name for a tool, or a server that there is not. */
function undefinedName({ message, line }: Failing, { scope, program }: Surroundings): string | undefined {
  const name = /^'([^']+)' is not defined$/.exec(message)?.[1];
  if (name === undefined) return undefined;
  const { namespaces, code } = scope;
  const text = code.split("\n")[line - 1] ?? "";
  for (const { jsName = "", functions } of namespaces) {
    for (const each of functions === "any" ? [] : functions) {
      if (each.name.includes("-") && text.includes(`${jsName}.${each.name}`)) {
        return `The tool's name has a dash: write ${jsName}.${each.jsName} or ${jsName}["${each.name}"].`;
      }
    }
  }
  const meant = toolInName(name, namespaces) ?? toolInName(memberAfter(name, program), namespaces);
  if (meant) return `Inside, a tool is called as server.tool: await ${meant}(…)`;
  const servers = namespaces.map((each) => each.jsName ?? `servers["${each.name}"]`);
  if (!isObjectOfCall(name, program)) return undefined;
  const near = didYouMean(name, servers);
  return [`No server is called "${name}".`, near, `Servers: ${servers.slice(0, 20).join(", ") || "none"}.`]
    .filter(Boolean)
    .join(" ");
}

/** `mcp__demo__get_stock` and `demo_get_stock` name a tool in the way of other hosts. */
function toolInName(name: string | undefined, namespaces: readonly Namespace[]): string | undefined {
  for (const { name: server, jsName, functions } of namespaces) {
    for (const each of functions === "any" ? [] : functions) {
      const ends = [`${server}__${each.name}`, `${server}_${each.name}`, `${jsName}_${each.jsName}`];
      if (name && ends.some((end) => name === end || name.endsWith(`__${end}`))) return `${jsName}.${each.jsName}`;
    }
  }
  return undefined;
}

function memberAfter(name: string, program: Program): string | undefined {
  const member = find(program, (node) => isMember(node) && isNamed(node.object, name)) as MemberExpression | undefined;
  return member?.property.type === "Identifier" ? member.property.name : undefined;
}

function isObjectOfCall(name: string, program: Program): boolean {
  return (
    find(program, (node) => isCall(node) && isMember(node.callee) && isNamed(node.callee.object, name)) !== undefined
  );
}

/** A tool's value used as what it is not: not awaited, as an MCP envelope, parsed again, or as a list. */
function wrongShape({ name, message, line }: Failing, around: Surroundings): string | undefined {
  const { program, scope } = around;
  const shapeless = /not a function|cannot read property|not iterable|is not an object/.test(message);
  if (!shapeless && name !== "SyntaxError") return undefined;
  const all = find<CallExpression>(
    program,
    (node) => isPromiseAll(node) && lineOf(node, scope) === line && destructured(node, program),
  );
  if (/not iterable/.test(message) && all)
    return `await is missing before ${scope.code.slice(all.start, all.callee.end)} in line ${line}.`;
  const held = heldValues(program, scope);
  let hint: string | undefined;
  full(program, (node: Node) => {
    if (hint !== undefined || lineOf(node, scope) !== line) return;
    if (isCall(node) && scope.code.slice(node.callee.start, node.callee.end) === "JSON.parse") {
      const [first] = node.arguments;
      if (first?.type === "Identifier") hint = shapeHint(first.name, held.get(first.name), around, "no JSON.parse");
    } else if (isMember(node) && node.object.type === "Identifier" && shapeless) {
      const property = node.property.type === "Identifier" ? node.property.name : "";
      const envelope = /^(content|structuredContent|isError|text|data|result)$/.test(property);
      hint = shapeHint(
        node.object.name,
        held.get(node.object.name),
        around,
        envelope ? "no envelope around it" : undefined,
      );
    } else if (isMember(node) && shapeless) {
      const called = node.object.type === "CallExpression" ? toolId(node.object, scope) : undefined;
      if (called) hint = `${called.call}(…) is a promise: write (await ${called.call}(…)).`;
    } else if (node.type === "ForOfStatement") {
      const { right } = node as Node & { right: Expression };
      if (right.type === "Identifier") hint = shapeHint(right.name, held.get(right.name), around, undefined);
    }
  });
  return hint;
}

function shapeHint(
  variable: string,
  held: Held | undefined,
  around: Surroundings,
  not: string | undefined,
): string | undefined {
  if (!held) return undefined;
  if (!held.awaited) return `${variable} is a promise: write await before ${held.call}(…) in line ${held.line}.`;
  const keys = around.resultKeys(held.tool);
  const shape = keys ? `{ ${keys.join(", ")} }` : "no object with keys";
  const raw = not === "no envelope around it" ? ` (${held.call}.raw(…) gives the MCP result.)` : "";
  return `${variable} is the value of ${held.call} itself${not ? `, ${not}` : ""}: ${shape}.${raw}`;
}

/** `not a function` where a tool was meant, when the check is off. */
function unknownTool({ message, line }: Failing, { scope }: Surroundings): string | undefined {
  if (!/not a function/.test(message)) return undefined;
  const text = scope.code.split("\n")[line - 1] ?? "";
  for (const { name, jsName, functions } of scope.namespaces) {
    if (functions === "any") continue;
    for (const [, server, tool = ""] of text.matchAll(/([\w$]+)\.([\w$]+)/g)) {
      if (server !== (jsName ?? name) || functions.some((each) => each.name === tool || each.jsName === tool)) continue;
      const near = didYouMean(
        tool,
        functions.map((each) => each.jsName ?? each.name),
      );
      return [`${server} has no tool "${tool}".`, near].filter(Boolean).join(" ");
    }
  }
  return undefined;
}

/** Which variables hold what tools gave: `const a = await demo.x()`, `const [a, b] = await Promise.all([…])`. */
function heldValues(program: Program, scope: Scope): Map<string, Held> {
  const held = new Map<string, Held>();
  const note = (variable: string, value: Expression | null | undefined, awaited: boolean) => {
    const called = value?.type === "CallExpression" ? toolId(value, scope) : undefined;
    if (value && called) held.set(variable, { ...called, awaited, line: lineOf(value, scope) });
  };
  full(program, (node: Node) => {
    if (node.type !== "VariableDeclarator") return;
    const { id, init } = node as Node & {
      id: Node & { name: string; elements?: (Node & { name: string })[] };
      init?: Expression;
    };
    const awaited = init?.type === "AwaitExpression";
    const value = awaited ? init.argument : init;
    if (id.type === "Identifier") note(id.name, value, awaited);
    else if (id.type === "ArrayPattern" && value && isPromiseAll(value)) {
      const [list] = (value as CallExpression).arguments;
      const elements = list?.type === "ArrayExpression" ? list.elements : [];
      for (const [index, element] of elements.entries()) {
        const target = id.elements?.[index];
        if (target?.type === "Identifier" && element?.type !== "SpreadElement") note(target.name, element, true);
      }
    }
  });
  return held;
}

function toolId(call: CallExpression, scope: Scope): { call: string; tool: string } | undefined {
  const called = calledFunction(call, scope);
  const known = called?.functions.find((each) => each.name === called.name || each.jsName === called.name);
  if (!called || !known) return undefined;
  return { call: scope.code.slice(call.callee.start, call.callee.end), tool: `${called.namespace}.${known.name}` };
}

function destructured(all: Node, program: Program): boolean {
  return (
    find(program, (node) => node.type === "VariableDeclarator" && (node as Node & { init?: Node }).init === all) !==
    undefined
  );
}

function isPromiseAll(node: Node): boolean {
  if (!isCall(node) || !isMember(node.callee)) return false;
  const { object, property } = node.callee;
  return isNamed(object, "Promise") && property.type === "Identifier" && property.name.startsWith("all");
}

function find<N extends Node = Node>(
  program: Program,
  is: ((node: Node) => node is N) | ((node: Node) => boolean),
): N | undefined {
  let found: N | undefined;
  full(program, (node: Node) => {
    if (!found && is(node)) found = node as N;
  });
  return found;
}

function lineOf(node: Node, { code }: Scope): number {
  return positionOf(code, isMember(node) ? node.property.start : node.start).line;
}

function isCall(node: Node): node is CallExpression {
  return node.type === "CallExpression";
}

function isMember(node: Node): node is MemberExpression {
  return node.type === "MemberExpression";
}

function isNamed(node: Node, name: string): boolean {
  return node.type === "Identifier" && (node as Node & { name: string }).name === name;
}

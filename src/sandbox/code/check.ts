/**
 * Compares calls of tools with their schemas before anything runs: unknown tools, unknown and missing arguments, literals
 * of the wrong type. Only certain mistakes are found. Computed arguments are checked when the call is made.
 */
import type { CallExpression, MemberExpression } from "acorn";
import { argumentMistakes, correctedCall } from "../ast/arguments.ts";
import { bare, isFunction, isMember, methodName, type Node, propertyName } from "../ast/nodes.ts";
import { isList, promiseOf, setsMembers } from "../ast/promises.ts";
import {
  type CalledFunction,
  calledFunction,
  calledTool,
  isCalled,
  type Scope,
  usedFunctions,
} from "../ast/tool-calls.ts";
import { callers, insteadOfTool, renamed } from "../ast/tool-names.ts";
import type { Tree } from "../ast/tree.ts";
import type { Bindings, KnownFunction, Namespace } from "../contract.ts";
import { serverMembers, textFunction } from "../guest/kinds.ts";
import type { CodeMistake } from "./check-error.ts";

/** The tools, a search for tools by words, and whether a tool refuses wrong arguments: without an answer, each does. */
export type ToolLookup = Pick<Bindings, "namespaces" | "suggest"> & {
  refuses?: (namespace: string, name: string) => boolean;
};

/** The certain mistakes of a program, in the order of the code. */
export function checkCalls(tree: Tree, known: ToolLookup): CodeMistake[] {
  try {
    return findingsIn(tree, known).sort((a, b) => a.at - b.at);
  } catch (error) {
    // A deeply nested program may need more stack than parsing it.
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function findingsIn(tree: Tree, { namespaces, suggest, refuses }: ToolLookup): CodeMistake[] {
  const scope: Scope = { tree, namespaces };
  const growing = growingIn(scope);
  const findings = tree.all("CallExpression").flatMap((call): CodeMistake[] => {
    const found = calledTool(call, scope);
    if (found) {
      const { tool, called } = found;
      if (called.namespace.name === textFunction.namespace && takesText(call, tool)) return [];
      const mistakes = argumentMistakes(call, tool, `${called.server}.${tool.jsName ?? tool.name}`, tree.code);
      if (mistakes.length === 0 || refuses?.(called.namespace.name, tool.name) === false) return [];
      const signatures = tool.signature ? [tool.signature] : [];
      return mistakes.map((each) => ({ ...each, code: "INVALID_ARGUMENTS", signatures }));
    }
    const called = calledFunction(call, scope);
    if (!called || call.optional || serverMembers.includes(called.name)) return [];
    // A call of a hidden tool is explained when it is made.
    const isHidden = called.namespace.hidden?.some((each) => isCalled(each, called.name)) ?? false;
    const isSure = !mayExist(called, growing) && !isHidden && !isGuarded(call, tree, called.name);
    return isSure ? [unknownFunction(call, called, tree, suggest)] : [];
  });
  // Without a server, there are no promises of tools to look for.
  const namesServer = namespaces.some(({ name, jsName }) => tree.code.includes(jsName ?? name));
  return namesServer ? [...findings, ...checkPromises(scope)] : findings;
}

/** Whether a call begins with a text where its function takes one. */
function takesText({ arguments: [first] }: CallExpression, { name }: KnownFunction): boolean {
  return name === textFunction.name && first !== undefined && first.type !== "ObjectExpression";
}

/** Whether the code first tests if the tool exists: `demo.a ? demo.a() : …`, `if ("a" in demo)`, `demo.a && demo.a()`. */
function isGuarded(use: Node, tree: Tree, name: string): boolean {
  return tree.ancestors(use).some((node) => {
    const asks = node.type === "IfStatement" || node.type === "ConditionalExpression";
    const test = asks ? node.test : node.type === "LogicalExpression" ? node.left : undefined;
    return test !== undefined && test.end <= use.start && tree.text(test).includes(name);
  });
}

/** The servers that may add functions and are called, and so may have added one. */
function growingIn(scope: Scope): ReadonlySet<Namespace> {
  const able = scope.namespaces.filter(({ mayGrow }) => mayGrow === true);
  if (able.length === 0 || scope.tree.code.includes("callTool")) return new Set(able);
  const called = usedFunctions(scope).flatMap(({ called: used }) => (isKnown(used) ? [used.namespace] : []));
  return new Set(called).intersection(new Set(able));
}

/** Whether a call of the program may add the function. Another spelling of a known name is a mistake in any case. */
function mayExist({ namespace, name }: CalledFunction, growing: ReadonlySet<Namespace>): boolean {
  return growing.has(namespace) && renamed(name, namespace.functions) === undefined;
}

function isKnown({ namespace, name }: CalledFunction): boolean {
  return namespace.functions.some((each) => isCalled(each, name));
}

/**
 * The names of functions that a program uses and that a call may add, by their servers. Names that the program tests before it uses them
 * are left out.
 */
export function namesToCome(tree: Tree, namespaces: readonly Namespace[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const scope: Scope = { tree, namespaces };
  const growing = growingIn(scope);
  for (const { use, called } of usedFunctions(scope)) {
    const { namespace, name } = called;
    if (serverMembers.includes(name) || isKnown(called) || !mayExist(called, growing) || isGuarded(use, tree, name))
      continue;
    found.set(namespace.name, [...(found.get(namespace.name) ?? []), name]);
  }
  return found;
}

function unknownFunction(
  call: CallExpression,
  { server, namespace, name }: CalledFunction,
  tree: Tree,
  suggest: ToolLookup["suggest"],
): CodeMistake {
  const { code } = tree;
  const byName = callers.test(name) ? toolAmongTexts(call, namespace, tree) : undefined;
  if (byName) {
    return {
      at: call.callee.start,
      code: "TOOL_NOT_FOUND",
      message: `${server} has no tool "${name}". Call ${byName.name} as a function of the server`,
      write: `await ${server}.${byName.jsName ?? byName.name}(…)`,
      signatures: byName.signature === undefined ? [] : [byName.signature],
    };
  }
  const { text, signatures } = insteadOfTool(name, namespace, suggest);
  const same = renamed(name, namespace.functions);
  return {
    at: call.callee.start,
    code: "TOOL_NOT_FOUND",
    message: `${server} has no tool "${name}". ${text}`,
    ...(same ? { write: correctedCall(call, `${server}.${same.jsName ?? same.name}`, same, code) } : {}),
    signatures,
  };
}

/** The tool of the server whose name is one of the texts in a call: `demo.callTool("list_orders", { … })`. */
function toolAmongTexts(call: CallExpression, { functions }: CalledFunction["namespace"], tree: Tree) {
  for (const { value, start, end } of tree.all("Literal")) {
    const isInside = start >= call.callee.end && end <= call.end;
    const found = isInside && typeof value === "string" ? renamed(value, functions) : undefined;
    if (found) return found;
  }
  return undefined;
}

/** The properties that every promise has. */
const ofPromises = new Set(["then", "catch", "finally", ...Object.getOwnPropertyNames(Object.prototype)]);

/** Finds promises that are used as if they were their values. Each finding is certain, whatever happens at run time. */
function checkPromises(scope: Scope): CodeMistake[] {
  const { tree } = scope;
  return [
    ...tree.nodes.flatMap((node) => used(node, tree)).flatMap((use) => finding(use, scope) ?? []),
    ...tree.all("CallExpression").flatMap((call) => asyncTest(call, scope) ?? []),
  ];
}

interface Use {
  node: Node;
  /** How the promise is used, as the end of the message: `and has no orders`. */
  as: string;
  /** Report calls only: a variable that holds a promise may be intended here. */
  direct?: boolean;
  /** What to write instead of an await. */
  write?: string;
}

/** The parts of a node that must be values and not promises. */
function used(node: Node, tree: Tree): Use[] {
  switch (node.type) {
    case "MemberExpression":
      return ofMember(node, tree);
    case "VariableDeclarator": {
      const { id, init } = node;
      const isPattern = id.type === "ObjectPattern" ? id.properties.length > 0 : id.type === "ArrayPattern";
      return isPattern && init ? [{ node: init, as: "and cannot be destructured" }] : [];
    }
    case "ForOfStatement":
      return [{ node: node.right, as: "and cannot be looped over" }];
    case "SpreadElement":
      return tree.parent(node)?.type === "ObjectExpression"
        ? []
        : [{ node: node.argument, as: "and cannot be spread" }];
    case "BinaryExpression":
      if (!/^(?:[-+*/%]|\*\*|[<>]=?)$/.test(node.operator)) return [];
      return [node.left, node.right].map((each) => ({ node: each, as: "and not a number or string" }));
    case "TemplateLiteral":
      // A tag function receives the promises themselves.
      if (tree.parent(node)?.type === "TaggedTemplateExpression") return [];
      return node.expressions.map((each) => {
        return { node: each, as: 'and becomes the string "[object Promise]"', direct: true };
      });
    case "IfStatement":
    case "ConditionalExpression":
    case "WhileStatement":
      return [{ node: node.test, as: "and is always true", direct: true }];
    case "UnaryExpression":
      return node.operator === "!" ? [{ node: node.argument, as: "and is always true", direct: true }] : [];
    case "CallExpression": {
      const [first] = node.arguments;
      const isAll = /^(?:all|allSettled|any|race)$/.test(methodName(node, "Promise") ?? "");
      const write = `await ${tree.text(node.callee)}([ … ])`;
      return isAll && first ? [{ node: first, as: "but a list is needed here", write }] : [];
    }
    default:
      return [];
  }
}

function ofMember(node: MemberExpression, tree: Tree): Use[] {
  const name = propertyName(node);
  const parent = tree.parent(node);
  const isSet = parent?.type === "AssignmentExpression" && parent.left === node;
  if (isSet || (name !== undefined && ofPromises.has(name))) return [];
  if (name === undefined && node.property.type !== "Literal") return [];
  return [{ node: node.object, as: `and has no ${name ?? tree.text(node.property)}` }];
}

function finding({ node, as, direct, write: instead }: Use, scope: Scope): CodeMistake | undefined {
  const { tree } = scope;
  const value = bare(node);
  // A program that sets properties of a promise knows that it is a promise.
  if (value.type === "Identifier" && (direct || setsMembers(value, tree))) return undefined;
  const promise = promiseOf(value, scope);
  if (!promise) return undefined;
  const { text, call, list } = promise;
  const line = `on line ${tree.line(list ? call.callee : call)}`;
  const later = isMember(tree.parent(node)) ? `(await ${text})` : `await ${text}`;
  const write = instead ?? (value === call ? later : `await before ${text} ${line}`);
  const shown = value.type === "Identifier" ? tree.text(value) : text;
  return missingAwait(
    value,
    list
      ? `${tree.text(value)} is one of a list of promises ${as}: write await ${text} ${line}`
      : `${shown} is a promise ${as}: write ${write}`,
  );
}

/** `orders.filter(async (o) => …)` keeps everything, because a promise is always true. */
function asyncTest(call: CallExpression, scope: Scope): CodeMistake | undefined {
  const [callback] = call.arguments;
  const method = methodName(call) ?? "";
  // An object of the program may have a method of that name that awaits its callback.
  const isTest =
    /^(?:filter|find|findLast|findIndex|some|every|sort|toSorted)$/.test(method) &&
    isMember(call.callee) &&
    isList(call.callee.object, scope);
  if (!isTest || !isFunction(callback) || !callback.async) return undefined;
  const first = "first const values = await Promise.all(list.map(async (each) => …)), then use the values";
  return missingAwait(
    callback,
    `${method} does not wait for an async callback, whose promise is always true: ${first}`,
  );
}

function missingAwait({ start }: Node, message: string): CodeMistake {
  return { at: start, code: "MISSING_AWAIT", message, signatures: [] };
}

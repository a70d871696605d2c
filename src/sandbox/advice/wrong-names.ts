/**
 * Names that mean nothing here, or not what the program expects: another agent's name of a tool, a missing global, a
 * hidden server.
 */
import type { CallExpression, Literal, Node } from "acorn";
import { didYouMean, misspelling } from "../../near-names.ts";
import { callOf, correctedCall } from "../ast/arguments.ts";
import { isCall, isFunction, isMember, isNamed, isWithin, propertyName } from "../ast/nodes.ts";
import { type Meant, objectName, toolInName, toolsNamed, wordsOf } from "../ast/tool-names.ts";
import type { Tree } from "../ast/tree.ts";
import { absentName } from "./absent.ts";
import { lines, nearest, suggestFor, toolsFor } from "./suggested-tools.ts";
import type { Advice, Failing, Surroundings } from "./surroundings.ts";

/** `memory is not initialized`, because `const memory = await memory.read_graph({})` hides the server of that name. */
export function notInitialized({ name, message }: Failing, around: Surroundings): Advice | undefined {
  const wanted = name === "ReferenceError" ? /^(.+) is not initialized$/.exec(message)?.[1] : undefined;
  if (wanted === undefined) return undefined;
  const { tree } = around.values;
  const uses = tree.nodes.filter((node) => isNamed(node, wanted) && tree.binding(node));
  const called = uses.find((node) => hiddenServer(node, around) !== undefined);
  if (called) return { hint: hiddenServer(called, around), at: called.start };
  const declared = uses.find((node) => isDeclaration(node, tree));
  return declared && { hint: `${wanted} is used before its declaration on line ${tree.line(declared)}.` };
}

/** The hint if a variable hides the server that a tool is called on. */
export function hiddenServer(object: Node, { scope, values: { tree } }: Surroundings): string | undefined {
  const { name } = object as Node & { name?: string };
  const server = scope.namespaces.find(({ jsName }) => jsName !== undefined && jsName === name);
  const member = tree.parent(object);
  const binding = tree.binding(object);
  if (!server || !binding || !isMember(member) || member.object !== object) return undefined;
  // A variable may well have properties of its own, unless they are the names of tools.
  const tool = propertyName(member);
  const isTool = server.functions === "any" || server.functions.some((each) => [each.name, each.jsName].includes(tool));
  if (!isTool) return undefined;
  const declared = binding.references.find((each) => isDeclaration(each, tree));
  const line = declared ? ` on line ${tree.line(declared)}` : "";
  return `The variable ${name}${line} hides the server ${name}. Rename the variable, or write servers.${tree.text(member)}(…) for the server.`;
}

function isDeclaration(name: Node, tree: Tree): boolean {
  for (const outer of tree.ancestors(name)) {
    if (isFunction(outer)) return outer.id === name || outer.params.some((each) => isWithin(name, each));
    const { id } = outer as Node & { id?: Node | null };
    if (outer.type === "VariableDeclarator" && id) return isWithin(name, id);
  }
  return false;
}

export function undefinedName(error: Failing, around: Surroundings): Advice | undefined {
  const name = /^'([^']+)' is not defined$/.exec(error.message)?.[1];
  if (name === undefined) return undefined;
  const dashed = dashedTool(error, around);
  if (dashed) return { hint: dashed };
  const { tree } = around.values;
  const calls = tree.nodes.filter(isCall);
  const uses = tree.nodes.filter((node) => isNamed(node, name));
  const here = uses.find((node) => node.start === error.at) ?? uses[0];
  const call = here && callOf(here, calls);
  const member =
    call && isMember(call.callee) && isNamed(call.callee.object, name) ? propertyName(call.callee) : undefined;
  const { namespaces } = around.scope;
  const write = ({ callee, tool }: Meant) => (call ? correctedCall(call, callee, tool, tree.code) : callee);
  const meant = toolInName(name, namespaces) ?? toolInName(member, namespaces);
  if (meant) return { hint: lines(`In code, call a tool as server.tool: ${write(meant)}`, meant.tool.signature) };

  const enclosing = here && [...tree.ancestors(here)].find(isCall);
  const assigned = enclosing && namedArguments(enclosing, name, tree, around.values.toolOf(enclosing) !== undefined);
  if (assigned)
    return {
      hint: assigned.startsWith("await ")
        ? `Pass named arguments in an object: ${assigned}`
        : `Write ${assigned}. ${sortWords(enclosing)}`,
    };
  const generic = enclosing ? byName(enclosing, name, around) : undefined;
  if (generic) return { hint: generic };
  const direct = call && member === undefined ? toolsNamed(name, namespaces) : [];
  if (direct.length > 0) {
    return {
      hint: lines(
        `Call a tool on its server: ${direct.map(write).join(" or ")}`,
        ...direct.map(({ tool }) => tool.signature),
      ),
    };
  }
  const absent = absentName(name);
  if (absent) return { hint: lines(absent.why, ...(absent.tool ? toolsFor(call ? tree.text(call) : "", around) : [])) };
  const undeclared = here && declaration(here, name, tree);
  if (undeclared) return { hint: undeclared };
  const declared = misspelling(name, [...new Set(tree.nodes.flatMap((node) => tree.binding(node)?.name ?? []))]);
  if (declared !== undefined) return { hint: `Did you mean ${declared}?` };
  if (!call) return undefined;
  return { hint: member === undefined ? unknownFunction(name, around) : unknownServer(name, member, write, around) };
}

/** `demo.list_orders(status="paid")`: arguments with names, as in Python. */
function namedArguments(call: CallExpression, name: string, tree: Tree, isTool: boolean): string | undefined {
  const all = call.arguments.flatMap((each) => (each.type === "AssignmentExpression" ? [each] : []));
  if (all.length === 0 || all.length < call.arguments.length || !all.some(({ left }) => isNamed(left, name)))
    return undefined;
  if (!isTool) return `${tree.text(call.callee)}(…): named arguments are Python syntax`;
  return `await ${tree.text(call.callee)}({ ${all.map(({ left, right }) => `${tree.text(left)}: ${tree.text(right)}`).join(", ")} })`;
}

const callers = /^(?:call|invoke|execute|run|use|request)(?:_?(?:mcp_?)?tool)?$|^(?:use|call)_mcp_tool$/i;

/** `client.callTool({ name: "list_orders", arguments: { … } })`: the name of the tool is a string in the call. */
function byName(call: CallExpression, name: string, { scope, values: { tree } }: Surroundings): string | undefined {
  const { callee } = call;
  const method =
    isMember(callee) && isNamed(callee.object, name) ? propertyName(callee) : isNamed(callee, name) ? name : undefined;
  if (method === undefined || !callers.test(method)) return undefined;
  const texts = tree
    .all<Literal>("Literal")
    .filter((node) => node.start >= callee.end && node.end <= call.end && typeof node.value === "string")
    .map(({ value }) => String(value));
  for (const text of texts) {
    const last = text.split(/[./]|__/).at(-1) ?? text;
    const [found] = [toolInName(text, scope.namespaces) ?? [], toolsNamed(last, scope.namespaces)].flat();
    if (found) return lines(`Call a tool as server.tool: await ${found.callee}(…)`, found.tool.signature);
  }
  return undefined;
}

function sortWords({ callee }: CallExpression): string {
  return isMember(callee) && /sort/i.test(propertyName(callee) ?? "") ? "For sort, write (a, b) => a.key - b.key." : "";
}

/** `total = 0` and `for (o of orders)` without a declaration. */
function declaration(name: Node, text: string, tree: Tree): string | undefined {
  const parent = tree.parent(name) as (Node & { left?: Node; right?: Node }) | undefined;
  if (parent?.left !== name) return undefined;
  if (/^For(?:Of|In)Statement$/.test(parent.type) && parent.right) {
    return `Declare it: for (const ${text} of ${tree.text(parent.right)}).`;
  }
  return parent.type === "AssignmentExpression" ? `Declare it: const ${text} = …, or let if it changes.` : undefined;
}

function dashedTool({ line }: Failing, { values: { tree }, scope }: Surroundings): string | undefined {
  for (const namespace of scope.namespaces) {
    for (const each of namespace.functions === "any" ? [] : namespace.functions) {
      const spelt = `${namespace.jsName}.${each.name}`;
      const [, text] = new RegExp(`${escaped(spelt)}\\b([^\\n]*)`).exec(tree.code) ?? [];
      if (!each.name.includes("-") || text === undefined) continue;
      if (line !== undefined && !tree.code.split("\n")[line - 1]?.includes(spelt)) continue;
      return lines(
        `The tool's name has a dash: write ${namespace.jsName}.${each.jsName}(…) or ${namespace.jsName}["${each.name}"](…).`,
        each.signature,
      );
    }
  }
  return undefined;
}

function unknownServer(name: string, tool: string, write: (meant: Meant) => string, around: Surroundings): string {
  const { namespaces } = around.scope;
  const servers = namespaces.map(objectName);
  const same = toolsNamed(tool, namespaces).slice(0, 3);
  const head = [`No server is called "${name}".`, didYouMean(name, servers), `Servers: ${listed(namespaces)}.`];
  if (same.length > 0) {
    const said = [head[0], head[2], `Write: ${same.map(write).join(" or ")}`].join(" ");
    return lines(said, ...same.map(({ tool: found }) => found.signature));
  }
  return lines(head.filter(Boolean).join(" "), ...nearest(suggestFor(wordsOf(`${name} ${tool}`), around)));
}

function listed(namespaces: Surroundings["scope"]["namespaces"]): string {
  const shown = namespaces
    .slice(0, 20)
    .map((each) => objectName(each) + (each.description ? ` (${each.description})` : ""));
  return shown.join(", ") || "none";
}

function unknownFunction(name: string, around: Surroundings): string | undefined {
  const signatures = suggestFor(wordsOf(name), around);
  return signatures.length > 0 ? lines(`There is no function "${name}".`, ...nearest(signatures)) : undefined;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

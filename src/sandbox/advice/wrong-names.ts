/** Explains names that do not exist here or have another meaning: another agent's name for a tool, a missing global, a hidden server. */
import type { CallExpression } from "acorn";
import { didYouMean, misspelling } from "../../base/near-names.ts";
import { correctedCall } from "../ast/arguments.ts";
import {
  isCall,
  isFunction,
  isInside,
  isMember,
  isNamed,
  keyName,
  methodName,
  type Node,
  propertyName,
} from "../ast/nodes.ts";
import { isCalled } from "../ast/tool-calls.ts";
import { callers, type Meant, objectName, toolInName, toolsNamed, wordsOf } from "../ast/tool-names.ts";
import type { Tree } from "../ast/tree.ts";
import type { Namespace } from "../contract.ts";
import { absent } from "./absent.ts";
import { type Advice, type Failing, lines, nearestTools, type Surroundings } from "./surroundings.ts";

/** `memory is not initialized`, because `const memory = await memory.read_graph({})` hides the server of that name. */
export function notInitialized({ name, message }: Failing, around: Surroundings): Advice | undefined {
  const wanted = name === "ReferenceError" ? /^(.+) is not initialized$/.exec(message)?.[1] : undefined;
  if (wanted === undefined) return undefined;
  const { tree } = around;
  const uses = tree.all("Identifier").filter((node) => isNamed(node, wanted) && tree.binding(node));
  const called = uses.find((node) => hiddenServer(node, around) !== undefined);
  if (called) return { hint: hiddenServer(called, around), at: called.start };
  const declared = uses.find((node) => isDeclaration(node, tree));
  return declared && { hint: `${wanted} is used before its declaration on line ${tree.line(declared)}.` };
}

/** The hint if a variable hides the server that a tool is called on. */
export function hiddenServer(object: Node, { tree, namespaces }: Surroundings): string | undefined {
  const server = namespaces.find(({ jsName }) => jsName !== undefined && isNamed(object, jsName));
  const member = tree.parent(object);
  const binding = tree.binding(object);
  if (!server || !binding || !isMember(member) || member.object !== object) return undefined;
  // A variable may well have properties of its own, unless they are the names of tools.
  const tool = propertyName(member) ?? "";
  if (server.functions !== "any" && !server.functions.some((each) => isCalled(each, tool))) return undefined;
  const declared = binding.references.find((each) => isDeclaration(each, tree));
  const line = declared ? ` on line ${tree.line(declared)}` : "";
  return `The variable ${binding.name}${line} hides the server ${binding.name}. Rename the variable, or write servers.${tree.text(member)}(…) for the server.`;
}

function isDeclaration(name: Node, tree: Tree): boolean {
  for (const outer of tree.ancestors(name)) {
    if (isFunction(outer)) return outer.id === name || outer.params.some((each) => isInside(name, each));
    if (outer.type === "VariableDeclarator") return isInside(name, outer.id);
  }
  return false;
}

export function undefinedName(error: Failing, around: Surroundings): Advice | undefined {
  const name = /^'([^']+)' is not defined$/.exec(error.message)?.[1];
  const hint = name && (dashedTool(error, around) ?? hintFor(name, error.at, around));
  return hint ? { hint } : undefined;
}

function hintFor(name: string, at: number | undefined, around: Surroundings): string | undefined {
  const { tree, namespaces } = around;
  const uses = tree.all("Identifier").filter((node) => node.name === name);
  const here = uses.find((node) => node.start === at) ?? uses[0];
  const call = here && tree.all("CallExpression").findLast(({ callee }) => isInside(here, callee));
  const member = methodName(call, name);
  const write = ({ callee, tool }: Meant) => (call ? correctedCall(call, callee, tool, tree.code) : callee);
  const meant = toolInName(name, namespaces) ?? toolInName(member, namespaces);
  if (meant) return lines(`In code, call a tool as server.tool: ${write(meant)}`, meant.tool.signature);
  const enclosing = here && tree.ancestors(here).find(isCall);
  const inCall = enclosing && (namedArguments(enclosing, name, around) ?? byName(enclosing, name, around));
  if (inCall) return inCall;
  const direct = call && member === undefined ? toolsNamed(name, namespaces) : [];
  if (direct.length > 0) {
    const signatures = direct.map(({ tool }) => tool.signature);
    return lines(`Call a tool on its server: ${direct.map(write).join(" or ")}`, ...signatures);
  }
  const known =
    serverFunction(name, call, around) ??
    absent(name, call ? tree.text(call) : "", around) ??
    (here && undeclared(here, tree));
  if (known) return known;
  const declared = misspelling(name, new Set(tree.all("Identifier").flatMap((node) => tree.binding(node)?.name ?? [])));
  if (declared !== undefined) return `Did you mean ${declared}?`;
  if (member !== undefined) return unknownServer(name, member, write, around);
  const nearest = call ? nearestTools(wordsOf(name), around) : [];
  return nearest.length > 0 ? lines(`There is no function "${name}".`, ...nearest) : undefined;
}

/** `demo.list_orders(status="paid")`: arguments with names, as in Python. */
function namedArguments(call: CallExpression, name: string, { tree, values }: Surroundings): string | undefined {
  const all = call.arguments.flatMap((each) => (each.type === "AssignmentExpression" ? [each] : []));
  if (all.length < call.arguments.length || !all.some(({ left }) => isNamed(left, name))) return undefined;
  const callee = tree.text(call.callee);
  if (values.toolOf(call)) {
    const given = all.map(({ left, right }) => `${tree.text(left)}: ${tree.text(right)}`);
    return `Pass named arguments in an object: await ${callee}({ ${given.join(", ")} })`;
  }
  const sort = /sort/i.test(methodName(call) ?? "") ? " For sort, write (a, b) => a.key - b.key." : "";
  return `Write ${callee}(…): named arguments are Python syntax.${sort}`;
}

/** Names of functions that read resources and prompts elsewhere, and the functions that do so here. */
const serverFunctions: [names: RegExp, written: string][] = [
  [
    /^(?:read|get|fetch|open|load)_?(?:mcp_?)?resources?(?:_?tool)?$|^resources\.(?:read|get|fetch)$/i,
    "resources.read",
  ],
  [/^(?:list|get)_?(?:mcp_?)?resource_?templates$|^resources\.templates$/i, "resources.templates"],
  [/^list_?(?:mcp_?)?resources?(?:_?tool)?$|^resources\.list$/i, "resources.list"],
  [/^(?:get|read|fetch|use)_?(?:mcp_?)?prompt(?:_?tool)?$|^prompts\.(?:get|read)$/i, "prompts.get"],
  [/^list_?(?:mcp_?)?prompts?(?:_?tool)?$|^prompts\.list$/i, "prompts.list"],
];

/** `readResource("demo://returns")`, `mcp.readResource(…)` or `resources.read(…)`: resources and prompts belong to a server. */
function serverFunction(name: string, call: CallExpression | undefined, around: Surroundings): string | undefined {
  const { tree, namespaces } = around;
  const parts = call ? tree.text(call.callee).split(".") : [];
  const ends = [parts.slice(-1), parts.slice(-2)].map((each) => each.join("."));
  const [, written] = serverFunctions.find(([names]) => ends.some((end) => names.test(end))) ?? [];
  if (!call || written === undefined || parts[0] !== name) return undefined;
  const texts = tree.all("Literal").flatMap(({ value, start }) => {
    return typeof value === "string" && start >= call.callee.end && start < call.end ? [value] : [];
  });
  const isMeant = ({ name: server, jsName }: Namespace) =>
    texts.some((text) => [server, jsName].includes(text) || [server, jsName].includes(text.split("://")[0]));
  const server = namespaces.find(isMeant) ?? (namespaces.length === 1 ? namespaces[0] : undefined);
  const [first] = call.arguments;
  const properties = first?.type === "ObjectExpression" ? first.properties : [];
  const named = properties.flatMap((each) =>
    each.type === "Property" && /^(?:uri|name|arguments|args)$/.test(keyName(each) ?? "")
      ? [tree.text(each.value)]
      : [],
  );
  const plain = call.arguments.filter((each) => each.type !== "Literal" || each.value !== server?.name);
  const given = properties.length > 0 ? named : plain.map((each) => tree.text(each));
  const write = `await ${server ? objectName(server) : "server"}.${written}(${written.endsWith("s.list") ? "" : given.join(", ")})`;
  return `Resources and prompts belong to a server: ${write}${server ? "" : `. Servers: ${listed(namespaces)}.`}`;
}

/** `client.callTool({ name: "list_orders", arguments: { … } })`: the name of the tool is a string in the call. */
function byName(call: CallExpression, name: string, { tree, namespaces }: Surroundings): string | undefined {
  const { callee } = call;
  if (!callers.test(methodName(call, name) ?? (isNamed(callee, name) ? name : ""))) return undefined;
  for (const { value, start, end } of tree.all("Literal")) {
    if (typeof value !== "string" || start < callee.end || end > call.end) continue;
    const last = value.split(/[./]|__/).at(-1) ?? value;
    const found = toolInName(value, namespaces) ?? toolsNamed(last, namespaces)[0];
    if (found) return lines(`Call a tool as server.tool: await ${found.callee}(…)`, found.tool.signature);
  }
  return undefined;
}

/** `total = 0` and `for (o of orders)` without a declaration. */
function undeclared(name: Node, tree: Tree): string | undefined {
  const parent = tree.parent(name);
  const text = tree.text(name);
  const isLoop = parent?.type === "ForOfStatement" || parent?.type === "ForInStatement";
  if (isLoop && parent.left === name) return `Declare it: for (const ${text} of ${tree.text(parent.right)}).`;
  const isSet = parent?.type === "AssignmentExpression" && parent.left === name;
  return isSet ? `Declare it: const ${text} = …, or let if it changes.` : undefined;
}

/** `demo.export-orders(…)` is a subtraction. */
function dashedTool({ line }: Failing, { tree, namespaces }: Surroundings): string | undefined {
  const text = line === undefined ? tree.code : (tree.code.split("\n")[line - 1] ?? "");
  for (const { jsName, functions } of namespaces) {
    for (const each of functions === "any" ? [] : functions) {
      if (!each.name.includes("-") || !new RegExp(`${RegExp.escape(`${jsName}.${each.name}`)}\\b`).test(text)) continue;
      const write = `${jsName}.${each.jsName}(…) or ${jsName}["${each.name}"](…)`;
      return lines(`The tool's name has a dash: write ${write}.`, each.signature);
    }
  }
  return undefined;
}

function unknownServer(name: string, tool: string, write: (meant: Meant) => string, around: Surroundings): string {
  const { namespaces } = around;
  const same = toolsNamed(tool, namespaces).slice(0, 3);
  const unknown = `No server is called "${name}".`;
  const servers = `Servers: ${listed(namespaces)}.`;
  if (same.length > 0) {
    const signatures = same.map((found) => found.tool.signature);
    return lines(`${unknown} ${servers} Write: ${same.map(write).join(" or ")}`, ...signatures);
  }
  const head = [unknown, didYouMean(name, namespaces.map(objectName)), servers].filter(Boolean).join(" ");
  return lines(head, ...nearestTools(wordsOf(`${name} ${tool}`), around));
}

function listed(namespaces: readonly Namespace[]): string {
  const shown = namespaces
    .slice(0, 20)
    .map((each) => objectName(each) + (each.description ? ` (${each.description})` : ""));
  return shown.join(", ") || "none";
}

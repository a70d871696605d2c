/** Warnings about a program that succeeded although it is certainly wrong. Loaded only when its outcome looks wrong. */

import type { CallExpression, Literal } from "acorn";
import { objectAt } from "../../base/json-object.ts";
import { misspelling } from "../../base/near-names.ts";
import {
  bare,
  type FunctionNode,
  isCall,
  isFunction,
  isInside,
  isMember,
  methodName,
  type Node,
  propertyName,
} from "../ast/nodes.ts";
import { isSameName } from "../ast/tool-names.ts";
import type { Binding, Tree } from "../ast/tree.ts";
import type { LogEntry } from "../contract.ts";
import type { KnownTools } from "../worker/known-tools.ts";
import type { ProgramOutput } from "../worker/suspect-output.ts";
import { mayNotHaveRun } from "./guards.ts";
import { areTexts } from "./shapes.ts";
import { type Surroundings, surroundingsOf } from "./surroundings.ts";
import { circular, mapAsObject, missing } from "./wrong-output.ts";

/** Warnings about one program. */
const maxWarnings = 5;

/** Values of a property that the advice has seen. With more, it is not a set of choices. */
const maxChoices = 12;

/** The warnings as lines of the log. */
export async function warn(output: ProgramOutput, plain: Tree, known: KnownTools): Promise<LogEntry[]> {
  const warnings = await known.resolved(() => warningsFor(output, surroundingsOf(plain, known, output.calls)));
  return warnings.map((text) => ({ level: "warn", text }));
}

function warningsFor(output: ProgramOutput, around: Surroundings): string[] {
  const all =
    output.calls.length === 0
      ? nothingRan(output, around)
      : [
          ...calledWrongly(output),
          ...missing(output, around),
          ...mapAsObject(around),
          ...unawaited(output, around),
          ...neverTrue(output, around),
          ...mappedToNothing(output, around),
          ...lostWork(output, around),
          ...circular(output),
        ];
  return [...new Set(all)]
    .slice(0, maxWarnings)
    .map((text) => `warning${text.startsWith("line ") ? "," : ":"} ${text}`);
}

/** Every call of a tool had arguments that the tool does not take, and the output does not say what it takes. */
function calledWrongly({ calls, json = "", logs }: ProgramOutput): string[] {
  const output = [json, ...logs.map(({ text }) => text)];
  const shows = (text: string) =>
    output.some((each) => each.includes(text) || each.includes(JSON.stringify(text).slice(1, -1)));
  return calls.flatMap(({ tool, calls: made, failures, failure }) => {
    if (failures < made || failure?.code !== "INVALID_ARGUMENTS") return [];
    const { message, hint } = failure;
    const unseen = [...(shows(message) ? [] : [message]), ...(hint && !shows(hint.split("\n")[0] ?? "") ? [hint] : [])];
    return unseen.length > 0 ? [`${tool} was called wrongly: ${unseen.join(". ")}`] : [];
  });
}

/** `demo.list_orders({}).orders`: no promise has that property. The guest saw it being read. */
function unawaited({ notes }: ProgramOutput, { tree }: Surroundings): string[] {
  return (notes?.unawaited ?? []).map(({ tool, key }) => {
    const read = tree.all("MemberExpression").find((node) => propertyName(node) === key);
    const where = read ? `line ${tree.line(read)}: ` : "";
    return `${where}${key} was read from the promise of ${tool}(…): put await in front of the call.`;
  });
}

/** A callback in braces that returns nothing, where a value is expected: `list.map((o) => { id: o.id })`. */
function mappedToNothing({ notes }: ProgramOutput, { tree }: Surroundings): string[] {
  const givesUndefined = notes?.odd.some(({ kind }) => kind === "undefined") ?? false;
  return tree.all("CallExpression").flatMap((call) => {
    const [callback] = call.arguments;
    const method = methodName(call) ?? "";
    if (!/^(?:map|flatMap|filter|find|some|every)$/.test(method) || !isFunction(callback) || callback.async) return [];
    const body = callback.body.type === "BlockStatement" ? callback.body.body : [];
    // A label in place of a statement can only be meant as a key.
    const isObject = body.length > 0 && body.every((node) => node.type === "LabeledStatement");
    const isShown = method === "map" && givesUndefined && tree.parent(call)?.type === "ReturnStatement";
    const throws = tree.all("ThrowStatement").some((each) => tree.functionAround(each) === callback);
    if (body.length === 0 || tree.returned(callback).length > 0 || throws || !(isObject || isShown)) return [];
    const advice = isObject ? "an object needs parentheses: (o) => ({ … })" : "add return, or remove the braces";
    return [`line ${tree.line(call.callee)}: the callback of ${method} returns nothing: ${advice}.`];
  });
}

/** The program has calls of tools, all of them in a function that was never called. */
function nothingRan({ json, notes, logs, displayed }: ProgramOutput, { tree, values }: Surroundings): string[] {
  const isFunctionShown = notes?.odd.some(({ kind, path }) => kind === "function" && path === "") ?? false;
  if (logs.length > 0 || displayed || !(json === undefined || isFunctionShown)) return [];
  const calls = tree.all("CallExpression").filter((call) => values.toolOf(call));
  for (const node of tree.nodes.filter(isFunction)) {
    const parent = tree.parent(node);
    const name = node.id ?? (parent?.type === "VariableDeclarator" ? parent.id : undefined);
    const statement: Node | undefined = parent?.type === "VariableDeclarator" ? tree.parent(parent) : node;
    const isTop = tree.program.body.some((each) => each === statement);
    if (!isTop || name?.type !== "Identifier" || !calls.some((call) => isInside(call, node))) continue;
    const uses = tree.binding(name)?.references.filter((each) => each !== name) ?? [];
    if (isFunctionShown && uses.length === 1 && isValue(uses[0], tree))
      return ["the value is a function that was not called: add () after its name."];
    if (isFunctionShown || uses.length > 0) continue;
    const call = `${node.async ? "await " : ""}${name.name}(${node.params.length > 0 ? "…" : ""})`;
    const line = tree.line(node);
    return [`nothing ran: ${name.name} is declared on line ${line} but never called. End with: return ${call};`];
  }
  return [];
}

/** Whether a name alone is the value of the program: `return main;` or `main;`. */
function isValue(name: Node | undefined, tree: Tree): boolean {
  const parent = name && tree.parent(bare(name));
  return parent?.type === "ReturnStatement" || parent?.type === "ExpressionStatement";
}

/** Variables that work without an await changed after the program had read them. */
function lostWork({ notes }: ProgramOutput, { tree }: Surroundings): string[] {
  if (!notes?.late) return [];
  return tree.all("ExpressionStatement").flatMap(({ expression }) => {
    const call = bare(expression);
    const [callback] = isCall(call) ? call.arguments : [];
    const method = methodName(call) ?? "";
    const isCallback = /^(?:forEach|map)$/.test(method) && isFunction(callback);
    const work = isCallback ? callback : isCall(call) ? tree.onlyFunction(call.callee) : undefined;
    if (!isCall(call) || !work?.async) return [];
    const lost = changedIn(work, tree).find((change) => isReadAfter(change, call, tree));
    if (!lost) return [];
    const line = tree.line(call.callee);
    const why = `${lost.binding.name} was read before its calls finished.`;
    return method === "forEach"
      ? `line ${line}: forEach does not wait for an async callback: ${why} Write for (const … of …) with await, or await Promise.all(list.map(async …)).`
      : `line ${line}: ${tree.text(call.callee)}(…) is not awaited: ${why} Put await in front of it.`;
  });
}

interface Change {
  binding: Binding;
  /** The variable gets another value; a list or a map only grows. */
  replaced: boolean;
}

/** Variables from outside the function that it changes. */
function changedIn(work: FunctionNode, tree: Tree): Change[] {
  const isOwn = (name: Node) => {
    const parent = tree.parent(name);
    return parent?.type === "VariableDeclarator" && parent.id === name && isInside(name, work);
  };
  return tree.nodes.flatMap((node) => {
    const target = isInside(node, work.body) ? targetOf(node) : undefined;
    const changed = isMember(target) ? target.object : target;
    const binding = changed && tree.binding(changed);
    if (!binding || binding.references.some(isOwn)) return [];
    return [{ binding, replaced: changed === target }];
  });
}

/** What a node changes: `x` of `x = 1` and `x++`, `x.push` of `x.push(1)`. */
function targetOf(node: Node): Node | undefined {
  if (node.type === "AssignmentExpression") return node.left;
  if (node.type === "UpdateExpression") return node.argument;
  return isCall(node) && /^(?:push|set|add|unshift)$/.test(methodName(node) ?? "") ? node.callee : undefined;
}

/** A list that is only returned is complete when it is shown, but its length is read too early. */
function isReadAfter({ binding, replaced }: Change, call: CallExpression, tree: Tree): boolean {
  return binding.references.some((each) => {
    if (each.start < call.end) return false;
    const parent = tree.parent(each);
    return replaced || isMember(parent) || isCall(parent) || parent?.type === "TemplateLiteral";
  });
}

/**
 * Certain if the values differ from the string only in their spelling, or if the server declares the choices, the string
 * is none of them, and the program found nothing.
 */
function neverTrue({ json = "", logs }: ProgramOutput, around: Surroundings): string[] {
  const { tree, values } = around;
  const isEmpty = logs.length === 0 && /^(?:|0|\[\]|\{\}|null|""|\{"\w+":(?:0|\[\])\})$/.test(json);
  const all = tree.nodes.flatMap(comparisonsIn);
  return all.flatMap((comparison) => {
    const { node, property, wanted, isEqual } = comparison;
    const seen = [...new Set(values.of(property)?.values)];
    if (seen.length === 0 || seen.length > maxChoices || !areTexts(seen) || mayNotHaveRun(property, around)) return [];
    const declared = isMember(property) ? choicesOf(propertyName(property) ?? "", around, seen) : undefined;
    const choices = declared ?? seen;
    // Programs that try several spellings may include one that exists.
    const tried = [wanted, ...alternatives(comparison, all, tree)];
    const isMisspelt = choices.some((each) => isSameName(each, wanted));
    if (tried.some((each) => choices.includes(each)) || !(isMisspelt || (declared && isEqual && isEmpty))) return [];
    const near = misspelling(wanted, choices);
    const listed = choices.slice(0, maxChoices).map((each) => JSON.stringify(each));
    const meant = near === undefined ? "" : ` Did you mean ${JSON.stringify(near)}?`;
    const what = declared ? "it can be" : "it was";
    return `line ${tree.line(node)}: ${tree.text(property)} is never ${JSON.stringify(wanted)}: ${what} ${listed.join(", ")}.${meant}`;
  });
}

/** The strings that the same property is compared with in one condition or switch. */
function alternatives({ node, property }: Comparison, all: Comparison[], tree: Tree): string[] {
  const isOuter = ({ type }: Node) => type === "LogicalExpression" || type === "SwitchStatement";
  const outer = tree.ancestors(node).filter(isOuter).toArray().at(-1) ?? node;
  const same = all.filter((each) => isInside(each.node, outer) && tree.text(each.property) === tree.text(property));
  return same.map((each) => each.wanted);
}

interface Comparison {
  node: Node;
  property: Node;
  wanted: string;
  /** The code asks for equality, not for inequality. */
  isEqual: boolean;
}

/** `a.b === "c"`, `["c", "d"].includes(a.b)`, and the cases of a switch. */
function comparisonsIn(node: Node): Comparison[] {
  if (node.type === "BinaryExpression" && /^[!=]==?$/.test(node.operator)) {
    const { left, right } = node;
    const [property, text] = isText(right) ? [left, right] : [right, left];
    const isEqual = !node.operator.startsWith("!");
    return isText(text) ? [{ node, property, wanted: text.value, isEqual }] : [];
  }
  if (node.type === "SwitchStatement") {
    return node.cases.flatMap(({ test }) => {
      return isText(test) ? [{ node: test, property: node.discriminant, wanted: test.value, isEqual: true }] : [];
    });
  }
  if (node.type !== "CallExpression" || methodName(node) !== "includes") return [];
  const [property] = node.arguments;
  const list = isMember(node.callee) && node.callee.object.type === "ArrayExpression" ? node.callee.object : undefined;
  if (!property || !list) return [];
  return list.elements.filter(isText).map(({ value: wanted }) => ({ node, property, wanted, isEqual: true }));
}

function isText(node: Node | null | undefined): node is Literal & { value: string } {
  return node?.type === "Literal" && typeof node.value === "string";
}

/**
 * The values that an argument of the same name may have on the called servers, if they include all values that were
 * seen.
 */
function choicesOf(name: string, { namespaces, calls }: Surroundings, seen: string[]): string[] | undefined {
  const called = namespaces.filter((each) => calls.some(({ tool }) => tool.startsWith(`${each.name}.`)));
  const functions = called.flatMap((each) => (each.functions === "any" ? [] : each.functions));
  const fitting = functions.flatMap(({ inputSchema }) => {
    const choices = objectAt(inputSchema, ["properties", name])["enum"];
    return Array.isArray(choices) && seen.every((each) => choices.includes(each)) ? choices.map(String) : [];
  });
  return fitting.length > 0 ? [...new Set(fitting)] : undefined;
}

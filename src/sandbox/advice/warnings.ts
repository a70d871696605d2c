/** Warnings about a program that succeeded although it is certainly wrong. Loaded only when its outcome looks wrong. */
import type { CallExpression, Function as FunctionNode, Node } from "acorn";
import { bare, isCall, isFunction, isMember, isWithin, propertyName } from "../ast/nodes.ts";
import type { ParsedCode, Tree } from "../ast/tree.ts";
import type { LogEntry } from "../contract.ts";
import type { KnownTools } from "../known-tools.ts";
import type { Output } from "../suspicion.ts";
import { neverTrue } from "./comparisons.ts";
import { lostWork } from "./lost-work.ts";
import { type Surroundings, surroundingsOf } from "./surroundings.ts";
import { circular, mapAsObject, missing, nanCauses } from "./wrong-output.ts";

const maxWarnings = 5;

/** The warnings as lines of the log. */
export async function warn(output: Output, plain: ParsedCode, known: KnownTools): Promise<LogEntry[]> {
  const warnings = await known.resolved(() => warningsFor(output, plain, surroundingsOf(plain, known, output.calls)));
  return warnings.map((text) => ({ level: "warn", text }));
}

function warningsFor(output: Output, { program }: ParsedCode, around: Surroundings): string[] {
  const all =
    output.calls.length === 0
      ? nothingRan(output, program.body, around)
      : [
          ...calledWrongly(output),
          ...missing(output, around),
          ...nanCauses(output, around),
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
function calledWrongly({ calls, json = "", logs }: Output): string[] {
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
function unawaited({ notes }: Output, { values: { tree } }: Surroundings): string[] {
  return (notes?.unawaited ?? []).flatMap(({ tool, key }) => {
    const read = tree.nodes.filter(isMember).find((node) => propertyName(node) === key);
    const where = read ? `line ${tree.line(read)}: ` : "";
    return `${where}${key} was read from the promise of ${tool}(…): put await in front of the call.`;
  });
}

/** A callback in braces that returns nothing, where a value is expected: `list.map((o) => { id: o.id })`. */
function mappedToNothing({ notes }: Output, { values: { tree } }: Surroundings): string[] {
  const givesUndefined = notes?.odd.some(({ kind }) => kind === "undefined") ?? false;
  return tree.all<CallExpression>("CallExpression").flatMap((call) => {
    const { callee } = call;
    const [callback] = call.arguments;
    const method = isMember(callee) ? (propertyName(callee) ?? "") : "";
    if (!/^(?:map|flatMap|filter|find|some|every)$/.test(method) || !isFunction(callback)) return [];
    if (callback.body.type !== "BlockStatement" || callback.body.body.length === 0 || callback.async) return [];
    // A label in place of a statement can only be meant as a key.
    const isObject = callback.body.body.every((node) => node.type === "LabeledStatement");
    const isShown = method === "map" && givesUndefined && tree.parent(call)?.type === "ReturnStatement";
    if (tree.returned(callback).length > 0 || throwsItself(callback, tree) || !(isObject || isShown)) return [];
    const advice = isObject ? "an object needs parentheses: (o) => ({ … })" : "add return, or remove the braces";
    return [`line ${tree.line(callee)}: the callback of ${method} returns nothing: ${advice}.`];
  });
}

function throwsItself(callback: FunctionNode, tree: Tree): boolean {
  return tree.all("ThrowStatement").some((each) => tree.functionAround(each) === callback);
}

/** The program has calls of tools, all of them in a function that was never called. */
function nothingRan({ json, notes, logs, displayed }: Output, body: readonly Node[], around: Surroundings): string[] {
  const { tree } = around.values;
  const isFunctionShown = notes?.odd.some(({ kind, path }) => kind === "function" && path === "") ?? false;
  if (logs.length > 0 || displayed || !(json === undefined || isFunctionShown)) return [];
  const callsTools = (node: Node) =>
    tree.nodes.some((each) => isCall(each) && isWithin(each, node) && around.values.toolOf(each));
  const declared = tree.nodes.filter(isFunction).flatMap((node) => {
    const parent = tree.parent(node) as (Node & { id?: FunctionNode["id"] }) | undefined;
    const name = node.id ?? (parent?.type === "VariableDeclarator" ? parent.id : null);
    const isTop = body.some((each) => each === node || (parent && each === tree.parent(parent)));
    return isTop && name?.type === "Identifier" && callsTools(node) ? [{ node, name }] : [];
  });
  for (const { node, name } of declared) {
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

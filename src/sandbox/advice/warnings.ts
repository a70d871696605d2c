/** Warnings about a program that succeeded although it is certainly wrong. Loaded only when its outcome looks wrong. */
import { bare, isFunction, isWithin, methodName, type Node, propertyName } from "../ast/nodes.ts";
import type { Tree } from "../ast/tree.ts";
import type { LogEntry } from "../contract.ts";
import type { KnownTools } from "../known-tools.ts";
import { maxWarnings } from "../limits.ts";
import type { ProgramOutput } from "../suspect-output.ts";
import { neverTrue } from "./comparisons.ts";
import { lostWork } from "./lost-work.ts";
import { type Surroundings, surroundingsOf } from "./surroundings.ts";
import { circular, mapAsObject, missing, nanCauses } from "./wrong-output.ts";

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
    if (!isTop || name?.type !== "Identifier" || !calls.some((call) => isWithin(call, node))) continue;
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

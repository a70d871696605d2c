/** Finds out why an expression is undefined, not a function or not a list, if the program and its results show the reason. */
import type { CallExpression, MemberExpression } from "acorn";
import { isObject } from "../../base/json-object.ts";
import {
  bare,
  isCall,
  isFunction,
  isInside,
  isMember,
  isNamed,
  methodName,
  type Node,
  propertyName,
} from "../ast/nodes.ts";
import { promiseOf } from "../ast/promises.ts";
import { shownExpression } from "./fault.ts";
import { missingAt, missingText } from "./missing-properties.ts";
import type { Seen } from "./seen.ts";
import { areTexts, keysOf, listKeys, shapeOf } from "./shapes.ts";
import type { Surroundings } from "./surroundings.ts";

const envelope = new Set(["content", "structuredContent", "isError", "text", "data", "result", "body", "json"]);

/**
 * `is` tells whether the expression was undefined, or something else than expected. The cause is undefined if none is
 * certain.
 */
export function causeOf(given: Node, around: Surroundings, is: "undefined" | "other"): string | undefined {
  const node = bare(given);
  const { tree, values } = around;
  const promise = promiseCause(node, around);
  if (promise) return promise;
  const seen = is === "other" ? values.of(node) : undefined;
  if (seen?.tool !== undefined && !seen.promised && seen.values.length > 0 && !seen.values.every(Array.isArray)) {
    const object = shownExpression(node, tree);
    return seen.whole ? usedWhole(object, seen, undefined) : `${object} is ${shapeOf(seen.values)}.`;
  }
  if (isMember(node)) return causeOfMember(node, around);
  if (isCall(node)) return causeOfResult(node, around);
  const [only, another] = (node.type === "Identifier" && tree.binding(node)?.sources) || [];
  if (only?.kind !== "value" || another) return undefined;
  const made = causeOf(only.node.type === "AwaitExpression" ? only.node.argument : only.node, around, is);
  if (only.path.length === 0 || promiseOf(only.node, around)) return made;
  // `const { items } = await demo.list_orders()`
  const step = only.path.findLast((each) => typeof each === "object" && "property" in each);
  const whole = values.of(only.node);
  if (!step || whole?.tool === undefined || whole.promised) return undefined;
  const lists = listKeys(whole);
  const object = whole.whole ? `The value of ${whole.call}` : shownExpression(only.node, tree);
  const instead = lists.length === 1 ? ` Its list is ${lists[0]}.` : "";
  return `${object} has no "${step.property}": ${shapeOf(whole.values)}.${instead}`;
}

/** The expression is a promise: of a call, or of a method that the program declares as async. */
function promiseCause(node: Node, around: Surroundings): string | undefined {
  const { tree } = around;
  const promise = promiseOf(node, around);
  const made = bare(tree.onlyValue(node) ?? node);
  const isAsync = isCall(made) && isMember(made.callee) && isAsyncMethod(methodName(made) ?? "", around);
  const call = promise?.call ?? (isAsync ? made : undefined);
  if (!call) return undefined;
  const text = promise?.text ?? `${tree.text(call.callee)}(…)`;
  if (isCall(node)) return `${text} is a promise: write (await ${text}).`;
  const shown = node.type === "Identifier" ? node.name : "It";
  return `${shown} is a promise: write await before ${text} on line ${tree.line(call)}.`;
}

/** Whether the program declares methods of that name, all of them async. */
function isAsyncMethod(name: string, { tree }: Surroundings): boolean {
  const methods = tree.nodes.flatMap((node) => {
    return "key" in node && isNamed(node.key, name) && isFunction(node.value) ? [node.value] : [];
  });
  return methods.length > 0 && methods.every((each) => each.async);
}

function causeOfMember(node: MemberExpression, around: Surroundings): string | undefined {
  const { tree } = around;
  const { object, property } = node;
  const promise = promiseCause(bare(object), around);
  if (promise) return promise;
  if (node.computed && property.type === "UnaryExpression" && property.operator === "-") {
    const text = tree.text(node);
    const list = tree.text(object);
    return `${text.length > 50 ? text.slice(-12).replace(/^.*\[/, "[") : text} is undefined, not the last element: write ${list.length > 40 ? "" : list}.at(${tree.text(property)}).`;
  }
  const missing = missingAt(node, around);
  if (missing?.seen.whole) return usedWhole(missing.object, missing.seen, missing.property);
  if (missing) return missing.seen.values.some(isObject) ? missingText(missing) : undefined;
  return node.computed && propertyName(node) === undefined ? emptyList(object, around) : undefined;
}

function emptyList(node: Node, { tree, values }: Surroundings): string | undefined {
  const seen = values.of(node)?.values ?? [];
  const isEmpty = seen.length > 0 && seen.every((value) => Array.isArray(value) && value.length === 0);
  return isEmpty ? `${shownExpression(node, tree)} is an empty list.` : undefined;
}

/** The program uses the value of a tool as an MCP envelope, or as the list inside it. */
function usedWhole(object: string, seen: Seen, property: string | undefined): string {
  const keys = keysOf(seen.values);
  const raw = property !== undefined && envelope.has(property) && !keys.includes(property);
  const lists = listKeys(seen);
  const list = lists.find((key) => key === object) ?? (lists.length === 1 ? lists[0] : undefined);
  const holder = /^\w+$/.test(object) ? object : "the value";
  const [text = ""] = keys;
  const isText = keys.length === 1 && areTexts(seen.values.map((value) => (value as Record<string, unknown>)[text]));
  const write = list
    ? ` Write ${holder}.${list}, or destructure it: const { ${list} } = await ${seen.call}(…).`
    : isText
      ? ` Write ${holder}.${text}, a string; its lines: ${holder}.${text}.split("\\n").`
      : "";
  const not = raw ? ", without an envelope" : "";
  const more = raw ? ` (${seen.call}.raw(…) returns the MCP result.)` : "";
  return `${object} is the value of ${seen.call} itself${not}: ${shapeOf(seen.values)}.${write}${more}`;
}

/** Why a call gave undefined: `list.find(…)`, `forEach`, and functions of the program that return nothing. */
function causeOfResult(call: CallExpression, around: Surroundings): string | undefined {
  const { tree } = around;
  const { callee } = call;
  if (isMember(callee)) {
    const method = methodName(call) ?? "";
    if (method === "forEach") return "forEach returns nothing: use map, or a for…of loop.";
    if (!/^(?:find|findLast|at|pop|shift|get|match|exec)$/.test(method)) return undefined;
    const nothing = `${shownExpression(call, tree)} found nothing.${comparedWith(call, around)}`;
    return emptyList(callee.object, around) ?? nothing;
  }
  const called = tree.onlyFunction(callee);
  if (called?.body.type !== "BlockStatement" || tree.returned(called).length > 0) return undefined;
  return `${tree.text(callee)} returns nothing: its return is missing (line ${tree.line(called)}).`;
}

/** For `find((o) => o.order_id === "x")`: the property that no element has. */
function comparedWith({ arguments: [callback] }: CallExpression, around: Surroundings): string {
  if (!isFunction(callback)) return "";
  for (const node of around.tree.all("MemberExpression")) {
    const missing = isInside(node, callback) ? missingAt(node, around) : undefined;
    if (missing) return ` ${missingText({ ...missing, meant: undefined })}`;
  }
  return "";
}

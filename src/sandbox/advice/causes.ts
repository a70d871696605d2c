/** Why an expression is undefined, not a function or not a list, where the program and its results show it. */
import type { CallExpression, MemberExpression, Node } from "acorn";
import { isObject } from "../../json-object.ts";
import { bare, isCall, isFunction, isMember, isNamed, isWithin, propertyName } from "../ast/nodes.ts";
import { promiseOf } from "../ast/promises.ts";
import { shownExpression } from "./fault.ts";
import { missingAt } from "./missing-properties.ts";
import type { Seen } from "./seen.ts";
import type { SeenValues } from "./seen-values.ts";
import { keysOf, listKeys, shapeOf } from "./shapes.ts";
import type { Surroundings } from "./surroundings.ts";

const envelope = new Set(["content", "structuredContent", "isError", "text", "data", "result", "body", "json"]);

/**
 * `is` tells whether the expression was undefined, or something else than expected. The cause is undefined if none is
 * certain.
 */
export function causeOf(given: Node, around: Surroundings, is: "undefined" | "other"): string | undefined {
  const node = bare(given);
  const { tree } = around.values;
  const promise = promiseOf(node, tree, around.scope);
  if (promise) return missingAwait(node, promise.text, tree.line(promise.call));
  const method = isCall(node) ? asyncMethod(node, around) : undefined;
  if (method) return missingAwait(node, method, tree.line(node));
  const seen = is === "other" ? around.values.of(node) : undefined;
  if (seen?.tool !== undefined && !seen.promised && seen.values.length > 0 && !seen.values.every(Array.isArray)) {
    const object = shownExpression(node, tree);
    return seen.whole ? usedWhole(object, seen, undefined) : `${object} is ${shapeOf(seen.values)}.`;
  }
  if (isMember(node)) return causeOfMember(node, around);
  if (isCall(node)) return causeOfResult(node, around);
  if (node.type !== "Identifier") return undefined;
  const sources = around.values.tree.binding(node)?.sources ?? [];
  const [only] = sources;
  if (sources.length !== 1 || only?.kind !== "value") return undefined;
  const made = causeOf(only.node.type === "AwaitExpression" ? only.node.argument : only.node, around, is);
  if (only.path.length === 0 || promiseOf(only.node, tree, around.scope)) return made;
  const name = only.path.findLast((step) => typeof step === "object" && "property" in step);
  const whole = around.values.of(only.node);
  return typeof name === "object" && "property" in name && whole?.tool !== undefined && !whole.promised
    ? takenFrom(name.property, whole, shownExpression(only.node, tree))
    : undefined;
}

/** The call whose result an expression is, directly or through a variable. */
function callIn(node: Node, { values: { tree } }: Surroundings): CallExpression | undefined {
  const value = bare(tree.onlyValue(node) ?? node);
  return isCall(value) ? value : undefined;
}

/** The call of a method that the program declares as async. */
function asyncMethod({ callee }: CallExpression, { values: { tree } }: Surroundings): string | undefined {
  const name = isMember(callee) ? propertyName(callee) : undefined;
  const methods = tree.nodes.flatMap((node) => {
    const { key, value } = node as Node & { key?: Node; value?: Node };
    return name !== undefined && key && isNamed(key, name) && isFunction(value) ? [value] : [];
  });
  return methods.length > 0 && methods.every((each) => each.async) ? `${tree.text(callee)}(…)` : undefined;
}

function missingAwait(node: Node, call: string, line: number): string {
  return isCall(node)
    ? `${call} is a promise: write (await ${call}).`
    : `${node.type === "Identifier" ? (node as Node & { name: string }).name : "It"} is a promise: write await before ${call} on line ${line}.`;
}

/** `const { items } = await demo.list_orders()`. */
function takenFrom(name: string, seen: Seen, object: string): string {
  const lists = listKeys(seen);
  const instead = lists.length === 1 ? ` Its list is ${lists[0]}.` : "";
  return `${seen.whole ? `The value of ${seen.call}` : object} has no "${name}": ${shapeOf(seen.values)}.${instead}`;
}

function causeOfMember(node: MemberExpression, around: Surroundings): string | undefined {
  const { values, scope } = around;
  const { tree } = values;
  const promise = node.object.type === "Super" ? undefined : promiseOf(node.object, tree, scope);
  if (promise) return missingAwait(bare(node.object), promise.text, tree.line(promise.call));
  const made = node.object.type === "Super" ? undefined : callIn(node.object, around);
  const method = made && asyncMethod(made, around);
  if (made && method) return missingAwait(bare(node.object), method, tree.line(made));
  if (isNegative(node)) {
    const text = tree.text(node);
    const object = tree.text(node.object);
    return `${text.length > 50 ? text.slice(-12).replace(/^.*\[/, "[") : text} is undefined, not the last element: write ${object.length > 40 ? "" : object}.at(${tree.text(node.property)}).`;
  }
  const missing = missingAt(node, values);
  if (missing) {
    const { seen, property, object, meant } = missing;
    if (seen.whole) return usedWhole(object, seen, property);
    const name = meant ? ` Did you mean ${meant}?` : "";
    if (!seen.values.some(isObject)) return undefined;
    return `${object} has no "${property}", only ${shapeOf(seen.values)}.${name}`;
  }
  return node.computed && propertyName(node) === undefined ? emptyList(node.object, values) : undefined;
}

function emptyList(node: Node, values: SeenValues): string | undefined {
  const seen = values.of(node)?.values ?? [];
  const isEmpty = seen.length > 0 && seen.every((value) => Array.isArray(value) && value.length === 0);
  return isEmpty ? `${shownExpression(node, values.tree)} is an empty list.` : undefined;
}

function isNegative({ computed, property }: MemberExpression): boolean {
  return (
    computed && property.type === "UnaryExpression" && property.operator === "-" && property.argument.type === "Literal"
  );
}

/** The value of a tool used as an MCP envelope, or as the list that is in it. */
function usedWhole(object: string, seen: Seen, property: string | undefined): string {
  const raw = property !== undefined && envelope.has(property) && !keysOf(seen.values).includes(property);
  const lists = listKeys(seen);
  const list = lists.find((key) => key === object) ?? (lists.length === 1 ? lists[0] : undefined);
  const holder = /^\w+$/.test(object) ? object : "the value";
  const [only, another] = keysOf(seen.values);
  const text =
    only && !another && seen.values.every((value) => typeof (value as never)[only] === "string") ? only : undefined;
  const write = list
    ? ` Write ${holder}.${list}, or destructure it: const { ${list} } = await ${seen.call}(…).`
    : text
      ? ` Write ${holder}.${text}, a string; its lines: ${holder}.${text}.split("\\n").`
      : "";
  const not = raw ? ", without an envelope" : "";
  const more = raw ? ` (${seen.call}.raw(…) returns the MCP result.)` : "";
  return `${object} is the value of ${seen.call} itself${not}: ${shapeOf(seen.values)}.${write}${more}`;
}

const findsNothing = new Set(["find", "findLast", "at", "pop", "shift", "get", "match", "exec"]);

/** Why a call gave undefined: `list.find(…)`, `forEach`, and functions of the program that return nothing. */
function causeOfResult(call: CallExpression, around: Surroundings): string | undefined {
  const { tree } = around.values;
  const { callee } = call;
  if (isMember(callee)) {
    const method = propertyName(callee) ?? "";
    if (method === "forEach") return "forEach returns nothing: use map, or a for…of loop.";
    if (!findsNothing.has(method)) return undefined;
    const nothing = `${shownExpression(call, tree)} found nothing.${comparedWith(call, around)}`;
    return emptyList(callee.object, around.values) ?? nothing;
  }
  const called = tree.onlyFunction(callee);
  if (called?.body.type !== "BlockStatement" || tree.returned(called).length > 0) return undefined;
  return `${tree.text(callee)} returns nothing: its return is missing (line ${tree.line(called)}).`;
}

/** For `find((o) => o.order_id === "x")`: the property that no element has. */
function comparedWith(call: CallExpression, around: Surroundings): string {
  const [callback] = call.arguments;
  if (!isFunction(callback)) return "";
  const { tree } = around.values;
  const within = tree.nodes.filter(isMember).filter((node) => isWithin(node, callback));
  for (const node of within) {
    const missing = missingAt(node, around.values);
    if (missing) return ` ${missing.object} has no "${missing.property}", only ${shapeOf(missing.seen.values)}.`;
  }
  return "";
}

/** Values that are used as something else: the message names the expression, the hint says what it is. */
import type { CallExpression, Node } from "acorn";
import { isCall, isMember, isNamed, propertyName } from "../ast/nodes.ts";
import { candidates, objectName, wordsOf } from "../ast/tool-names.ts";
import type { Tree } from "../ast/tree.ts";
import { causeOf } from "./causes.ts";
import { faultOf, shownExpression } from "./fault.ts";
import { collectionMethod, type Kind, methodInstead } from "./methods.ts";
import { shapeOf } from "./shapes.ts";
import { lines } from "./suggested-tools.ts";
import type { Advice, Failing, Surroundings } from "./surroundings.ts";
import { hiddenServer } from "./wrong-names.ts";

export function misuse(error: Failing, around: Surroundings): Advice | undefined {
  const { tree } = around.values;
  const fault = faultOf(error, tree);
  if (!fault) return undefined;
  const hint =
    hiddenServer(isMember(fault.node) ? fault.node.object : fault.node, around) ??
    readOfPromise(fault.node, error, around) ??
    listNotStarted(fault.node, around) ??
    ofGlobal(fault.node, around) ??
    causeOf(fault.node, around, fault.is) ??
    missedTool(error, around) ??
    (fault.message.endsWith("is not a function")
      ? methodOf(fault.node, around, fault.is)
      : settledValue(fault.node, around));
  return { message: fault.message, hint, at: fault.at };
}

/** `ids[order.country].push(id)`, where ids starts as `{}`. */
function listNotStarted(node: Node, { values: { tree } }: Surroundings): string | undefined {
  const added = tree.parent(node);
  const method = isMember(added) && added.object === node ? (propertyName(added) ?? "") : "";
  if (!isMember(node) || !node.computed || !/^(?:push|append|add|extend|unshift)$/.test(method)) return undefined;
  if (tree.onlyValue(node.object)?.type !== "ObjectExpression") return undefined;
  return `Start with an empty list: (${shownExpression(node, tree)} ??= []).push(value).`;
}

/** What the guest saw: a property that was read from the promise of a call. */
function readOfPromise(node: Node, { unawaited }: Failing, { values: { tree } }: Surroundings): string | undefined {
  const read = isMember(node) ? unawaited.findLast(({ key }) => key === propertyName(node)) : undefined;
  // A call that is written there itself is explained with its place.
  if (!read || !isMember(node) || isCall(node.object)) return undefined;
  return `${shownExpression(node.object, tree)} is the promise of ${read.tool}(…): put await in front of that call.`;
}

/** `tools.call(…)`, `tools.demo.list_orders(…)`, `servers.shop.list_orders(…)`. */
function ofGlobal(node: Node, { scope, values: { tree } }: Surroundings): string | undefined {
  const member = isMember(node) && isMember(node.object) ? node.object : node;
  if (!isMember(member) || tree.binding(member.object)) return undefined;
  const names = scope.namespaces.map(objectName);
  const name = propertyName(member) ?? "";
  if (isNamed(member.object, "tools") && !/^(?:search|describe|list)$/.test(name)) {
    const called = scope.namespaces.some((each) => each.name === name || each.jsName === name) ? name : "server";
    return `tools has search, describe and list. Call a tool on its server: await ${called}.tool({ … }). Servers: ${names.join(", ")}.`;
  }
  const known = scope.namespaces.some((each) => each.name === name || each.jsName === name);
  return isNamed(member.object, "servers") && !known
    ? `No server is called "${name}". Servers: ${names.join(", ")}.`
    : undefined;
}

/** `orders.append(o)`: what the object was, and which method does the same. */
function methodOf(node: Node, { values }: Surroundings, is: "undefined" | "other"): string | undefined {
  if (!isMember(node) || node.object.type === "Super") return undefined;
  const seen = values.of(node.object);
  const name = propertyName(node) ?? "";
  const known = seen && !seen.promised && seen.values.length > 0 ? seen.values : undefined;
  const object = shownExpression(node.object, values.tree);
  const made = collectionOf(node.object, values.tree);
  const inCollection = made && collectionMethod(name, object, made);
  if (inCollection) return `${object} is a ${made}: ${inCollection}.`;
  const instead =
    is === "other"
      ? methodInstead(name, object, known ? kindOf(known) : startKind(node.object, values.tree))
      : undefined;
  return lines(known && `${object} is ${shapeOf(known)}.`, instead) || undefined;
}

const settled =
  'A rejected result has no value: each is { status: "fulfilled", value } or { status: "rejected", reason }.';

function settledValue(node: Node, { values: { tree } }: Surroundings): string | undefined {
  return isMember(node) && propertyName(node) === "value" && tree.code.includes("allSettled") ? settled : undefined;
}

/** `new Set(…)` and `new Map(…)`. */
function collectionOf(node: Node, tree: Tree): "Set" | "Map" | undefined {
  const value = tree.onlyValue(node);
  if (value?.type !== "NewExpression") return undefined;
  return isNamed(value.callee, "Set") ? "Set" : isNamed(value.callee, "Map") ? "Map" : undefined;
}

/** The kind of a variable that starts as `[]`, `{}` or a string and is never replaced. */
function startKind(node: Node, tree: Tree): Kind | undefined {
  const type = tree.onlyValue(node)?.type;
  if (type === "ArrayExpression") return "list";
  return type === "ObjectExpression" ? "other" : type === "TemplateLiteral" ? "text" : undefined;
}

function kindOf(values: readonly unknown[]): Kind {
  if (values.every(Array.isArray)) return "list";
  return values.every((value) => typeof value === "string") ? "text" : "other";
}

/** A missing tool that was asked for by a computed name, or read before it was called. */
export function missedTool({ missed }: Failing, around: Surroundings): string | undefined {
  const last = missed.at(-1);
  if (last === undefined) return undefined;
  const dot = last.indexOf(".");
  const [server, tool] = [last.slice(0, dot), last.slice(dot + 1)];
  const namespace = around.scope.namespaces.find(({ name, jsName }) => name === server || jsName === server);
  if (!namespace || namespace.functions === "any") return undefined;
  const suggested = around.suggest(wordsOf(tool), 20).filter((each) => each.server === namespace.name);
  const { names, signatures } = candidates(tool, namespace.functions, suggested);
  const all = namespace.functions.map((each) => each.jsName ?? each.name);
  const instead =
    names.length > 0 ? `Did you mean ${names.join(" or ")}?` : `Its tools: ${all.slice(0, 30).join(", ")}`;
  return lines(`${namespace.jsName ?? server} has no tool "${tool}". ${instead}`, ...signatures);
}

/** `JSON.parse(result)` of a value that is already parsed, or of text that is not JSON. */
export function parsedAgain({ name, at, message }: Failing, around: Surroundings): Advice | undefined {
  const { tree } = around.values;
  if (name !== "SyntaxError" || at === undefined) return undefined;
  const call = tree.nodes
    .filter(isCall)
    .find((node): node is CallExpression => isParse(node) && node.callee.end <= at && at < node.end);
  const [first] = call?.arguments ?? [];
  if (!first) return undefined;
  const cause = causeOf(first, around, "other");
  const seen = around.values.of(first);
  const text = tree.text(first);
  if (seen && !seen.promised && seen.values.length > 0 && seen.values.every((value) => typeof value === "object")) {
    const [list] = shapeOf(seen.values).startsWith("{") ? Object.keys(seen.values[0] ?? {}) : [];
    const write = list && /^\w+$/.test(text) ? ` Write ${text}.${list}.` : "";
    return {
      message: `JSON.parse got an object, not a string: ${text}`,
      hint: `${text} is the value of ${seen.call} itself, already parsed: leave out JSON.parse. It is ${shapeOf(seen.values)}.${write}`,
    };
  }
  if (seen?.values.length && seen.values.every((value) => typeof value === "string")) {
    const [sample] = seen.values as string[];
    return {
      message: `${text} is not JSON (${message})`,
      hint: `It is plain text that starts with ${JSON.stringify(sample?.slice(0, 80))}`,
    };
  }
  if (message === "unexpected token: 'object'")
    return { message: `JSON.parse got an object, not a string: ${text}`, hint: cause };
  return cause === undefined ? undefined : { hint: cause };
}

function isParse({ callee }: CallExpression): boolean {
  return isMember(callee) && isNamed(callee.object, "JSON") && propertyName(callee) === "parse";
}

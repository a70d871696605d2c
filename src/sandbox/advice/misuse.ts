/** Values that are used as something else: the message names the expression, the hint says what it is. */
import { isCall, isMember, isNamed, methodName, type Node, propertyName } from "../ast/nodes.ts";
import { isCalled, knownNamespace } from "../ast/tool-calls.ts";
import { insteadOfTool, objectName } from "../ast/tool-names.ts";
import { causeOf } from "./causes.ts";
import { faultOf, shownExpression } from "./fault.ts";
import { areTexts, keysOf, shapeOf } from "./shapes.ts";
import { type Advice, type Failing, lines, type Surroundings } from "./surroundings.ts";
import { hiddenServer } from "./wrong-names.ts";

export function misuse(error: Failing, around: Surroundings): Advice | undefined {
  const fault = faultOf(error, around.tree);
  if (!fault) return undefined;
  const { node } = fault;
  const hint =
    hiddenServer(isMember(node) ? node.object : node, around) ??
    readOfPromise(node, error, around) ??
    ofGlobal(node, around) ??
    causeOf(node, around, fault.is) ??
    missedTool(error, around) ??
    settledValue(node, around) ??
    shapeOfObject(node, around);
  return { message: fault.message, hint, at: fault.at };
}

/** What the guest saw: a property that was read from the promise of a call. */
function readOfPromise(node: Node, { unawaited }: Failing, { tree }: Surroundings): string | undefined {
  const read = isMember(node) ? unawaited.findLast(({ key }) => key === propertyName(node)) : undefined;
  // A call that is written there itself is explained with its place.
  if (!read || !isMember(node) || isCall(node.object)) return undefined;
  return `${shownExpression(node.object, tree)} is the promise of ${read.tool}(…): put await in front of that call.`;
}

/** `tools.call(…)`, `tools.demo.list_orders(…)`, `servers.shop.list_orders(…)`. */
function ofGlobal(node: Node, { tree, namespaces }: Surroundings): string | undefined {
  const member = isMember(node) && isMember(node.object) ? node.object : node;
  if (!isMember(member) || tree.binding(member.object)) return undefined;
  const servers = `Servers: ${namespaces.map(objectName).join(", ")}.`;
  const name = propertyName(member) ?? "";
  const isServer = namespaces.some((each) => isCalled(each, name));
  if (isNamed(member.object, "tools") && !/^(?:search|describe|list)$/.test(name)) {
    const called = isServer ? name : "server";
    return `tools has search, describe and list. Call a tool on its server: await ${called}.tool({ … }). ${servers}`;
  }
  return isNamed(member.object, "servers") && !isServer ? `No server is called "${name}". ${servers}` : undefined;
}

/** `orders.append(o)`: what the object was. */
function shapeOfObject(node: Node, { tree, values }: Surroundings): string | undefined {
  const seen = isMember(node) ? values.of(node.object) : undefined;
  if (!isMember(node) || !seen || seen.promised || seen.values.length === 0) return undefined;
  return `${shownExpression(node.object, tree)} is ${shapeOf(seen.values)}.`;
}

function settledValue(node: Node, { tree }: Surroundings): string | undefined {
  if (!isMember(node) || propertyName(node) !== "value" || !tree.code.includes("allSettled")) return undefined;
  return 'A rejected result has no value: each is { status: "fulfilled", value } or { status: "rejected", reason }.';
}

/** A missing tool that was asked for by a computed name, or read before it was called. */
export function missedTool({ missed }: Failing, { namespaces, suggest }: Surroundings): string | undefined {
  const [, server = "", tool = ""] = /^([^.]*)\.(.*)$/s.exec(missed.at(-1) ?? "") ?? [];
  const namespace = knownNamespace(server, namespaces);
  if (!namespace) return undefined;
  const { text, signatures } = insteadOfTool(tool, namespace, suggest);
  return lines(`${namespace.jsName ?? server} has no tool "${tool}". ${text}`, ...signatures);
}

/** `JSON.parse(result)` of a value that is already parsed, or of text that is not JSON. */
export function parsedAgain({ name, at, message }: Failing, around: Surroundings): Advice | undefined {
  const { tree, values } = around;
  if (name !== "SyntaxError" || at === undefined) return undefined;
  const call = tree.all("CallExpression").find((node) => {
    return methodName(node, "JSON") === "parse" && node.callee.end <= at && at < node.end;
  });
  const [first] = call?.arguments ?? [];
  if (!first) return undefined;
  const hint = causeOf(first, around, "other");
  const text = tree.text(first);
  const gotObject = `JSON.parse got an object, not a string: ${text}`;
  const seen = values.of(first);
  const known = seen && !seen.promised ? seen.values : [];
  if (known.length > 0 && known.every((value) => typeof value === "object")) {
    const [key] = known.some(Array.isArray) ? [] : keysOf(known);
    const write = key !== undefined && /^\w+$/.test(text) ? ` Write ${text}.${key}.` : "";
    return {
      message: gotObject,
      hint: `${text} is the value of ${seen?.call} itself, already parsed: leave out JSON.parse. It is ${shapeOf(known)}.${write}`,
    };
  }
  if (known.length > 0 && areTexts(known)) {
    return {
      message: `${text} is not JSON (${message})`,
      hint: `It is plain text that starts with ${JSON.stringify(known[0]?.slice(0, 80))}`,
    };
  }
  if (message === "unexpected token: 'object'") return { message: gotObject, hint };
  return hint === undefined ? undefined : { hint };
}

/** Values that are used as something else: the message names the expression, the hint says what it is. */
import { isCall, isMember, isNamed, methodName, type Node, propertyName } from "../ast/nodes.ts";
import { isCalled, knownNamespace } from "../ast/tool-calls.ts";
import { insteadOfTool, objectName } from "../ast/tool-names.ts";
import type { Tree } from "../ast/tree.ts";
import { causeOf } from "./causes.ts";
import { type FaultyExpression, faultOf, shownExpression } from "./fault.ts";
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
    listNotStarted(node, around) ??
    ofGlobal(node, around) ??
    causeOf(node, around, fault.is) ??
    missedTool(error, around) ??
    (fault.message.endsWith("is not a function") ? methodOf(fault, around) : settledValue(node, around));
  return { message: fault.message, hint, at: fault.at };
}

/** `ids[order.country].push(id)`, where ids starts as `{}`. */
function listNotStarted(node: Node, { tree }: Surroundings): string | undefined {
  const added = tree.parent(node);
  const method = isMember(added) && added.object === node ? (propertyName(added) ?? "") : "";
  if (!isMember(node) || !node.computed || !/^(?:push|append|add|extend|unshift)$/.test(method)) return undefined;
  if (tree.onlyValue(node.object)?.type !== "ObjectExpression") return undefined;
  return `Start with an empty list: (${shownExpression(node, tree)} ??= []).push(value).`;
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

/** `orders.append(o)`: what the object was, and which method does the same. */
function methodOf({ node, is }: FaultyExpression, { tree, values }: Surroundings): string | undefined {
  if (!isMember(node)) return undefined;
  const seen = values.of(node.object);
  const known = seen && !seen.promised && seen.values.length > 0 ? seen.values : undefined;
  const object = shownExpression(node.object, tree);
  const kind = known ? kindOf(known) : startKind(node.object, tree);
  const instead = is === "other" ? methodInstead(propertyName(node) ?? "", object, kind) : undefined;
  if (kind === "Set" || kind === "Map")
    return instead && `${object} is a ${kind}: ${instead.replace("Write", "write")}`;
  return lines(known && `${object} is ${shapeOf(known)}.`, instead) || undefined;
}

function settledValue(node: Node, { tree }: Surroundings): string | undefined {
  if (!isMember(node) || propertyName(node) !== "value" || !tree.code.includes("allSettled")) return undefined;
  return 'A rejected result has no value: each is { status: "fulfilled", value } or { status: "rejected", reason }.';
}

/** The kind of a variable that starts as `[]`, `{}`, a string or a collection, and is never replaced. */
function startKind(node: Node, tree: Tree) {
  const value = tree.onlyValue(node);
  switch (value?.type) {
    case "ArrayExpression":
      return "list";
    case "ObjectExpression":
      return "object";
    case "TemplateLiteral":
      return "text";
    case "NewExpression":
      return (["Set", "Map"] as const).find((name) => isNamed(value.callee, name));
    default:
      return undefined;
  }
}

function kindOf(values: readonly unknown[]) {
  return values.every(Array.isArray) ? "list" : areTexts(values) ? "text" : "object";
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

type Kind = "list" | "text" | "object" | "Set" | "Map";

/** Methods of other languages and libraries, each with what does the same here. Each key is a list of names; `x` stands for the object. */
const methods: Record<Kind, Record<string, string>> = {
  list: {
    append: "x.push(value)",
    extend: "x.push(...list)",
    insert: "x.splice(index, 0, value)",
    index: "x.indexOf(value)",
    copy: "[...x]",
    add: "x.push(value), or for a Set new Set(list)",
    remove: "x.filter((each) => each !== value)",
    "contains has": "x.includes(value)",
    count: "x.filter((each) => …).length",
    "len size": "x.length",
    length: "x.length, without parentheses",
    isEmpty: "x.length === 0",
    each: "for (const each of x)",
    "first head": "x[0]",
    last: "x.at(-1)",
    "take limit": "x.slice(0, n)",
    skip: "x.slice(n)",
    sum: "x.reduce((sum, each) => sum + each, 0)",
    avg: "x.reduce((sum, each) => sum + each, 0) / x.length",
    max: "Math.max(...x)",
    min: "Math.min(...x)",
    "unique uniq distinct": "[...new Set(x)]",
    "sortBy sort_by orderBy": "x.toSorted((a, b) => a.key - b.key)",
    "groupBy group_by": "Object.groupBy(x, (each) => each.key)",
    countBy: "Object.groupBy(x, (each) => each.key), then the length of each group",
    keyBy: "Object.fromEntries(x.map((each) => [each.key, each]))",
    pluck: "x.map((each) => each.key)",
    select: "x.map((each) => …), or x.filter",
    where: "x.filter((each) => …)",
    chunk: "x.slice(from, to) in a loop",
    "toArray tolist": "x itself: it is a list",
  },
  text: {
    strip: "x.trim()",
    lstrip: "x.trimStart()",
    rstrip: "x.trimEnd()",
    upper: "x.toUpperCase()",
    lower: "x.toLowerCase()",
    startswith: "x.startsWith(text)",
    endswith: "x.endsWith(text)",
    splitlines: 'x.split("\\n")',
    format: "`…${value}…`",
    "capitalize title": "x[0].toUpperCase() + x.slice(1)",
    contains: "x.includes(text)",
    zfill: 'x.padStart(length, "0")',
    isdigit: "/^\\d+$/.test(x)",
    equals: "x === text",
    length: "x.length, without parentheses",
  },
  object: {
    "items entries": "Object.entries(x)",
    keys: "Object.keys(x)",
    values: "Object.values(x)",
    get: "x[key]",
    "has has_key": "key in x",
    set: "x[key] = value",
    setdefault: "x[key] ??= value (for a list: (x[key] ??= []).push(value))",
    "append push": "(x[key] ??= []).push(value), or start with a list: []",
    copy: "{ ...x }",
    update: "Object.assign(x, other)",
    pop: "x[key], then delete x[key]",
    forEach: "for (const [key, value] of Object.entries(x))",
    map: "Object.entries(x).map(([key, value]) => …)",
    sort: "Object.entries(x).toSorted(([, a], [, b]) => b - a)",
    join: "[...x].join(text)",
    "size length": "Object.keys(x).length",
    toFixed: "Number(x).toFixed(2)",
    strftime: "new Intl.DateTimeFormat(…).format(new Date(x))",
  },
  Set: {
    "append push": "x.add(value)",
    update: "for (const each of list) x.add(each)",
    "remove discard": "x.delete(value)",
    "includes contains": "x.has(value)",
  },
  Map: {
    items: "x.entries()",
    "push put": "x.set(key, value)",
    setdefault: "if (!x.has(key)) x.set(key, value)",
    remove: "x.delete(key)",
    pop: "x.get(key), then x.delete(key)",
    "includes contains containsKey": "x.has(key)",
  },
};

/** What to write in place of `object.method(…)`. `kind` is undefined if the object is not known. */
function methodInstead(method: string, object: string, kind: Kind | undefined): string | undefined {
  const kinds: Kind[] = kind === "text" ? ["text", "object"] : kind ? [kind] : ["list", "text", "object"];
  const found = kinds.flatMap((each) => {
    const [, text] = Object.entries(methods[each]).find(([names]) => names.split(" ").includes(method)) ?? [];
    return text ?? otherMethod(method, each) ?? [];
  });
  const name = object.length <= 30 && /^[\w$.[\]"']+$/.test(object) ? object : "x";
  const texts = [...new Set(found)].map((text) => text.replace(/\bx\b/g, () => name));
  return texts.length === 0 ? undefined : `Write ${texts.join(", or ")}.`;
}

/** Methods of lists that other collections lack, and methods of dates. */
function otherMethod(method: string, kind: Kind): string | undefined {
  if (kind === "list" || kind === "text") return undefined;
  const list = { object: "Object.values(x)", Set: "[...x]", Map: "[...x.entries()]" }[kind];
  if (method in Array.prototype) return `${list}.${method}(…)`;
  return kind === "object" && method in Date.prototype ? `new Date(x).${method}()` : undefined;
}

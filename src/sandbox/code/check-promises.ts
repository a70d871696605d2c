/** Finds promises that are used as if they were their values. Each finding is certain, whatever happens at run time. */
import type { CallExpression, MemberExpression } from "acorn";
import { bare, isFunction, isMember, methodName, type Node, propertyName } from "../ast/nodes.ts";
import { isList, promiseOf, setsMembers } from "../ast/promises.ts";
import type { Scope } from "../ast/tool-calls.ts";
import type { Tree } from "../ast/tree.ts";
import type { CodeMistake } from "./check-error.ts";

/** The properties that every promise has. */
const ofPromises = new Set(["then", "catch", "finally", ...Object.getOwnPropertyNames(Object.prototype)]);

export function checkPromises(scope: Scope): CodeMistake[] {
  const { tree } = scope;
  return [
    ...tree.nodes.flatMap((node) => used(node, tree)).flatMap((use) => finding(use, scope) ?? []),
    ...tree.all("CallExpression").flatMap((call) => asyncTest(call, scope) ?? []),
  ];
}

interface Use {
  node: Node;
  /** How the promise is used, as the end of the message: `and has no orders`. */
  as: string;
  /** Report calls only: a variable that holds a promise may be intended here. */
  direct?: boolean;
  /** What to write instead of an await. */
  write?: string;
}

/** The parts of a node that must be values and not promises. */
function used(node: Node, tree: Tree): Use[] {
  switch (node.type) {
    case "MemberExpression":
      return ofMember(node, tree);
    case "VariableDeclarator": {
      const { id, init } = node;
      const isPattern = id.type === "ObjectPattern" ? id.properties.length > 0 : id.type === "ArrayPattern";
      return isPattern && init ? [{ node: init, as: "and cannot be destructured" }] : [];
    }
    case "ForOfStatement":
      return [{ node: node.right, as: "and cannot be looped over" }];
    case "SpreadElement":
      return tree.parent(node)?.type === "ObjectExpression"
        ? []
        : [{ node: node.argument, as: "and cannot be spread" }];
    case "BinaryExpression":
      if (!/^(?:[-+*/%]|\*\*|[<>]=?)$/.test(node.operator)) return [];
      return [node.left, node.right].map((each) => ({ node: each, as: "and not a number or string" }));
    case "TemplateLiteral":
      // A tag function receives the promises themselves.
      if (tree.parent(node)?.type === "TaggedTemplateExpression") return [];
      return node.expressions.map((each) => {
        return { node: each, as: 'and becomes the string "[object Promise]"', direct: true };
      });
    case "IfStatement":
    case "ConditionalExpression":
    case "WhileStatement":
      return [{ node: node.test, as: "and is always true", direct: true }];
    case "UnaryExpression":
      return node.operator === "!" ? [{ node: node.argument, as: "and is always true", direct: true }] : [];
    case "CallExpression": {
      const [first] = node.arguments;
      const isAll = /^(?:all|allSettled|any|race)$/.test(methodName(node, "Promise") ?? "");
      const write = `await ${tree.text(node.callee)}([ … ])`;
      return isAll && first ? [{ node: first, as: "but a list is needed here", write }] : [];
    }
    default:
      return [];
  }
}

function ofMember(node: MemberExpression, tree: Tree): Use[] {
  const name = propertyName(node);
  const parent = tree.parent(node);
  const isSet = parent?.type === "AssignmentExpression" && parent.left === node;
  if (isSet || (name !== undefined && ofPromises.has(name))) return [];
  if (name === undefined && node.property.type !== "Literal") return [];
  return [{ node: node.object, as: `and has no ${name ?? tree.text(node.property)}` }];
}

function finding({ node, as, direct, write: instead }: Use, scope: Scope): CodeMistake | undefined {
  const { tree } = scope;
  const value = bare(node);
  // A program that sets properties of a promise knows that it is a promise.
  if (value.type === "Identifier" && (direct || setsMembers(value, tree))) return undefined;
  const promise = promiseOf(value, scope);
  if (!promise) return undefined;
  const { text, call, list } = promise;
  const line = `on line ${tree.line(list ? call.callee : call)}`;
  const later = isMember(tree.parent(node)) ? `(await ${text})` : `await ${text}`;
  const write = instead ?? (value === call ? later : `await before ${text} ${line}`);
  const shown = value.type === "Identifier" ? tree.text(value) : text;
  return missingAwait(
    value,
    list
      ? `${tree.text(value)} is one of a list of promises ${as}: write await ${text} ${line}`
      : `${shown} is a promise ${as}: write ${write}`,
  );
}

/** `orders.filter(async (o) => …)` keeps everything, because a promise is always true. */
function asyncTest(call: CallExpression, scope: Scope): CodeMistake | undefined {
  const [callback] = call.arguments;
  const method = methodName(call) ?? "";
  // An object of the program may have a method of that name that awaits its callback.
  const isTest =
    /^(?:filter|find|findLast|findIndex|some|every|sort|toSorted)$/.test(method) &&
    isMember(call.callee) &&
    isList(call.callee.object, scope);
  if (!isTest || !isFunction(callback) || !callback.async) return undefined;
  const first = "first const values = await Promise.all(list.map(async (each) => …)), then use the values";
  return missingAwait(
    callback,
    `${method} does not wait for an async callback, whose promise is always true: ${first}`,
  );
}

function missingAwait({ start }: Node, message: string): CodeMistake {
  return { at: start, code: "MISSING_AWAIT", message, signatures: [] };
}

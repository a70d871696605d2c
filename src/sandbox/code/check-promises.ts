/** Finds promises that are used as if they were their values. Each finding is certain, whatever happens at run time. */
import type {
  BinaryExpression,
  CallExpression,
  Expression,
  MemberExpression,
  Node,
  Program,
  VariableDeclarator,
} from "acorn";
import { bare, isFunction, isMember, isNamed, propertyName } from "../ast/nodes.ts";
import { isList, promiseOf, setsMembers } from "../ast/promises.ts";
import type { Scope } from "../ast/tool-calls.ts";
import { Tree } from "../ast/tree.ts";
import type { Finding } from "./check-error.ts";

/** The properties that every promise has. */
const ofPromises = new Set(["then", "catch", "finally", ...Object.getOwnPropertyNames(Object.prototype)]);

export function checkPromises(program: Program, scope: Scope): Finding[] {
  const tree = new Tree(program, scope.code);
  const uses = tree.nodes.flatMap((node) => used(node, tree));
  return [...uses.flatMap((use) => finding(use, tree, scope) ?? []), ...asyncTests(tree, scope)];
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
      return ofMember(node as MemberExpression, tree);
    case "VariableDeclarator": {
      const { id, init } = node as VariableDeclarator;
      const isPattern = id.type === "ObjectPattern" ? id.properties.length > 0 : id.type === "ArrayPattern";
      return isPattern && init ? [{ node: init, as: "and cannot be destructured" }] : [];
    }
    case "ForOfStatement": {
      const { right } = node as Node & { right: Expression };
      return [{ node: right, as: "and cannot be looped over" }];
    }
    case "SpreadElement": {
      if (tree.parent(node)?.type === "ObjectExpression") return [];
      return [{ node: (node as Node & { argument: Expression }).argument, as: "and cannot be spread" }];
    }
    case "BinaryExpression": {
      const { left, right, operator } = node as BinaryExpression;
      if (!/^(?:[-+*/%]|\*\*|[<>]=?)$/.test(operator)) return [];
      return [left as Node, right].map((each) => ({ node: each, as: "and not a number or string" }));
    }
    case "TemplateLiteral":
      // A tag function receives the promises themselves.
      if (tree.parent(node)?.type === "TaggedTemplateExpression") return [];
      return (node as Node & { expressions: Expression[] }).expressions.map((each) => {
        return { node: each, as: 'and becomes the string "[object Promise]"', direct: true };
      });
    case "IfStatement":
    case "ConditionalExpression":
    case "WhileStatement":
      return [{ node: (node as Node & { test: Expression }).test, as: "and is always true", direct: true }];
    case "UnaryExpression": {
      const { operator, argument } = node as Node & { operator: string; argument: Expression };
      return operator === "!" ? [{ node: argument, as: "and is always true", direct: true }] : [];
    }
    case "CallExpression": {
      const { callee, arguments: given } = node as CallExpression;
      const [first] = given;
      const isAll =
        isMember(callee) &&
        isNamed(callee.object, "Promise") &&
        /^(?:all|allSettled|any|race)$/.test(propertyName(callee) ?? "");
      return isAll && first
        ? [{ node: first, as: "but a list is needed here", write: `await ${tree.text(callee)}([ … ])` }]
        : [];
    }
    default:
      return [];
  }
}

/** `orders.filter(async (o) => …)` keeps everything, because a promise is always true. */
function asyncTests(tree: Tree, scope: Scope): Finding[] {
  return tree.all<CallExpression>("CallExpression").flatMap(({ callee, arguments: [callback] }): Finding[] => {
    const method = isMember(callee) ? (propertyName(callee) ?? "") : "";
    // An object of the program may have a method of that name that awaits its callback.
    if (!isMember(callee) || !isList(callee.object, tree, scope)) return [];
    if (
      !/^(?:filter|find|findLast|findIndex|some|every|sort|toSorted)$/.test(method) ||
      !isFunction(callback) ||
      !callback.async
    )
      return [];
    const first = "first const values = await Promise.all(list.map(async (each) => …)), then use the values";
    const message = `${method} does not wait for an async callback, whose promise is always true: ${first}`;
    return [{ at: callback.start, code: "MISSING_AWAIT", message, signatures: [] }];
  });
}

function ofMember(node: MemberExpression, tree: Tree): Use[] {
  const name = propertyName(node);
  const parent = tree.parent(node) as (Node & { left?: Node }) | undefined;
  const isSet = parent?.type === "AssignmentExpression" && parent.left === node;
  if (isSet || node.object.type === "Super" || (name !== undefined && ofPromises.has(name))) return [];
  if (name === undefined && node.property.type !== "Literal") return [];
  return [{ node: node.object, as: `and has no ${name ?? tree.text(node.property)}` }];
}

function finding({ node, as, direct, write: instead }: Use, tree: Tree, scope: Scope): Finding | undefined {
  const value = bare(node);
  // A program that sets properties of a promise knows that it is a promise.
  if (value.type === "Identifier" && (direct || setsMembers(value, tree))) return undefined;
  const promise = promiseOf(value, tree, scope);
  if (!promise) return undefined;
  const { text, call } = promise;
  if (promise.list) {
    const message = `${tree.text(value)} is one of a list of promises ${as}: write await ${text} on line ${tree.line(call.callee)}`;
    return { at: value.start, code: "MISSING_AWAIT", message, signatures: [] };
  }
  const awaited = isMember(tree.parent(node)) && value === call ? `(await ${text})` : `await ${text}`;
  const write = instead ?? (value === call ? awaited : `await before ${text} on line ${tree.line(call)}`);
  return {
    at: value.start,
    code: "MISSING_AWAIT",
    message: `${shown(value, tree, text)} is a promise ${as}: write ${write}`,
    signatures: [],
  };
}

function shown(node: Node, tree: Tree, call: string): string {
  return node.type === "Identifier" ? tree.text(node) : call;
}

/** Promises used as the values that they are promises of: certain, whatever happens at run time. */
import type {
  BinaryExpression,
  CallExpression,
  Expression,
  MemberExpression,
  Node,
  Program,
  VariableDeclarator,
} from "acorn";
import { bare, isFunction, isMember, isNamed, propertyName } from "../advice/nodes.ts";
import { isList, promiseOf } from "../advice/promises.ts";
import { Tree } from "../advice/tree.ts";
import type { Finding, Scope } from "./check.ts";

/** What a promise has itself; `constructor` and the like are left alone. */
const ofPromises = new Set(["then", "catch", "finally", ...Object.getOwnPropertyNames(Object.prototype)]);

export function checkPromises(program: Program, scope: Scope): Finding[] {
  const tree = new Tree(program, scope.code);
  const uses = tree.nodes.flatMap((node) => used(node, tree));
  return [...uses.flatMap((use) => finding(use, tree, scope) ?? []), ...asyncTests(tree, scope)];
}

interface Use {
  node: Node;
  /** What is done with it, for the message. */
  as: string;
  /** Only of a call that stands there itself; a variable may be meant. */
  direct?: boolean;
  /** What to write, where it is not an await. */
  write?: string;
}

/** Where a node needs a value and no promise. */
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
      // A tag gets the promises themselves.
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

/** `orders.filter(async (o) => …)`: a promise is always true. */
function asyncTests(tree: Tree, scope: Scope): Finding[] {
  return tree.all<CallExpression>("CallExpression").flatMap(({ callee, arguments: [callback] }): Finding[] => {
    const method = isMember(callee) ? (propertyName(callee) ?? "") : "";
    // An object of the program may have a method of that name that waits.
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
  if (value.type === "Identifier" && (direct || setsProperties(value, tree))) return undefined;
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

/** A program that puts something of its own on a promise knows that it is one. */
function setsProperties(name: Node, tree: Tree): boolean {
  const references: Node[] = tree.binding(name)?.references ?? [];
  return references.some((each) => {
    const member = tree.parent(each);
    const outer = member && (tree.parent(member) as (Node & { left?: Node }) | undefined);
    return isMember(member) && outer?.type === "AssignmentExpression" && outer.left === member;
  });
}

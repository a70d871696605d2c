/** Promises used as the values that they are promises of: certain, whatever happens at run time. */
import type { Expression, MemberExpression, Node, Program, VariableDeclarator } from "acorn";
import { bare, isMember, propertyName } from "./advice/nodes.ts";
import { promiseOf } from "./advice/promises.ts";
import { Tree } from "./advice/tree.ts";
import type { Finding, Scope } from "./check.ts";

/** What a promise has itself; `constructor` and the like are left alone. */
const ofPromises = new Set(["then", "catch", "finally", ...Object.getOwnPropertyNames(Object.prototype)]);

export function checkPromises(program: Program, scope: Scope): Finding[] {
  const tree = new Tree(program, scope.code);
  return tree.nodes.flatMap((node) => used(node, tree).flatMap((use) => finding(use, tree, scope) ?? []));
}

interface Use {
  node: Node;
  /** What is done with it, for the message. */
  as: string;
  /** Only of a call that stands there itself; a variable may be meant. */
  direct?: boolean;
}

/** Where a node needs a value and no promise. */
function used(node: Node, tree: Tree): Use[] {
  switch (node.type) {
    case "MemberExpression":
      return ofMember(node as MemberExpression, tree);
    case "VariableDeclarator": {
      const { id, init } = node as VariableDeclarator;
      const isPattern = id.type === "ObjectPattern" ? id.properties.length > 0 : id.type === "ArrayPattern";
      return isPattern && init ? [{ node: init, as: "it cannot be taken apart" }] : [];
    }
    case "ForOfStatement": {
      const { right, await: isAwaited } = node as Node & { right: Expression; await: boolean };
      return isAwaited ? [] : [{ node: right, as: "it cannot be looped over" }];
    }
    case "SpreadElement": {
      if (tree.parent(node)?.type === "ObjectExpression") return [];
      return [{ node: (node as Node & { argument: Expression }).argument, as: "it cannot be spread" }];
    }
    case "TemplateLiteral":
      return (node as Node & { expressions: Expression[] }).expressions.map((each) => {
        return { node: each, as: 'it becomes the text "[object Promise]"', direct: true };
      });
    case "IfStatement":
    case "ConditionalExpression":
    case "WhileStatement":
      return [{ node: (node as Node & { test: Expression }).test, as: "it is always true", direct: true }];
    case "UnaryExpression": {
      const { operator, argument } = node as Node & { operator: string; argument: Expression };
      return operator === "!" ? [{ node: argument, as: "it is always true", direct: true }] : [];
    }
    default:
      return [];
  }
}

function ofMember(node: MemberExpression, tree: Tree): Use[] {
  const name = propertyName(node);
  const parent = tree.parent(node) as (Node & { left?: Node }) | undefined;
  const isSet = parent?.type === "AssignmentExpression" && parent.left === node;
  if (isSet || node.object.type === "Super" || (name !== undefined && ofPromises.has(name))) return [];
  if (name === undefined && node.property.type !== "Literal") return [];
  return [{ node: node.object, as: `it has no ${name ?? tree.text(node.property)}` }];
}

function finding({ node, as, direct }: Use, tree: Tree, scope: Scope): Finding | undefined {
  const value = bare(node);
  if (value.type === "Identifier" && (direct || setsProperties(value, tree))) return undefined;
  const promise = promiseOf(value, tree, scope);
  if (!promise) return undefined;
  const { text, call } = promise;
  const awaited = isMember(tree.parent(node)) && value === call ? `(await ${text})` : `await ${text}`;
  const write = value === call ? awaited : `await before ${text} in line ${tree.line(call)}`;
  return {
    at: value.start,
    code: "MISSING_AWAIT",
    message: `${shown(value, tree, text)} is a promise, ${as}: write ${write}`,
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

/** Variables that work without an await changed after the program had read them. */
import type { CallExpression, ExpressionStatement, Function as FunctionNode, Identifier, Node } from "acorn";
import type { Binding } from "../ast/bindings.ts";
import { bare, isCall, isFunction, isMember, isWithin, propertyName } from "../ast/nodes.ts";
import type { Tree } from "../ast/tree.ts";
import type { Output } from "../suspicion.ts";
import type { Surroundings } from "./surroundings.ts";

interface Floating {
  call: CallExpression;
  work: FunctionNode;
  /** The function is a callback of forEach. */
  each: boolean;
}

export function lostWork({ notes }: Output, { values: { tree } }: Surroundings): string[] {
  if (!notes?.late) return [];
  return floatingWork(tree).flatMap(({ call, work, each }) => {
    const [lost] = changedIn(work, tree).filter((change) => isReadAfter(change, call, tree));
    if (!lost) return [];
    const line = tree.line(call.callee);
    const why = `${lost.binding.name} was read before its calls finished.`;
    return each
      ? `line ${line}: forEach does not wait for an async callback: ${why} Write for (const … of …) with await, or await Promise.all(list.map(async …)).`
      : `line ${line}: ${tree.text(call.callee)}(…) is not awaited: ${why} Put await in front of it.`;
  });
}

function floatingWork(tree: Tree): Floating[] {
  return tree.all<ExpressionStatement>("ExpressionStatement").flatMap(({ expression }): Floating[] => {
    const call = bare(expression);
    if (!isCall(call)) return [];
    const { callee, arguments: given } = call;
    const [first] = given;
    if (isMember(callee) && /^(?:forEach|map)$/.test(propertyName(callee) ?? "") && isFunction(first) && first.async) {
      return [{ call, work: first, each: propertyName(callee) === "forEach" }];
    }
    const work = tree.onlyFunction(callee);
    return work?.async ? [{ call, work, each: false }] : [];
  });
}

interface Change {
  binding: Binding;
  /** The variable gets another value; a list or a map only grows. */
  replaced: boolean;
}

/** Variables from outside the function that it changes. */
function changedIn(work: FunctionNode, tree: Tree): Change[] {
  return tree.nodes.flatMap((node) => {
    if (!isWithin(node, work.body)) return [];
    const { left, argument } = node as Node & { left?: Node; argument?: Node };
    const target =
      node.type === "AssignmentExpression" ? left : node.type === "UpdateExpression" ? argument : undefined;
    const grown =
      isCall(node) && isMember(node.callee) && /^(?:push|set|add|unshift)$/.test(propertyName(node.callee) ?? "");
    const changed = grown ? (node.callee as Node & { object: Node }).object : isMember(target) ? target.object : target;
    const binding = changed && tree.binding(changed);
    if (!binding || binding.references.some((each) => isDeclaredIn(each, work, tree))) return [];
    return [{ binding, replaced: changed === target }];
  });
}

function isDeclaredIn(name: Identifier, work: FunctionNode, tree: Tree): boolean {
  const parent = tree.parent(name) as (Node & { id?: Node }) | undefined;
  return parent?.type === "VariableDeclarator" && parent.id === name && isWithin(name, work);
}

/** A list that is only returned is complete when it is shown, but its length is read too early. */
function isReadAfter({ binding, replaced }: Change, call: CallExpression, tree: Tree): boolean {
  return binding.references.some((each) => {
    if (each.start < call.end) return false;
    if (replaced) return true;
    const parent = tree.parent(each);
    return isMember(parent) || isCall(parent) || parent?.type === "TemplateLiteral";
  });
}

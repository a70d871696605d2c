/** Variables that work without an await changed after the program had read them. */
import type { CallExpression } from "acorn";
import {
  bare,
  type FunctionNode,
  isCall,
  isFunction,
  isMember,
  isWithin,
  methodName,
  type Node,
} from "../ast/nodes.ts";
import type { Binding, Tree } from "../ast/tree.ts";
import type { ProgramOutput } from "../suspect-output.ts";
import type { Surroundings } from "./surroundings.ts";

export function lostWork({ notes }: ProgramOutput, { tree }: Surroundings): string[] {
  if (!notes?.late) return [];
  return tree.all("ExpressionStatement").flatMap(({ expression }) => {
    const call = bare(expression);
    const [callback] = isCall(call) ? call.arguments : [];
    const method = methodName(call) ?? "";
    const isCallback = /^(?:forEach|map)$/.test(method) && isFunction(callback);
    const work = isCallback ? callback : isCall(call) ? tree.onlyFunction(call.callee) : undefined;
    if (!isCall(call) || !work?.async) return [];
    const lost = changedIn(work, tree).find((change) => isReadAfter(change, call, tree));
    if (!lost) return [];
    const line = tree.line(call.callee);
    const why = `${lost.binding.name} was read before its calls finished.`;
    return method === "forEach"
      ? `line ${line}: forEach does not wait for an async callback: ${why} Write for (const … of …) with await, or await Promise.all(list.map(async …)).`
      : `line ${line}: ${tree.text(call.callee)}(…) is not awaited: ${why} Put await in front of it.`;
  });
}

interface Change {
  binding: Binding;
  /** The variable gets another value; a list or a map only grows. */
  replaced: boolean;
}

/** Variables from outside the function that it changes. */
function changedIn(work: FunctionNode, tree: Tree): Change[] {
  const isOwn = (name: Node) => {
    const parent = tree.parent(name);
    return parent?.type === "VariableDeclarator" && parent.id === name && isWithin(name, work);
  };
  return tree.nodes.flatMap((node) => {
    const target = isWithin(node, work.body) ? targetOf(node) : undefined;
    const changed = isMember(target) ? target.object : target;
    const binding = changed && tree.binding(changed);
    if (!binding || binding.references.some(isOwn)) return [];
    return [{ binding, replaced: changed === target }];
  });
}

/** What a node changes: `x` of `x = 1` and `x++`, `x.push` of `x.push(1)`. */
function targetOf(node: Node): Node | undefined {
  if (node.type === "AssignmentExpression") return node.left;
  if (node.type === "UpdateExpression") return node.argument;
  return isCall(node) && /^(?:push|set|add|unshift)$/.test(methodName(node) ?? "") ? node.callee : undefined;
}

/** A list that is only returned is complete when it is shown, but its length is read too early. */
function isReadAfter({ binding, replaced }: Change, call: CallExpression, tree: Tree): boolean {
  return binding.references.some((each) => {
    if (each.start < call.end) return false;
    const parent = tree.parent(each);
    return replaced || isMember(parent) || isCall(parent) || parent?.type === "TemplateLiteral";
  });
}

/** Marks places that may go wrong without an error, so that the guest can tell if they do. */
import type { CallExpression, ForInStatement } from "acorn";
import { isExactText } from "../../base/exact-json.ts";
import { minLostDigits } from "../../base/limits.ts";
import { isMember, methodName, type Node, propertyName } from "../ast/nodes.ts";
import type { Tree } from "../ast/tree.ts";
import type { Edits } from "./edits.ts";

export function rewriteNoticed(tree: Tree, edits: Edits): void {
  for (const call of tree.all("CallExpression")) {
    if (sortsAsText(call, tree)) edits.wrap(call, "__notice.sorted(", `, ${tree.line(call.callee)})`);
  }
  for (const loop of tree.all("ForInStatement")) {
    const name = elementIn(loop, tree);
    if (name) edits.wrap(loop.right, "__notice.keys(", `, ${tree.line(loop)}, ${JSON.stringify(name)})`);
  }
  // A thrown value that is not an Error has no stack.
  for (const { argument } of tree.all("ThrowStatement")) {
    // `null` is what the engine throws when it has no memory left: it stays as it is.
    if (argument.type === "Literal" && argument.value === null) continue;
    if (/^(?:Literal|TemplateLiteral|BinaryExpression|ObjectExpression)$/.test(argument.type)) {
      edits.wrap(argument, "__notice.thrown(", ")");
    }
  }
}

/**
 * `totals.sort()` compares numbers as text. A list that only becomes a text, as in `JSON.stringify(ids.sort())`, may
 * have any fixed order.
 */
function sortsAsText(call: CallExpression, tree: Tree): boolean {
  if (call.arguments.length > 0 || !/^(?:sort|toSorted)$/.test(methodName(call) ?? "")) return false;
  // What comes after `?.` must stay one chain.
  if (tree.ancestors(call).some(({ type }) => type === "ChainExpression")) return false;
  const parent = tree.parent(call);
  if (isMember(parent)) return !/^(?:join|toString|every|some|includes|length)$/.test(propertyName(parent) ?? "");
  return methodName(parent, "JSON") !== "stringify";
}

/** The variable of `for (const order in orders)`, if the program reads properties of it that no string has. */
function elementIn({ left }: ForInStatement, tree: Tree): string | undefined {
  const target = left.type === "VariableDeclaration" ? left.declarations[0]?.id : left;
  const isElement = (target && tree.binding(target)?.references)?.some((each) => {
    const use = tree.parent(each);
    if (isMember(use)) return use.object === each && !use.computed && !((propertyName(use) ?? "") in String.prototype);
    return use?.type === "VariableDeclarator" && use.init === each && use.id.type === "ObjectPattern";
  });
  return isElement && target?.type === "Identifier" ? target.name : undefined;
}

/**
 * A whole number that JavaScript cannot hold is a text, as in the results of tools: an id then is the id that was written, in arguments and
 * in comparisons. Decimals are constants of formulas, except in the arguments of a call.
 */
export function rewriteLongNumbers(tree: Tree, edits: Edits): void {
  for (const literal of tree.all("Literal")) {
    const { raw = "" } = literal;
    if (typeof literal.value !== "number" || raw.length < minLostDigits) continue;
    const parent = tree.parent(literal);
    const isNegative = parent?.type === "UnaryExpression" && parent.operator === "-";
    const written = isNegative ? parent : literal;
    const text = `${isNegative ? "-" : ""}${raw.replaceAll("_", "")}`;
    const around = tree.parent(written);
    const isComputed =
      (around?.type === "BinaryExpression" && !/^(?:[=!]==?|[<>]=?)$/.test(around.operator)) ||
      (around?.type === "AssignmentExpression" && around.operator !== "=");
    const isKey = around?.type === "Property" && around.key === written && !around.computed;
    if (!isExactText(text) || isComputed || isKey || around?.type === "UnaryExpression") continue;
    if (/^-?\d+$/.test(text) || isArgument(written, tree)) edits.replace(written, JSON.stringify(text));
  }
}

/** Whether a value is written in an object that a call gets: `demo.pay({ amount: 0.1234567890123456789 })`. */
function isArgument(value: Node, tree: Tree): boolean {
  const parent = tree.parent(value);
  if (parent?.type === "CallExpression") return value.type === "ObjectExpression";
  return /^(?:Property|ObjectExpression|ArrayExpression)$/.test(parent?.type ?? "") && isArgument(parent as Node, tree);
}

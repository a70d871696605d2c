/** Marks places that may go wrong without an error, so that the guest can tell if they do. */
import type { CallExpression, ForInStatement } from "acorn";
import { isMember, methodName, propertyName } from "../ast/nodes.ts";
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

/** `map` with a callback in braces that returns nothing. */
import type { CallExpression, Node } from "acorn";
import { isCall, isFunction, isMember, propertyName } from "../ast/nodes.ts";
import type { Surroundings } from "./surroundings.ts";

export function nothingReturned({ values: { tree } }: Surroundings): string[] {
  return tree.all<CallExpression>("CallExpression").flatMap((call) => {
    const { callee, arguments: given } = call;
    const method = isMember(callee) ? (propertyName(callee) ?? "") : "";
    const [callback] = given;
    if (!/^(?:map|flatMap|filter|reduce|find|some|every)$/.test(method) || !isFunction(callback)) return [];
    if (callback.body.type !== "BlockStatement" || callback.body.body.length === 0 || callback.async) return [];
    const parent = tree.parent(call);
    // A map in the place of a loop, whose list nobody wants.
    if (parent?.type === "ExpressionStatement" || (isCall(parent) && parent.callee !== callee)) return [];
    const leaves = tree.nodes.some(
      (node) =>
        (node.type === "ThrowStatement" ||
          (node.type === "ReturnStatement" && (node as Node & { argument?: Node }).argument)) &&
        [...tree.ancestors(node)].find(isFunction) === callback,
    );
    if (leaves) return [];
    const isObject = callback.body.body.every((node) => node.type === "LabeledStatement");
    const advice = isObject ? "an object needs parentheses: (o) => ({ … })" : "add return, or remove the braces";
    return [`line ${tree.line(callee)}: the callback of ${method} returns nothing: ${advice}.`];
  });
}

/** Tells which programs only print what a tool returned. */
import type { CallExpression, Expression, MemberExpression } from "acorn";
import { bare, isCall, isMember, propertyName } from "../../../src/sandbox/ast/nodes.ts";
import { transpile } from "../../../src/sandbox/code/transpile.ts";

/** The path of the tool, such as `demo.get_order`, if the program returns its result or a part of it, and does nothing else. */
export async function printedTool(code: string): Promise<string | undefined> {
  const { plain } = await transpile(code);
  const [only, ...others] = plain.program.body;
  if (others.length > 0 || only?.type !== "ReturnStatement" || !only.argument) return undefined;
  let node: Expression = only.argument;
  for (let inner = partOf(node); inner; inner = partOf(node)) node = inner;
  if (!isCall(node)) return undefined;
  const path = plain.code.slice(node.callee.start, node.callee.end);
  return /^\w+(?:\.\w+|\["[^"]+"\])+$/.test(path) ? path : undefined;
}

/** The expression whose value, or a part of it, is the value of this one. */
function partOf(node: Expression): Expression | undefined {
  if (node.type === "AwaitExpression") return node.argument;
  if (node.type === "ChainExpression") return bare(node);
  const whole = isMember(node) ? node.object : isBeginning(node) ? node.callee.object : undefined;
  // The names before the call belong to the path of the tool.
  return whole && /^(?:AwaitExpression|ChainExpression|CallExpression|MemberExpression)$/.test(whole.type)
    ? (whole as Expression)
    : undefined;
}

/** `list.slice(0, 2)`. */
function isBeginning(node: Expression): node is CallExpression & { callee: MemberExpression } {
  return isCall(node) && isMember(node.callee) && ["slice", "at"].includes(propertyName(node.callee) ?? "");
}

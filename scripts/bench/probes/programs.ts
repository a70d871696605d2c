/** Tells which programs only print what a tool returned. */
import type { Expression } from "acorn";
import { bare, isCall, isMember } from "../../../src/sandbox/ast/nodes.ts";
import { transpile } from "../../../src/sandbox/code/transpile.ts";

/** The path of the tool, such as `demo.get_order`, if the program returns its result or a part of it, and does nothing else. */
export async function printedTool(code: string): Promise<string | undefined> {
  const { plain } = await transpile(code);
  const [only, ...others] = plain.program.body;
  if (others.length > 0 || only?.type !== "ReturnStatement" || !only.argument) return undefined;
  let node: Expression = only.argument;
  while (node.type === "AwaitExpression" || isMember(node) || node.type === "ChainExpression") {
    const inner = node.type === "AwaitExpression" ? node.argument : isMember(node) ? node.object : bare(node);
    if (inner.type === "Super") return undefined;
    node = inner;
  }
  if (!isCall(node)) return undefined;
  const path = plain.code.slice(node.callee.start, node.callee.end);
  return /^\w+(?:\.\w+|\["[^"]+"\])+$/.test(path) ? path : undefined;
}

/** A line that begins with `[` or `(` belongs to the line before it, unless that one ends with a semicolon. */
import { endWithSemicolon } from "../ast/lines.ts";
import { isCall, isMember, type Node } from "../ast/nodes.ts";
import type { Tree } from "../ast/tree.ts";
import type { Advice, Failing, Surroundings } from "./surroundings.ts";

/** The failure is within a statement that was meant to be two. */
export function joinedLines({ name, at }: Failing, { tree }: Surroundings): Advice | undefined {
  if (at === undefined || !/^(?:TypeError|ReferenceError)$/.test(name)) return undefined;
  for (const node of tree.nodes) {
    const bracket = bracketOf(node, tree);
    const statement = bracket === undefined ? undefined : tree.ancestors(node).find(isStatement);
    if (bracket === undefined || !statement || at < statement.start || at >= statement.end) continue;
    const { line } = tree.lines.at(bracket);
    const sign = tree.code[bracket];
    const before = tree.lines.at(tree.code.slice(0, bracket).trimEnd().length - 1).line;
    return { hint: endWithSemicolon(before, sign ?? "", line), at: bracket };
  }
  return undefined;
}

/** The offset of the bracket of `a⏎[b]` or `a⏎(b)`. */
function bracketOf(node: Node, { code }: Tree): number | undefined {
  if (!(isMember(node) ? node.computed : isCall(node)) || ("optional" in node && node.optional)) return undefined;
  const { end } = isMember(node) ? node.object : (node as { callee: Node }).callee;
  const [gap = "", sign] = /^(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*([[(])/.exec(code.slice(end)) ?? [];
  return sign !== undefined && gap.includes("\n") ? end + gap.length - 1 : undefined;
}

const isStatement = ({ type }: Node) => /(?:Statement|VariableDeclaration)$/.test(type);

/** Rewrites `using` and `await using`, which the engine does not support, to try and finally. */
import type { BlockStatement, Node, Program, VariableDeclaration } from "acorn";
import { full } from "acorn-walk";
import type { Edits } from "./edits.ts";

/**
 * `using x = open(); …` becomes `const held = __using(); try { const x = held.add(open()); … } finally { held.end()
 * }`.
 */
export function rewriteUsing(program: Program, code: string, edits: Edits): void {
  // sucrase keeps the word, so code without it needs no walk.
  if (!/\busing\b/.test(code)) return;
  let count = 0;
  full(program, (node: Node) => {
    if (node.type !== "Program" && node.type !== "BlockStatement" && node.type !== "StaticBlock") return;
    const { body } = node as BlockStatement;
    const held = body.filter(isUsing);
    const [first] = held;
    if (!first) return;
    count += 1;
    const name = `__held${count}`;
    const isAsync = held.some(({ kind }) => isAwaited(kind));
    edits.insert(first.start, `const ${name} = __using(); try { `);
    for (const declaration of held) rewriteDeclaration(declaration, name, code, edits);
    const end = node.type === "Program" ? code.length : node.end - 1;
    const last = isAsync ? `await ${name}.endAsync()` : `${name}.end()`;
    edits.insertLast(end, ` } catch (error) { ${name}.failed(error); } finally { ${last}; }`);
  });
}

function rewriteDeclaration(
  { start, kind, declarations }: VariableDeclaration,
  name: string,
  code: string,
  edits: Edits,
): void {
  const keyword = /^(?:await\s+)?using/.exec(code.slice(start))?.[0] ?? "";
  edits.replace({ start, end: start + keyword.length }, "const");
  const add = isAwaited(kind) ? "addAsync" : "add";
  for (const { init } of declarations) if (init) edits.wrap(init, `${name}.${add}(`, ")");
}

function isUsing(node: Node): node is VariableDeclaration {
  return node.type === "VariableDeclaration" && /using$/.test((node as VariableDeclaration).kind);
}

function isAwaited(kind: string): boolean {
  return kind.startsWith("await");
}

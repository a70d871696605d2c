/** Rewrites `using` and `await using`, which the engine does not support, to try and finally. */
import type { Tree } from "../ast/tree.ts";
import type { Edits } from "./edits.ts";

/**
 * `using x = open(); …` becomes `const held = __using(); try { const x = held.add(open()); … } finally { held.end()
 * }`.
 */
export function rewriteUsing(tree: Tree, edits: Edits): void {
  const using = tree.all("VariableDeclaration").filter(({ kind }) => kind.endsWith("using"));
  for (const [block, held] of Map.groupBy(using, (each) => tree.parent(each))) {
    const [first] = held;
    if (!first || !block || !/^(?:Program|BlockStatement|StaticBlock)$/.test(block.type)) continue;
    const name = `__held${first.start}`;
    edits.insert(first.start, `const ${name} = __using(); try { `);
    for (const { start, kind, declarations } of held) {
      const keyword = /^(?:await\s+)?using/.exec(tree.code.slice(start))?.[0] ?? "";
      edits.replace({ start, end: start + keyword.length }, "const");
      const add = kind === "using" ? "add" : "addAsync";
      for (const { init } of declarations) if (init) edits.wrap(init, `${name}.${add}(`, ")");
    }
    const end = block.type === "Program" ? tree.code.length : block.end - 1;
    const last = held.every(({ kind }) => kind === "using") ? `${name}.end()` : `await ${name}.endAsync()`;
    edits.insertLast(end, ` } catch (error) { ${name}.failed(error); } finally { ${last}; }`);
  }
}

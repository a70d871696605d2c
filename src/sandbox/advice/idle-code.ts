/** Programs that end well and give nothing: functions that nobody calls, a value that is not returned. */
import type { Function as FunctionNode, VariableDeclaration } from "acorn";
import { isFunction } from "./nodes.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Result } from "./warnings.ts";

export function idleCode(
  { json, logs, displayed, program }: Result,
  { calls, values: { tree } }: Surroundings,
): string[] {
  if (json !== undefined || logs.length > 0 || displayed) return [];
  const last = program.body.at(-1);
  if (last?.type === "VariableDeclaration") {
    const { id, init } = (last as VariableDeclaration).declarations.at(-1) ?? {};
    const name = id?.type === "Identifier" ? id.name : undefined;
    if (name !== undefined && !isFunction(init))
      return [`nothing was returned: the last line only sets ${name}. Add: return ${name};`];
  }
  if (calls.length > 0) return [];
  const unused = tree.nodes.flatMap((node) => {
    const name = isFunction(node)
      ? nameOf(node, tree.parent(node) as { id?: FunctionNode["id"] } | undefined)
      : undefined;
    const binding = name && tree.binding(name);
    return binding?.references.every((each) => each === name) ? [{ name: binding.name, node }] : [];
  });
  const [first] = unused.filter(({ node }) =>
    program.body.some((each) => each === node || each === tree.parent(tree.parent(node)!)),
  );
  if (!first || !isFunction(first.node)) return [];
  const call = `${first.node.async ? "await " : ""}${first.name}(${first.node.params.length > 0 ? "…" : ""})`;
  return [
    `nothing ran: ${first.name} is declared in line ${tree.line(first.node)} and never called. End with: return ${call};`,
  ];
}

function nameOf(node: FunctionNode, parent: { id?: FunctionNode["id"] } | undefined): FunctionNode["id"] {
  if (node.id) return node.id;
  return parent?.id?.type === "Identifier" ? parent.id : null;
}

/** Programs that end well and give nothing: functions that nobody calls, a value that is not returned. */
import type { Function as FunctionNode, Node, VariableDeclaration } from "acorn";
import { isCall, isFunction } from "../ast/nodes.ts";
import type { Tree } from "../ast/tree.ts";
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
  const empty =
    last?.type === "ExpressionStatement" || last?.type === "ReturnStatement" ? withoutReturn(last, tree) : [];
  if (empty.length > 0 || calls.length > 0) return empty;
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
    `nothing ran: ${first.name} is declared on line ${tree.line(first.node)} but never called. End with: return ${call};`,
  ];
}

function nameOf(node: FunctionNode, parent: { id?: FunctionNode["id"] } | undefined): FunctionNode["id"] {
  if (node.id) return node.id;
  return parent?.id?.type === "Identifier" ? parent.id : null;
}

/** `await main()` at the end, where main returns nothing. */
function withoutReturn(last: Node, tree: Tree): string[] {
  const { expression, argument } = last as Node & { expression?: Node; argument?: Node | null };
  const value = expression ?? argument;
  const call = value?.type === "AwaitExpression" ? (value as Node & { argument: Node }).argument : value;
  if (!isCall(call)) return [];
  const own = isFunction(call.callee) ? call.callee : undefined;
  const [only] = tree.binding(call.callee)?.sources ?? [];
  const called = own ?? (only?.kind === "function" ? only.node : undefined);
  if (called?.body.type !== "BlockStatement") return [];
  const returns = tree
    .all<Node & { argument?: Node | null }>("ReturnStatement")
    .some((each) => each.argument && [...tree.ancestors(each)].find(isFunction) === called);
  const name = own ? "the function at the end" : tree.text(call.callee);
  return returns
    ? []
    : [
        `nothing was returned: ${name} (line ${tree.line(called)}) has no return statement. Return its result, or log it.`,
      ];
}

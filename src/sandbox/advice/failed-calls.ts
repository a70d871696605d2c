/** Calls that a tool refused: arguments that were computed, and turned out wrong. */
import type { ForInStatement, Node } from "acorn";
import { isCall, keyName } from "../ast/nodes.ts";
import { causeOf } from "./causes.ts";
import { knownTool, pagingOf } from "./pages.ts";
import type { Advice, Failing, Surroundings } from "./surroundings.ts";
import { lines } from "./undefined-names.ts";

/** `"cursor" must be string, got null`, `the argument "order_id" is missing`: why its expression has that value. */
export function wrongArgument(error: Failing, around: Surroundings): Advice | undefined {
  const { message, code, hint, at } = error;
  if (code !== "INVALID_ARGUMENTS" || at === undefined) return undefined;
  const { values } = around;
  const call = values.tree.nodes
    .filter(isCall)
    .filter(({ callee, end }) => callee.end <= at && at < end)
    .at(-1);
  const tool = call && values.toolOf(call);
  if (!call || !tool) return undefined;
  const [first] = call.arguments;
  const name = /"([^"]+)" (?:must be|is missing)/.exec(message)?.[1];
  const given = first?.type === "ObjectExpression" ? first.properties : [];
  const property = given.find((each) => each.type === "Property" && keyName(each) === name);
  const value = property?.type === "Property" ? property.value : undefined;
  const paging = pagingOf(knownTool(tool.tool, around), around.resultsOf(tool.tool));
  if (name !== undefined && paging?.argument === name && /got null$/.test(message)) {
    const loop = `${paging.key} is null on the last page, never undefined: loop while (${name}), and pass ${name} ?? undefined.`;
    return { hint: lines(loop, hint) };
  }
  const cause = value && causeOf(value, around, "undefined");
  return cause === undefined ? undefined : { hint: lines(`${values.tree.text(value as Node)}: ${cause}`, hint) };
}

/** A for…in loop gives the indexes of a list, and the tool knows no "0". */
export function callsInForIn(error: Failing, around: Surroundings): Advice | undefined {
  const { at, code } = error;
  if (at === undefined || !code) return undefined;
  const { tree } = around.values;
  for (const node of tree.all<ForInStatement>("ForInStatement")) {
    const seen = around.values.of(node.right);
    if (node.start > at || at > node.end || !seen?.values.length || !seen.values.every(Array.isArray)) continue;
    return {
      hint: lines(`for…in yields the indexes "0", "1", …: write for (… of ${tree.text(node.right)}).`, error.hint),
    };
  }
  return undefined;
}

/** Calls that failed: computed arguments that turned out wrong, and failures that took other results with them. */
import type { ForInStatement, Node } from "acorn";
import { isCall, keyName } from "../ast/nodes.ts";
import { causeOf } from "./causes.ts";
import { knownTool, pagingOf } from "./pages.ts";
import { lines } from "./suggested-tools.ts";
import type { Advice, Failing, Surroundings } from "./surroundings.ts";

/** `"cursor" must be string, got null`, `the argument "order_id" is missing`: why the expression has that value. */
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

/** A for…in loop over a list yields its indexes, and no tool knows an id "0". */
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

const temporary = /temporar|try again|retry|timed? ?out|unavailable|rate.?limit|too many requests|\b(?:429|50[234])\b/i;

/** One failure within Promise.all: the results of the other calls are lost. */
export function lostResults({ at, code, hint, message }: Failing, { values, calls }: Surroundings): Advice | undefined {
  if (at === undefined || code === undefined || !calls.some((each) => each.calls > each.failures)) return undefined;
  const { tree } = values;
  const all = tree.nodes.filter(isCall).find(({ callee, arguments: [list] }) => {
    if (tree.text(callee) !== "Promise.all" || !list) return false;
    return contains(tree.onlyValue(list) ?? list, at);
  });
  const call = tree.nodes.filter(isCall).findLast((node) => values.toolOf(node) && contains(node, at));
  if (!all || !call) return undefined;
  const lost = `Promise.all on line ${tree.line(all)} fails with its first failure, and the results of the other calls are lost.`;
  const text = tree.text(call).length > 80 ? `${tree.text(call.callee)}(…)` : tree.text(call);
  const again = `Repeat a call that fails: const retry = async (call, tries = 5) => { for (;;) try { return await call(); } catch (error) { if (--tries <= 0) throw error; } }; then write retry(() => ${text}).`;
  const keep = "Promise.allSettled keeps them: each result is { status, value } or { status, reason }.";
  return { hint: lines(hint, lost, temporary.test(message) ? again : keep) };
}

function contains(node: Node, at: number): boolean {
  return node.start <= at && at < node.end;
}

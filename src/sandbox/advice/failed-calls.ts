/** Calls that failed: computed arguments that turned out wrong, and failures that took other results with them. */
import { isCall, keyName, type Node } from "../ast/nodes.ts";
import { causeOf } from "./causes.ts";
import { pagingOf } from "./pages.ts";
import { type Advice, type Failing, lines, type Surroundings } from "./surroundings.ts";

/** `"cursor" must be string, got null`, `the argument "order_id" is missing`: why the expression has that value. */
export function wrongArgument({ message, code, hint, at }: Failing, around: Surroundings): Advice | undefined {
  const { tree, values } = around;
  const call = code === "INVALID_ARGUMENTS" && at !== undefined ? tree.callAt(at) : undefined;
  const tool = isCall(call) ? values.toolOf(call) : undefined;
  const name = /"([^"]+)" (?:must be|is missing)/.exec(message)?.[1];
  if (!call || !tool || name === undefined) return undefined;
  const paging = pagingOf(tool.tool, around);
  if (paging?.argument === name && /got null$/.test(message)) {
    const loop = `${paging.key} is null on the last page, never undefined: loop while (${name}), and pass ${name} ?? undefined.`;
    return { hint: lines(loop, hint) };
  }
  const [first] = call.arguments;
  const given = first?.type === "ObjectExpression" ? first.properties : [];
  for (const each of given) {
    if (each.type !== "Property" || keyName(each) !== name) continue;
    const cause = causeOf(each.value, around, "undefined");
    if (cause !== undefined) return { hint: lines(`${tree.text(each.value)}: ${cause}`, hint) };
  }
  return undefined;
}

/** A for…in loop over a list yields its indexes, and no tool knows an id "0". */
export function callsInForIn({ at, code, hint }: Failing, { tree, values }: Surroundings): Advice | undefined {
  const loop = tree.all("ForInStatement").find((node) => {
    const seen = contains(node, at) ? values.of(node.right)?.values : undefined;
    return seen !== undefined && seen.length > 0 && seen.every(Array.isArray);
  });
  if (!loop || !code) return undefined;
  return { hint: lines(`for…in yields the indexes "0", "1", …: write for (… of ${tree.text(loop.right)}).`, hint) };
}

const temporary = /temporar|try again|retry|timed? ?out|unavailable|rate.?limit|too many requests|\b(?:429|50[234])\b/i;

/** One failure within Promise.all: the results of the other calls are lost. */
export function lostResults({ at, code, hint, message }: Failing, around: Surroundings): Advice | undefined {
  const { tree, values } = around;
  if (code === undefined || !around.calls.some((each) => each.calls > each.failures)) return undefined;
  const calls = tree.all("CallExpression");
  const all = calls.find(({ callee, arguments: [list] }) => {
    return tree.text(callee) === "Promise.all" && list && contains(tree.onlyValue(list) ?? list, at);
  });
  const call = calls.findLast((node) => contains(node, at) && values.toolOf(node));
  if (!all || !call) return undefined;
  const lost = `Promise.all on line ${tree.line(all)} fails with its first failure, and the results of the other calls are lost.`;
  const text = tree.text(call).length > 80 ? `${tree.text(call.callee)}(…)` : tree.text(call);
  const again = `Repeat a call that fails: const retry = async (call, tries = 5) => { for (;;) try { return await call(); } catch (error) { if (--tries <= 0) throw error; } }; then write retry(() => ${text}).`;
  const keep = "Promise.allSettled keeps them: each result is { status, value } or { status, reason }.";
  return { hint: lines(hint, lost, temporary.test(message) ? again : keep) };
}

function contains(node: Node, at: number | undefined): boolean {
  return at !== undefined && node.start <= at && at < node.end;
}

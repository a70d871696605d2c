/** Explains code that was stopped at its time limit: where it was, what it had called, and why it may never end. */
import { isCall, isFunction, isInside, isMember, type Node, type NodeOf } from "../ast/nodes.ts";
import type { Tree } from "../ast/tree.ts";
import type { SeenCalls } from "../seen-calls.ts";
import { argumentNames, callsOf, pagesText, pagingOf } from "./pages.ts";
import type { Advice, Failing, Surroundings } from "./surroundings.ts";

type Loop = NodeOf<"WhileStatement" | "DoWhileStatement" | "ForStatement" | "ForOfStatement" | "ForInStatement">;

export function stopped({ reason, message, at }: Failing, around: Surroundings): Advice | undefined {
  if (reason !== "timeout") return undefined;
  const { tree } = around;
  const made = around.calls.toSorted((a, b) => b.calls - a.calls);
  const [most] = made;
  // Without a place, look for a loop that cannot end.
  const stuck = at === undefined ? tree.nodes.filter(isLoop).find((each) => stuckText(each, tree)) : undefined;
  const loop = stuck ?? (at === undefined ? waitingLoop(most, around) : runningLoop(at, tree));
  const where = loop && (stuck || at !== undefined) ? `, in the loop on line ${tree.line(loop)}` : "";
  const called = made.slice(0, 3).map((each) => calledText(each, around));
  const hint =
    (loop && stuckText(loop, tree)) ??
    (most && (pages(most, around) ?? oneByOne(most, around))) ??
    openCalls(around.calls);
  return {
    message: `${message}${where}${called.length > 0 ? `. Calls: ${called.join("; ")}` : ""}`,
    hint,
    at: loop?.start ?? at,
  };
}

/** `demo.list_orders 214 times (line 4), 213 with the same arguments as the previous call`. */
function calledText({ tool, calls, repeated, failures }: SeenCalls, around: Surroundings): string {
  const [first] = callsOf(tool, around);
  const line = first ? ` (line ${around.tree.line(first)})` : "";
  const times = calls === 1 ? "once" : `${calls} times`;
  const same = repeated > 0 ? `, ${repeated} with the same arguments as the previous call` : "";
  return `${tool} ${times}${line}${same}${failures > 1 ? `, ${failures} failed` : ""}`;
}

/** The loop in which code may have waited: the one around its calls, or one without an end. */
function waitingLoop(most: SeenCalls | undefined, around: Surroundings): Loop | undefined {
  const { tree } = around;
  const calls = most && most.calls > 1 ? callsOf(most.tool, around) : [];
  const [outer] = calls.flatMap((call) => tree.ancestors(call).find(isLoop) ?? []);
  return outer ?? tree.nodes.filter(isLoop).find(isWithoutEnd);
}

/**
 * The innermost loop at a place. Sometimes the engine names the last place before the loop: then it is the next one in
 * the function.
 */
function runningLoop(at: number, tree: Tree): Loop | undefined {
  const all = tree.nodes.filter(isLoop);
  const contains = (node: Node) => node.start <= at && at <= node.end;
  const home = tree.nodes.findLast((node) => isFunction(node) && contains(node)) ?? tree.program;
  const outer = all.findLast(contains);
  const within = outer ?? home;
  const next = all.find(
    (node) => node.start > at && node.end <= within.end && (tree.functionAround(node) ?? tree.program) === home,
  );
  const isBusy = next && (isWithoutEnd(next) || !/\bawait\b/.test(tree.text(next)));
  return outer && !isBusy ? outer : next;
}

function isLoop(node: Node): node is Loop {
  return /^(?:While|DoWhile|For|ForOf|ForIn)Statement$/.test(node.type);
}

function isWithoutEnd(loop: Loop): boolean {
  const test = "test" in loop ? loop.test : undefined;
  return (loop.type === "ForStatement" && !test) || (test?.type === "Literal" && test.value === true);
}

/** Why a loop cannot end: `while (Date.now() < end) {}`, or a test that nothing in the loop changes. */
function stuckText(loop: Loop, tree: Tree): string | undefined {
  const test = "test" in loop ? loop.test : undefined;
  if (!test) return undefined;
  const line = tree.line(loop);
  if (/\b(?:Date|performance)\b/.test(tree.text(test)) && !/\bawait\b/.test(tree.text(loop))) {
    return `The loop on line ${line} only burns time: wait with await new Promise((resolve) => setTimeout(resolve, 1000)).`;
  }
  if (tree.all("CallExpression").some((node) => isInside(node, test))) return undefined;
  const asked = tree.all("Identifier").filter((node) => isInside(node, test) && tree.binding(node));
  const changes = (node: Node) => isInside(node, loop) && !isInside(node, test) && isChanged(node, tree);
  const isTouched = asked.some((node) => tree.binding(node)?.references.some(changes));
  const names = [...new Set(asked.map((node) => tree.text(node)))];
  return isTouched || names.length === 0
    ? undefined
    : `Nothing in the loop on line ${line} changes ${names.join(" or ")}.`;
}

/** Whether a variable is set, or a method is called on it. */
function isChanged(name: Node, tree: Tree): boolean {
  for (const node of tree.ancestors(name)) {
    if (node.type === "UpdateExpression") return true;
    if (node.type === "AssignmentExpression" && isInside(name, node.left)) return true;
    if (isCall(node) && isInside(name, node.callee)) return true;
    if (!isMember(node)) return false;
  }
  return false;
}

function pages({ tool, calls }: SeenCalls, around: Surroundings): string | undefined {
  const [call] = callsOf(tool, around);
  const paging = pagingOf(tool, around);
  if (!call || !paging || calls < 3) return undefined;
  const names = argumentNames(call);
  const isPassed = names === undefined || names.includes(paging.argument);
  const why = isPassed ? "" : `The next page is never requested: ${paging.argument} is not passed. `;
  return `${why}${pagesText(paging, around.tree.text(call.callee))}`;
}

/** Many calls in a loop that awaits each of them. */
function oneByOne({ tool, calls }: SeenCalls, around: Surroundings): string | undefined {
  const { tree } = around;
  const [call] = calls >= 3 ? callsOf(tool, around) : [];
  const loop = call && tree.ancestors(call).find((node) => isLoop(node) || isFunction(node));
  if (loop?.type !== "ForOfStatement") return undefined;
  const list = tree.text(loop.right);
  const shown = list.length > 40 ? "list" : list;
  return `The calls ran one after the other. Run them together: await Promise.all(${shown}.map(async (each) => …)), or ask for more time.`;
}

function openCalls(calls: readonly SeenCalls[]): string | undefined {
  const open = calls
    .filter((each) => each.open > 0)
    .map((each) => each.tool + (each.open > 1 ? ` (${each.open})` : ""));
  return open.length > 0
    ? `Unanswered when the code was stopped: ${open.join(", ")}. If it needs longer, ask for more time.`
    : undefined;
}

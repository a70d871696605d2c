/** Explains code that was stopped at its time limit: where it was, what it had called, and why it may never end. */
import type { Node } from "acorn";
import { isCall, isFunction, isMember, isWithin } from "../ast/nodes.ts";
import type { Tree } from "../ast/tree.ts";
import { argumentNames, callsOf, isLoop, knownTool, pagesText, pagingOf } from "./pages.ts";
import type { Advice, CallCount, Failing, Surroundings } from "./surroundings.ts";

export function stopped({ reason, message, at }: Failing, around: Surroundings): Advice | undefined {
  if (reason !== "timeout") return undefined;
  const { tree } = around.values;
  const made = around.calls.toSorted((a, b) => b.calls - a.calls);
  const [most] = made;
  // Without a place, look for a loop that cannot end.
  const stuck = at === undefined ? tree.nodes.filter(isLoop).find((each) => stuckWords(each, around)) : undefined;
  const loop = stuck ?? loopAt(at, most, around);
  const where = loop && (stuck || at !== undefined) ? `in the loop on line ${tree.line(loop)}` : undefined;
  const called = made.slice(0, 3).map((each) => calledText(each, around));
  const hint =
    stuckWords(loop, around) ??
    (most && pages(most, around)) ??
    oneByOne(most, around) ??
    endless(at === undefined ? loop : undefined, most, around) ??
    openCalls(around.calls);
  return {
    message: [message, where].filter(Boolean).join(", ") + (called.length > 0 ? `. Calls: ${called.join("; ")}` : ""),
    hint,
    at: loop?.start ?? at,
  };
}

/** `demo.list_orders 214 times (line 4), 213 with the same arguments as the previous call`. */
function calledText({ tool, calls, repeated, failures }: CallCount, around: Surroundings): string {
  const [first] = callsOf(tool, around.values);
  const line = first ? ` (line ${around.values.tree.line(first)})` : "";
  const times = calls === 1 ? "once" : `${calls} times`;
  const same = repeated > 0 ? `, ${repeated} with the same arguments as the previous call` : "";
  return `${tool} ${times}${line}${same}${failures > 1 ? `, ${failures} failed` : ""}`;
}

/**
 * The innermost loop that was running. If the code only waited: the loop around its calls, or a loop without an end.
 */
function loopAt(at: number | undefined, most: CallCount | undefined, { values }: Surroundings): Node | undefined {
  const { tree } = values;
  const all = tree.nodes.filter(isLoop);
  if (at !== undefined) return runningLoop(at, all, tree);
  const calls = most && most.calls > 1 ? callsOf(most.tool, values) : [];
  const around = calls.flatMap((call) => [...tree.ancestors(call)].find(isLoop) ?? []);
  return around[0] ?? all.find(isWithoutEnd);
}

/**
 * The loop at a place. Sometimes the engine names the last place before the loop: then it is the next one in the
 * function.
 */
function runningLoop(at: number, all: Node[], tree: Tree): Node | undefined {
  const contains = (node: Node) => node.start <= at && at <= node.end;
  const home = tree.nodes.findLast((node) => isFunction(node) && contains(node)) ?? tree.program;
  const outer = all.findLast(contains);
  const within = outer ?? home;
  const next = all.find(
    (node) => node.start > at && node.end <= within.end && (tree.functionAround(node) ?? tree.program) === home,
  );
  return outer && !(next && isBusy(next, tree)) ? outer : next;
}

function isBusy(loop: Node, tree: Tree): boolean {
  return isWithoutEnd(loop) || !/\bawait\b/.test(tree.text(loop));
}

function isWithoutEnd(node: Node): boolean {
  const { test, type } = node as Node & { test?: Node | null };
  if (type === "ForStatement" && !test) return true;
  return test?.type === "Literal" && (test as Node & { value: unknown }).value === true;
}

function stuckWords(loop: Node | undefined, around: Surroundings): string | undefined {
  return busyWait(loop, around) ?? unchanged(loop, around);
}

/** `while (Date.now() < end) {}`. */
function busyWait(loop: Node | undefined, { values: { tree } }: Surroundings): string | undefined {
  const test = (loop as (Node & { test?: Node | null }) | undefined)?.test;
  if (!loop || !test || !/\b(?:Date|performance)\b/.test(tree.text(test)) || /\bawait\b/.test(tree.text(loop)))
    return undefined;
  return `The loop on line ${tree.line(loop)} only burns time: wait with await new Promise((resolve) => setTimeout(resolve, 1000)).`;
}

/** `while (i < list.length) { … }`, where nothing in the loop changes i or list. */
function unchanged(loop: Node | undefined, { values: { tree } }: Surroundings): string | undefined {
  const { test, body, update } = (loop ?? {}) as { test?: Node | null; body?: Node; update?: Node | null };
  if (!loop || !test || !body || tree.nodes.some((node) => isCall(node) && isWithin(node, test))) return undefined;
  const asked = tree.nodes.filter((node) => isWithin(node, test) && tree.binding(node));
  const bindings = new Set(asked.map((node) => tree.binding(node)));
  const parts = [body, ...(update ? [update] : [])];
  const touched = tree.nodes.some(
    (node) => bindings.has(tree.binding(node)) && parts.some((part) => isWithin(node, part)) && isChanged(node, tree),
  );
  const names = [...new Set(asked.map((node) => tree.text(node)))];
  return touched || names.length === 0
    ? undefined
    : `Nothing in the loop on line ${tree.line(loop)} changes ${names.join(" or ")}.`;
}

/** Whether a variable is set, or a method is called on it. */
function isChanged(name: Node, tree: Tree): boolean {
  for (const node of tree.ancestors(name)) {
    const { left } = node as Node & { left?: Node };
    if (node.type === "UpdateExpression" || (node.type === "AssignmentExpression" && left && isWithin(name, left)))
      return true;
    if (isCall(node) && isWithin(name, node.callee)) return true;
    if (!isMember(node)) return false;
  }
  return false;
}

function pages({ tool, calls }: CallCount, around: Surroundings): string | undefined {
  const [call] = callsOf(tool, around.values);
  const paging = pagingOf(knownTool(tool, around), around.resultsOf(tool));
  if (!call || !paging || calls < 3) return undefined;
  const passed = argumentNames(call).includes(paging.argument) || call.arguments[0]?.type !== "ObjectExpression";
  const why = passed ? "" : `The next page is never requested: ${paging.argument} is not passed. `;
  return `${why}${pagesText(paging, around.values.tree.text(call.callee))}`;
}

/** Many calls in a loop that awaits each of them. */
function oneByOne(most: CallCount | undefined, around: Surroundings): string | undefined {
  const { tree } = around.values;
  const [call] = most && most.calls >= 3 ? callsOf(most.tool, around.values) : [];
  const loop = call && [...tree.ancestors(call)].find((node) => isLoop(node) || isFunction(node));
  if (loop?.type !== "ForOfStatement") return undefined;
  const list = tree.text((loop as Node & { right: Node }).right);
  const shown = list.length > 40 ? "list" : list;
  return `The calls ran one after the other. Run them together: await Promise.all(${shown}.map(async (each) => …)), or ask for more time.`;
}

function openCalls(calls: readonly CallCount[]): string | undefined {
  const open = calls
    .filter((each) => each.open > 0)
    .map(({ tool, open: count }) => (count > 1 ? `${tool} (${count})` : tool));
  return open.length > 0
    ? `Unanswered when the code was stopped: ${open.join(", ")}. If it needs longer, ask for more time.`
    : undefined;
}

function endless(loop: Node | undefined, most: CallCount | undefined, around: Surroundings): string | undefined {
  if (!loop || /^For(?:Of|In)/.test(loop.type)) return undefined;
  if (!isWithoutEnd(loop) && !(most && most.repeated > 2)) return undefined;
  return `The loop on line ${around.values.tree.line(loop)} did not end: limit its iterations, for (let round = 0; round < 20; round++).`;
}

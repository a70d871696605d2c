/** Explains failures beyond the message of the engine. Loaded when a program fails. */

import { endWithSemicolon } from "../ast/lines.ts";
import { isCall, isMember, keyName, type Node } from "../ast/nodes.ts";
import type { Tree } from "../ast/tree.ts";
import type { SeenCalls } from "../seen-calls.ts";
import type { KnownTools } from "../worker/known-tools.ts";
import { environment, missingModule, network } from "./absent.ts";
import { causeOf } from "./causes.ts";
import { missingProperties, missingText } from "./missing-properties.ts";
import { missedTool, misuse, parsedAgain } from "./misuse.ts";
import { pagingOf } from "./pages.ts";
import { stopped } from "./stopped.ts";
import { type Advice, type Failing, lines, type Surroundings, surroundingsOf } from "./surroundings.ts";
import { notInitialized, undefinedName } from "./wrong-names.ts";

type Explanation = (error: Failing, around: Surroundings) => Advice | undefined;

/** Failures of tools that are named after an error that the program made out of them. */
const maxFailuresShown = 3;

/** The first one that fits counts. */
const explanations: Explanation[] = [
  stopped,
  missingModule,
  joinedLines,
  undefinedName,
  notInitialized,
  network,
  (error, around) => {
    const found = misuse(error, around);
    return found?.hint === undefined ? undefined : found;
  },
  parsedAgain,
  wrongArgument,
  lostResults,
];

/** Explanations that keep the message and the place of a misuse. */
const furtherExplanations: Explanation[] = [environment, earlierFailure, otherTool, absentProperty];

interface AdviceContext {
  known: KnownTools;
  calls: readonly SeenCalls[];
}

export function advise(error: Failing, code: Tree, { known, calls }: AdviceContext): Advice {
  const around = surroundingsOf(code, known, calls);
  const first = (all: Explanation[]) =>
    all
      .values()
      .map((explain) => explain(error, around))
      .find((advice) => advice);
  return first(explanations) ?? { ...misuse(error, around), ...first(furtherExplanations) };
}

/** An error that the program made out of the failure of a call: thrown in a `catch`, or by `Promise.any`. */
function earlierFailure({ name, message, code, hint, at, reason }: Failing, around: Surroundings): Advice | undefined {
  const isMade = name === "AggregateError" || around.tree.all("CatchClause").some((each) => contains(each, at));
  if (reason !== "threw" || code !== undefined || hint !== undefined || !isMade) return undefined;
  const failed = around.calls.flatMap(({ tool, failure }) => {
    return failure && !message.includes(failure.message) ? [`${tool} failed: ${failure.message}`] : [];
  });
  return failed.length > 0 ? { hint: lines(...failed.slice(0, maxFailuresShown)) } : undefined;
}

function otherTool(error: Failing, around: Surroundings): Advice | undefined {
  const hint = error.name === "TypeError" && error.hint === undefined ? missedTool(error, around) : undefined;
  return hint === undefined ? undefined : { hint };
}

/**
 * A property that no result has may be the cause: any in the line that failed, or one with a similar name elsewhere.
 */
function absentProperty({ hint, line, reason }: Failing, around: Surroundings): Advice | undefined {
  if (hint !== undefined || reason !== "threw") return undefined;
  const all = missingProperties(around);
  const found = all.find((each) => each.line === line) ?? all.find(({ meant }) => meant !== undefined);
  if (!found) return undefined;
  return { hint: `${found.line === line ? "" : `Line ${found.line}: `}${missingText(found)}` };
}

/** The failure is within a statement that was meant to be two. */
function joinedLines({ name, at }: Failing, { tree }: Surroundings): Advice | undefined {
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

/** `"cursor" must be string, got null`, `the argument "order_id" is missing`: why the expression has that value. */
function wrongArgument({ message, code, hint, at }: Failing, around: Surroundings): Advice | undefined {
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

const temporary = /temporar|try again|retry|timed? ?out|unavailable|rate.?limit|too many requests|\b(?:429|50[234])\b/i;

/** One failure within Promise.all: the results of the other calls are lost. */
function lostResults({ at, code, hint, message }: Failing, around: Surroundings): Advice | undefined {
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

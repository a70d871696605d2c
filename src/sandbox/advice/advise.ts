/** Explains failures beyond the message of the engine. Loaded when a program fails. */
import { isNamed } from "../ast/nodes.ts";
import type { Tree } from "../ast/tree.ts";
import type { KnownTools } from "../known-tools.ts";
import type { RecordedCalls } from "../seen-calls.ts";
import { environment, missingModule, network } from "./absent.ts";
import { callsInForIn, lostResults, wrongArgument } from "./failed-calls.ts";
import { joinedLines } from "./joined-lines.ts";
import { missingProperties, missingText } from "./missing-properties.ts";
import { missedTool, misuse, parsedAgain } from "./misuse.ts";
import { stopped } from "./stopped.ts";
import { type Advice, type Failing, type Surroundings, surroundingsOf } from "./surroundings.ts";
import { notInitialized, undefinedName } from "./wrong-names.ts";

type Explanation = (error: Failing, around: Surroundings) => Advice | undefined;

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
  callsInForIn,
  lostResults,
  constant,
  worded,
];

/** Explanations that keep the message and the place of a misuse. */
const furtherExplanations: Explanation[] = [environment, otherTool, absentProperty];

interface AdviceContext {
  known: KnownTools;
  calls: readonly RecordedCalls[];
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

/** Failures whose message says what happened, but not what to do. */
function worded({ message }: Failing): Advice | undefined {
  if (message === "The first argument of a timer must be a function") {
    return { hint: "Wait with: await new Promise((resolve) => setTimeout(resolve, ms))." };
  }
  if (message !== "empty array") return undefined;
  return {
    message: "reduce of an empty list",
    hint: "Pass reduce an initial value as its second argument, or check the length first.",
  };
}

/** `'n' is read-only`. */
function constant({ message }: Failing, { tree }: Surroundings): Advice | undefined {
  const name = /^'(.+)' is read-only$/.exec(message)?.[1] ?? "";
  const declared = tree.all("VariableDeclarator").find(({ id }) => isNamed(id, name));
  if (!declared) return undefined;
  const line = tree.line(declared);
  return { message: `${name} is a const and cannot be reassigned`, hint: `Declare it with let on line ${line}.` };
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

/** Explains failures beyond the message of the engine. Loaded when a program fails. */
import type { Node } from "acorn";
import { isNamed } from "../ast/nodes.ts";
import type { ParsedCode } from "../ast/tree.ts";
import type { KnownTools } from "../known-tools.ts";
import type { RecordedCalls } from "../seen-calls.ts";
import { environment, missingModule, network } from "./absent.ts";
import { callsInForIn, lostResults, wrongArgument } from "./failed-calls.ts";
import { missingProperties, missingText } from "./missing-properties.ts";
import { missedTool, misuse, parsedAgain } from "./misuse.ts";
import { stopped } from "./stopped.ts";
import { type Advice, type Failing, type Surroundings, surroundingsOf } from "./surroundings.ts";
import { notInitialized, undefinedName } from "./wrong-names.ts";

interface Known {
  known: KnownTools;
  calls: readonly RecordedCalls[];
}

/** The first advice that fits. */
export function advise(error: Failing, code: ParsedCode, { known, calls }: Known): Advice {
  const around = surroundingsOf(code, known, calls);
  const words = misuse(error, around);
  return (
    stopped(error, around) ??
    missingModule(error, around) ??
    undefinedName(error, around) ??
    notInitialized(error, around) ??
    network(error, around) ??
    (words?.hint === undefined ? undefined : words) ??
    parsedAgain(error, around) ??
    wrongArgument(error, around) ??
    callsInForIn(error, around) ??
    lostResults(error, around) ??
    constant(error, around) ??
    worded(error) ??
    withWords(environment(error, around), words) ??
    otherTool(error, around) ??
    withWords(absentProperty(error, around), words) ??
    words ??
    {}
  );
}

function withWords(advice: Advice | undefined, words: Advice | undefined): Advice | undefined {
  return advice && { ...words, ...advice };
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
function constant({ message }: Failing, { values: { tree } }: Surroundings): Advice | undefined {
  const name = /^'(.+)' is read-only$/.exec(message)?.[1];
  const declared = tree.all<Node & { id: Node }>("VariableDeclarator").find(({ id }) => isNamed(id, name ?? ""));
  if (name === undefined || !declared) return undefined;
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
function absentProperty({ hint, line, reason }: Failing, { values }: Surroundings): Advice | undefined {
  if (hint !== undefined || reason !== "threw") return undefined;
  const all = missingProperties(values);
  const found = all.find((each) => each.line === line) ?? all.find(({ meant }) => meant !== undefined);
  if (!found) return undefined;
  return { hint: `${found.line === line ? "" : `Line ${found.line}: `}${missingText(found)}` };
}

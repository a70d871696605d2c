/** Explains a failure of the engine: adds the original line, its text, and what to do next. */
import type { Advice } from "../advice/surroundings.ts";
import type { Transpiled } from "../code/transpile.ts";
import { codeFile, wrapperLength } from "../code/wrapper.ts";
import type { OutcomeError } from "../contract.ts";
import type { SeenCalls } from "../seen-calls.ts";
import type { CodeFailure } from "./code-result.ts";
import type { KnownTools } from "./known-tools.ts";

/** Longer code is not explained after a failure, because it would take too long. */
const maxExplainedCodeChars = 50_000;

export interface FailureContext {
  source: string;
  transpiled: Transpiled;
  /** The failure without an explanation. */
  plain: OutcomeError;
  known: KnownTools;
  calls: readonly SeenCalls[];
}

export async function describeFailure(failed: CodeFailure, about: FailureContext): Promise<OutcomeError> {
  const { stack, floating, hint } = failed.error;
  const { plain } = about;
  const { plainOffset, originalPosition } = about.transpiled;
  const frames = framesOf(stack, plainOffset);
  // The frame of an error's constructor shows the place of its class, not where it was thrown.
  const first = frames.find(({ where }) => where !== plain.name) ?? frames[0];
  const advice = await adviceFor(failed, { ...plain, hint }, first?.at, about);
  const at = advice.at ?? first?.at;
  const place = at === undefined ? undefined : await originalPosition(at);
  const shown = frames.map(async ({ where, at: frameAt }) => {
    const { line, column } = await originalPosition(frameAt);
    return `    at ${where} (${codeFile}:${line}:${column})`;
  });
  return {
    ...plain,
    message: advice.message ?? plain.message,
    hint: advice.hint ?? plain.hint ?? (floating ? notAwaited : undefined),
    stack: (await Promise.all(shown)).join("\n"),
    ...place,
    source: place && about.source.split("\n")[place.line - 1],
  };
}

const notAwaited = "Nothing awaited this promise: put await in front of the call, or handle its failure with catch.";

async function adviceFor(
  { reason, error: { missed = [], unawaited = [] } }: CodeFailure,
  { name, message, code, hint }: OutcomeError,
  at: number | undefined,
  { transpiled, known, calls }: FailureContext,
): Promise<Advice> {
  if (transpiled.plain.code.length > maxExplainedCodeChars) return {};
  const line = at === undefined ? undefined : (await transpiled.originalPosition(at)).line;
  const { advise } = await import("../advice/advise.ts");
  const failing = { reason, name, message, code, hint, at, line, missed, unawaited };
  // Explanations may fail for unusual code. The failure still has its message and place.
  return known.resolved(() => advise(failing, transpiled.plain, { known, calls })).catch(() => ({}));
}

interface Frame {
  where: string;
  /** Offset in the program without types. */
  at: number;
}

/** The frames of the executed code, without frames of the guest's script. */
function framesOf(stack: string, plainOffset: Transpiled["plainOffset"]): Frame[] {
  const frames = stack.matchAll(/^\s*at (.*?) ?\(?main\.ts:(\d+):(\d+)\)?$/gm).take(10);
  return [...frames].map(([, where, lineText, columnText]) => {
    const line = Number(lineText);
    const column = Math.max(1, Number(columnText) - (line === 1 ? wrapperLength : 0));
    return { where: where && where !== "<anonymous>" ? where : "the code", at: plainOffset({ line, column }) };
  });
}

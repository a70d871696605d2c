/** Explains a failure of the engine: adds the original line, its text, and what to do next. */
import type { Advice } from "./advice/surroundings.ts";
import type { Transpiled } from "./code/transpile.ts";
import { codeFile, wrapperLength } from "./code/wrapper.ts";
import type { Limits, OutcomeError } from "./contract.ts";
import type { CodeFailure } from "./execution.ts";
import { plainFailure } from "./failure-words.ts";
import type { KnownTools } from "./known-tools.ts";
import type { RecordedCalls } from "./seen-calls.ts";

export interface About {
  source: string;
  transpiled: Transpiled;
  limits: Limits;
  known: KnownTools;
  calls: readonly RecordedCalls[];
}

export async function describeFailure(failed: CodeFailure, about: About): Promise<OutcomeError> {
  const { name, code, hint, stack } = failed.error;
  const { message, hint: limitHint } = plainFailure(failed, about.limits);
  const frames = framesOf(stack, about.transpiled);
  // The frame of an error's constructor shows the place of its class, not where it was thrown.
  const first = frames.find(({ where }) => where !== name) ?? frames[0];
  const advice = await adviceFor(failed, { message, at: first?.at }, about);
  const said = advice.hint ?? hint ?? limitHint;
  const notes = [said, failed.floating && said === undefined ? notAwaited : undefined].filter(Boolean);
  const at = advice.at ?? first?.at;
  const place = at === undefined ? undefined : await about.transpiled.originalPosition(at);
  const text = place && about.source.split("\n")[place.line - 1];
  const shown = await Promise.all(
    frames.map(async (frame) => ({ ...frame, ...(await about.transpiled.originalPosition(frame.at)) })),
  );
  return {
    name,
    message: advice.message ?? message,
    ...(code === undefined ? {} : { code }),
    ...(notes.length === 0 ? {} : { hint: notes.join("\n") }),
    stack: shown.map(({ where, line, column }) => `    at ${where} (${codeFile}:${line}:${column})`).join("\n"),
    ...place,
    ...(text === undefined ? {} : { source: text }),
  };
}

const notAwaited = "Nothing awaited this promise: put await in front of the call, or handle its failure with catch.";

/** Longer code is not explained, because it would take too long. */
const maxCode = 50_000;

async function adviceFor(
  { reason, error, missed = [], unawaited = [] }: CodeFailure,
  { message, at }: { message: string; at: number | undefined },
  about: About,
): Promise<Advice> {
  const { name, code, hint } = error;
  if (about.transpiled.plain.code.length > maxCode) return {};
  const line = at === undefined ? undefined : (await about.transpiled.originalPosition(at)).line;
  const { advise } = await import("./advice/advise.ts");
  const failing = { reason, name, message, code, hint, at, line, missed, unawaited };
  // Without advice, the failure still has its message and place.
  return about.known.resolved(() => advise(failing, about.transpiled.plain, about)).catch(() => ({}));
}

interface Frame {
  where: string;
  /** Offset in the program without types. */
  at: number;
}

/** The frames of the executed code, without frames of the guest's script. */
function framesOf(stack: string, transpiled: Transpiled): Frame[] {
  const frames: Frame[] = [];
  for (const match of stack.matchAll(/^\s*at (.*?) ?\(?main\.ts:(\d+):(\d+)\)?$/gm)) {
    const [, where = "", lineText, columnText] = match;
    const line = Number(lineText);
    const column = Math.max(1, Number(columnText) - (line === 1 ? wrapperLength : 0));
    const at = transpiled.plainOffset(line, column);
    frames.push({ where: where && where !== "<anonymous>" ? where : "the code", at });
    if (frames.length === 10) break;
  }
  return frames;
}

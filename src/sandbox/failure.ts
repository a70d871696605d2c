/** A failure as it came out of the engine → one that helps: the line of the original, its text, and what to do next. */
import type { Advice } from "./advice/surroundings.ts";
import type { Transpiled } from "./code/transpile.ts";
import { codeFile, wrapperLength } from "./code/wrapper.ts";
import type { Bindings, Limits, OutcomeError } from "./contract.ts";
import type { WorkerResult } from "./messages.ts";
import type { RecordedCalls } from "./recorder.ts";

type Failed = Extract<WorkerResult, { ok: false }>;

export interface About {
  source: string;
  transpiled: Transpiled;
  limits: Limits;
  bindings: Bindings;
  calls: readonly RecordedCalls[];
}

export async function describeFailure(failed: Failed, about: About): Promise<OutcomeError> {
  const { name, code, hint, stack } = failed.error;
  const { message, hint: limitHint } = limitWords(failed, about.limits);
  const frames = framesOf(stack, about.transpiled);
  // The frame of an error's own constructor says where its class is, not where it was thrown.
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

/** Of longer code, nothing is explained: it is walked through on the thread that answers the host. */
const maxCode = 50_000;

async function adviceFor(
  { reason, error, missed = [], unawaited = [] }: Failed,
  { message, at }: { message: string; at: number | undefined },
  about: About,
): Promise<Advice> {
  const { name, code, hint } = error;
  if (about.transpiled.plain.code.length > maxCode) return {};
  const line = at === undefined ? undefined : (await about.transpiled.originalPosition(at)).line;
  const [{ advise }, { surroundingsOf }, { orNothing }] = await Promise.all([
    import("./advice/advise.ts"),
    import("./advice/surroundings-of.ts"),
    import("./advice/or-nothing.ts"),
  ]);
  const failing = { reason, name, message, code, hint, at, line, missed, unawaited };
  return orNothing(() => {
    const { surroundings, resultsOf } = surroundingsOf(about.transpiled.plain, about.bindings, about.calls);
    return advise(failing, surroundings, resultsOf);
  }, {});
}

function limitWords({ reason, error }: Failed, limits: Limits): { message: string; hint?: string } {
  const seconds = limits.timeoutMs / 1000;
  const megabytes = Math.round(limits.memoryBytes / 1_048_576);
  switch (reason) {
    case "timeout":
      return {
        message: `The code did not finish within ${seconds} s and was stopped`,
        hint: "Look for a loop that never ends, do less in one execution, or ask for more time.",
      };
    case "cpu":
      return {
        message: `The code computed for ${limits.cpuMs / 1000} s and was stopped`,
        hint: "Look for a loop that never ends, leave the heavy work to a tool, or raise limits.cpuMs.",
      };
    case "cancelled":
      return { message: "The execution was cancelled" };
    case "memory":
      return {
        message: `The code needed more than the ${megabytes} MB it may use`,
        hint: "Work on one page or one item at a time and keep only what you need.",
      };
    case "stack":
      return {
        message: "Too many nested calls, or data nested too deeply",
        hint: "Look for a recursion that never ends; turn deep recursion into a loop.",
      };
    case "crashed":
      return { message: "The engine broke while running this code; the next execution gets a new one" };
    default:
      return { message: error.message };
  }
}

interface Frame {
  where: string;
  /** Offset in the program without its types. */
  at: number;
}

/** The frames of the executed code; frames of the guest's own script are left out. */
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

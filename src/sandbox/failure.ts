/** A failure as it came out of the engine → one that helps: the line of the original, its text, and what to do next. */
import type { Bindings, Limits, OutcomeError } from "./contract.ts";
import type { WorkerResult } from "./messages.ts";
import type { Transpiled } from "./transpile.ts";
import { codeFile, wrapperLength } from "./wrapper.ts";

type Failed = Extract<WorkerResult, { ok: false }>;

interface About {
  source: string;
  transpiled: Transpiled;
  limits: Limits;
  bindings: Bindings;
  /** The keys of the last result of a tool. */
  resultKeys(tool: string): string[] | undefined;
}

export async function describeFailure(failed: Failed, about: About): Promise<OutcomeError> {
  const { name, code, hint } = failed.error;
  const { message, hint: limitHint } = limitWords(failed, about.limits);
  const frames = await framesOf(failed.error.stack, about.transpiled);
  // The frame of an error's own constructor says where its class is, not where it was thrown.
  const first = frames.find(({ where }) => where !== name) ?? frames[0];
  const source = first && about.source.split("\n")[first.line - 1];
  const hintAt = (line: number | undefined) =>
    line === undefined
      ? undefined
      : about.transpiled.hint({ name, message, line }, about.bindings.namespaces, about.resultKeys);
  const advice = hint ?? limitHint ?? (failed.floating ? notAwaited : hintAt(first?.line));
  return {
    name,
    message,
    ...(code === undefined ? {} : { code }),
    ...(advice === undefined ? {} : { hint: advice }),
    stack: frames.map(({ where, line, column }) => `    at ${where} (${codeFile}:${line}:${column})`).join("\n"),
    ...(first ? { line: first.line, column: first.column } : {}),
    ...(source === undefined ? {} : { source }),
  };
}

const notAwaited = "Nothing awaited this promise: put await in front of the call, or handle its failure with catch.";

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
  line: number;
  column: number;
}

/** The frames of the executed code, by the original's positions; frames of the guest's own script are left out. */
async function framesOf(stack: string, transpiled: Transpiled): Promise<Frame[]> {
  const frames: Frame[] = [];
  for (const match of stack.matchAll(/^\s*at (.*?) ?\(?main\.ts:(\d+):(\d+)\)?$/gm)) {
    const [, where = "", lineText, columnText] = match;
    const line = Number(lineText);
    const column = Math.max(1, Number(columnText) - (line === 1 ? wrapperLength : 0));
    const at = await transpiled.originalPosition(line, column);
    frames.push({ where: where && where !== "<anonymous>" ? where : "the code", ...at });
    if (frames.length === 10) break;
  }
  return frames;
}

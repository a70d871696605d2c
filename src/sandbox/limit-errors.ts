/** Errors for limits. Some can be handled by the program, and others end it. */
import { durationText } from "../base/duration.ts";
import { megabyte, megabytes } from "../base/units.ts";
import type { FailureReason, Limits, OutcomeError } from "./contract.ts";
import { maxArgumentKeys, maxArgumentParts, maxDisplayedValues, maxToolQuestions, partsOfContainer } from "./limits.ts";
import type { ErrorShape, WorkerFailure } from "./messages.ts";

function toolError(code: string, message: string, hint: string): ErrorShape {
  return { name: "ToolError", code, message, hint };
}

export function tooManyCalls({ calls }: Limits): ErrorShape {
  return toolError(
    "TOO_MANY_CALLS",
    `The code has made ${calls} tool calls, which is the limit`,
    "Look for a loop that never ends or a page cursor that is not passed on; otherwise do less in one execution, or raise limits.calls in the config.",
  );
}

export function tooManyQuestions(): ErrorShape {
  return toolError(
    "TOO_MANY_CALLS",
    `The code has called tools.search, tools.describe and tools.list ${maxToolQuestions} times, which is the limit`,
    "Search once and keep the result: const found = await tools.search(query).",
  );
}

export function argumentsTooLarge(tool: string, bytes: number, { argumentBytes }: Limits): ErrorShape {
  return toolError(
    "ARGUMENTS_TOO_LARGE",
    `The arguments of ${tool} are ${size(bytes)}; the limit is ${size(argumentBytes)}`,
    "Send the data in several calls, or raise limits.argumentMb in the config.",
  );
}

export function tooManyKeys(tool: string): ErrorShape {
  return toolError(
    "ARGUMENTS_TOO_LARGE",
    `The arguments of ${tool} have more than ${maxArgumentKeys.toLocaleString("en")} different keys, which is the limit`,
    "Send the data in several calls, or as a list of objects with the same keys.",
  );
}

export function tooManyValues(tool: string): ErrorShape {
  return toolError(
    "ARGUMENTS_TOO_LARGE",
    `The arguments of ${tool} have too many values: the limit is ${maxArgumentParts.toLocaleString("en")}, and each list and object counts as ${partsOfContainer}`,
    "Send the data in several calls, or as a text.",
  );
}

/** Maximum bytes of the arguments of all open calls. */
export function openCallsOf({ argumentBytes }: Limits): number {
  return 4 * argumentBytes;
}

export function openArgumentsTooLarge(bytes: number, limits: Limits): ErrorShape {
  return toolError(
    "ARGUMENTS_TOO_LARGE",
    `The arguments of all pending calls add up to ${size(bytes)}; the limit is ${size(openCallsOf(limits))}`,
    "Await some of the calls before you make more, or raise limits.argumentMb in the config.",
  );
}

export function resultTooLarge(tool: string, bytes: number, { resultBytes }: Limits): ErrorShape {
  return toolError(
    "RESULT_TOO_LARGE",
    `The result of ${tool} is ${size(bytes)}; the limit is ${size(resultBytes)}`,
    "Ask the tool for less (a page, a filter, a part of the file), or raise limits.resultMb in the config.",
  );
}

export function valueTooLarge(what: string, bytes: number, { valueBytes }: Limits): ErrorShape {
  return {
    name: "ValueError",
    code: "VALUE_TOO_LARGE",
    message: `${what} ${size(bytes)}; the limit is ${size(valueBytes)}`,
    hint: "Return a summary, or write the data to a file in ./workspace and return its path; or raise limits.valueMb in the config.",
  };
}

export function displayedTooMuch(): ErrorShape {
  return {
    name: "ValueError",
    code: "TOO_MANY_DISPLAYED",
    message: `The code has displayed ${maxDisplayedValues} values, which is the limit`,
    hint: "Display what a person should see, as one array; log the rest or write it to a file in ./workspace.",
  };
}

/** `12.5 MB`, `3 KB`, `17 bytes`. */
function size(bytes: number): string {
  if (bytes >= megabyte) return `${Math.round((bytes / megabyte) * 10) / 10} MB`;
  return bytes >= 1_024 ? `${Math.round(bytes / 1_024)} KB` : `${bytes} bytes`;
}

/** Describes a failure without looking at the program. */
export function plainFailure(reason: FailureReason, error: ErrorShape, limits: Limits): OutcomeError {
  const { name, message, code, hint } = { ...error, ...endOf(reason, limits) };
  return { name, message, code, hint: error.hint ?? hint, stack: "" };
}

/** The failure of a program whose worker could not report one. With `isReading`, the program was still being parsed. */
export function stoppedProgram(
  reason: "cancelled" | "timeout" | "stack" | "crashed",
  limits: Limits,
  isReading = false,
): WorkerFailure {
  const error = plainFailure(reason, { name: "Error", message: "" }, limits);
  const words = isReading && reason === "timeout" ? tooNested(within(limits.timeoutMs)) : {};
  return { ok: false, reason, error: { ...error, ...words } };
}

/** The failure of a program that was not started, because this process has no memory for it. */
export function noRoom(): WorkerFailure {
  return lackOfMemory(
    "This machine has no memory for another program. The code was not run",
    "Run it again when other programs have ended, or give claudikins more memory.",
  );
}

/** The failure of a program that waited outside of any worker, and that this process has no memory to continue. */
export function noRoomToContinue(): WorkerFailure {
  return lackOfMemory(
    "This machine has no memory to continue this program",
    "Look at what the program has done so far, and run the rest when other programs have ended.",
  );
}

function lackOfMemory(message: string, hint: string): WorkerFailure {
  return { ok: false, reason: "memory", error: { name: "Error", message, hint, stack: "" } };
}

/** Why a program ran out of memory below its limit. */
export function noRoomToGrow({ memoryBytes }: Limits): Pick<OutcomeError, "message" | "hint"> {
  return {
    message: `The code ran out of memory: this machine has no more for it, although the limit is ${megabytes(memoryBytes)}`,
    hint: "Run it again when other programs have ended, keep less in memory at once, or give claudikins more memory.",
  };
}

/** The failure of a program that no parser reads in time. */
export function unreadableProgram(ms: number): WorkerFailure {
  return unreadable(within(ms));
}

/** The failure of a program that needs too much memory to be parsed. */
export function wastefulProgram(mb: number): WorkerFailure {
  return unreadable(`with ${mb} MB of memory`);
}

function unreadable(limit: string): WorkerFailure {
  const error = { name: "SyntaxError", code: "CODE_UNREADABLE", stack: "", ...tooNested(limit) };
  return { ok: false, reason: "check", error };
}

const within = (ms: number) => `within ${durationText(ms)}`;

function tooNested(limit: string): { message: string; hint: string } {
  return {
    message: `The code could not be parsed as TypeScript ${limit} and was not run`,
    hint: "Nested or repeated code takes the parser too long: write it in smaller pieces, or without types.",
  };
}

/** The failure of a program that reached a limit, or whose worker failed. */
function endOf(reason: FailureReason, limits: Limits): Partial<ErrorShape> {
  switch (reason) {
    case "timeout":
      return {
        name: "TimeoutError",
        message: `The code did not finish within ${durationText(limits.timeoutMs)} and was stopped`,
        hint: "Look for a loop that never ends, do less in one execution, or ask for more time.",
      };
    case "cpu":
      return {
        name: "CpuTimeError",
        message: `The code used ${durationText(limits.cpuMs)} of CPU time and was stopped`,
        hint: "Look for a loop that never ends, leave the heavy work to a tool, or raise limits.cpuMs in the config.",
      };
    case "cancelled":
      return { name: "CancelledError", message: "The execution was cancelled" };
    case "memory":
      return {
        message: `The code ran out of memory: the limit is ${Math.round(limits.memoryBytes / megabyte)} MB`,
        hint: "Work on one page or one item at a time and keep only what you need.",
      };
    case "stack":
      return {
        message: "Too many nested calls, or data nested too deeply",
        hint: "Look for a recursion that never ends; turn deep recursion into a loop.",
      };
    case "crashed":
      return { message: "The engine crashed while running this code. The next execution gets a new engine." };
    default:
      return {};
  }
}

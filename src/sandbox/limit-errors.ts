/** Errors for limits that a program can handle. */
import type { Limits } from "./contract.ts";
import type { ErrorShape } from "./messages.ts";

const megabyte = 1_048_576;

export function tooManyCalls({ calls }: Limits): ErrorShape {
  return {
    name: "ToolError",
    code: "TOO_MANY_CALLS",
    message: `The code has made ${calls} tool calls, which is the limit`,
    hint: "Look for a loop that never ends or a page cursor that is not passed on; otherwise do less in one execution, or raise limits.calls in the config.",
  };
}

/** Maximum number of questions about the tools (`tools.search`, `tools.list`) of one execution: the main thread answers each. */
export const maxQuestions = 1_000;

export function tooManyQuestions(): ErrorShape {
  return {
    name: "ToolError",
    code: "TOO_MANY_CALLS",
    message: `The code has called tools.search, tools.describe and tools.list ${maxQuestions} times, which is the limit`,
    hint: "Search once and keep the result: const found = await tools.search(query).",
  };
}

export function argumentsTooLarge(tool: string, bytes: number, { argumentBytes }: Limits): ErrorShape {
  return {
    name: "ToolError",
    code: "ARGUMENTS_TOO_LARGE",
    message: `The arguments of ${tool} are ${size(bytes)}; the limit is ${size(argumentBytes)}`,
    hint: "Send the data in several calls, or raise limits.argumentMb in the config.",
  };
}

/** Maximum bytes of the arguments of all open calls. */
export function openCallsOf({ argumentBytes }: Limits): number {
  return 4 * argumentBytes;
}

export function openArgumentsTooLarge(bytes: number, limits: Limits): ErrorShape {
  return {
    name: "ToolError",
    code: "ARGUMENTS_TOO_LARGE",
    message: `The arguments of all pending calls add up to ${size(bytes)}; the limit is ${size(openCallsOf(limits))}`,
    hint: "Await some of the calls before you make more, or raise limits.argumentMb in the config.",
  };
}

export function resultTooLarge(tool: string, bytes: number, { resultBytes }: Limits): ErrorShape {
  return {
    name: "ToolError",
    code: "RESULT_TOO_LARGE",
    message: `The result of ${tool} is ${size(bytes)}; the limit is ${size(resultBytes)}`,
    hint: "Ask the tool for less (a page, a filter, a part of the file), or raise limits.resultMb in the config.",
  };
}

export function valueTooLarge(what: string, bytes: number, { valueBytes }: Limits): ErrorShape {
  return {
    name: "ValueError",
    code: "VALUE_TOO_LARGE",
    message: `${what} ${size(bytes)}; the limit is ${size(valueBytes)}`,
    hint: "Return a summary, or write the data to a file in ./workspace and return its path; or raise limits.valueMb in the config.",
  };
}

/** Maximum number of values that one execution displays: each is a message to the main thread. */
export const maxDisplayed = 1_000;

export function displayedTooMuch(): ErrorShape {
  return {
    name: "ValueError",
    code: "TOO_MANY_DISPLAYED",
    message: `The code has displayed ${maxDisplayed} values, which is the limit`,
    hint: "Display what a person should see, as one array; log the rest or write it to a file in ./workspace.",
  };
}

/** `12.5 MB`, `3 KB`, `17 bytes`. */
function size(bytes: number): string {
  if (bytes >= megabyte) return `${Math.round((bytes / megabyte) * 10) / 10} MB`;
  return bytes >= 1_024 ? `${Math.round(bytes / 1_024)} KB` : `${bytes} bytes`;
}

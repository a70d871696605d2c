/** Messages and hints for executions that reached a limit. */
import type { FailureReason, Limits, OutcomeError } from "./contract.ts";
import type { ErrorShape } from "./messages.ts";

/** Describes a failure without looking at the program. */
export function plainFailure(
  { reason, error }: { reason: FailureReason; error: ErrorShape },
  limits: Limits,
): OutcomeError {
  const words = wordsFor(reason, error.message, limits);
  const hint = error.hint ?? words.hint;
  return {
    name: error.name,
    message: words.message,
    ...(error.code === undefined ? {} : { code: error.code }),
    ...(hint === undefined ? {} : { hint }),
    stack: "",
  };
}

function wordsFor(reason: FailureReason, message: string, limits: Limits): { message: string; hint?: string } {
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
        message: `The code used ${limits.cpuMs / 1000} s of CPU time and was stopped`,
        hint: "Look for a loop that never ends, leave the heavy work to a tool, or raise limits.cpuMs in the config.",
      };
    case "cancelled":
      return { message: "The execution was cancelled" };
    case "memory":
      return {
        message: `The code ran out of memory: the limit is ${megabytes} MB`,
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
      return { message };
  }
}

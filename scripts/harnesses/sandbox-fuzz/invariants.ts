/** The rules for the outcome of any program; each broken rule is one line. */
import type { FailureReason, Limits, Outcome } from "../../../src/sandbox/contract.ts";

export interface Execution {
  program: string;
  outcome: Outcome;
  /** The time from the call of `execute` to its answer. */
  tookMs: number;
  limits: Limits;
  /** Calls of bindings that were open at the outcome and had not been cancelled. */
  openCalls: number;
}

/** Does not compile if the contract gets another reason. */
const reasons: Record<FailureReason, true> = {
  threw: true,
  check: true,
  timeout: true,
  cpu: true,
  memory: true,
  stack: true,
  cancelled: true,
  crashed: true,
};

/**
 * The time that an execution may take beyond its limit: to stop it, start a worker and parse the program on a busy
 * machine. An execution that misses its limit takes much longer: as long as the limit of another execution.
 */
const graceMs = 10_000;

/** Names of the host's own files and functions in its stacks. */
const hostFrames =
  /(?:worker|sandbox|execution|engine|outcome-recorder|reusable-context|transpile)\.ts\b|quickjs-emscripten|wasm-function|acorn|sucrase|\/\$bunfs|moduleEvaluation|processTicksAndRejections/;

/** One line per broken rule: `the problem: details`. Empty if there are none. */
export function brokenPromises(execution: Execution, secrets: readonly string[]): string[] {
  const { outcome, tookMs, limits, openCalls } = execution;
  const broken: string[] = [];
  if (tookMs > limits.timeoutMs + graceMs) broken.push(`late: it took ${Math.round(tookMs)} ms`);
  if (openCalls > 0) broken.push(`a call went on: ${openCalls} were not told to stop`);
  const said = jsonOf(outcome);
  if (said === undefined) return [...broken, "the outcome is no JSON"];
  return [...broken, ...shapeFaults(outcome), ...sizeFaults(said, limits), ...leaks(said, execution.program, secrets)];
}

function jsonOf(outcome: Outcome): string | undefined {
  try {
    return JSON.stringify(outcome);
  } catch {
    return undefined;
  }
}

function shapeFaults(outcome: Outcome): string[] {
  if (typeof outcome !== "object" || outcome === null) return ["the outcome is no object"];
  if (!Array.isArray(outcome.logs) || !Array.isArray(outcome.display)) return ["logs or display are no lists"];
  if (typeof outcome.receipt?.calls !== "number") return ["there is no receipt"];
  if (outcome.ok) return [];
  const { reason, error } = outcome;
  if (!Object.hasOwn(reasons, reason)) return [`the reason is not of the contract: ${reason}`];
  if (reason === "crashed") return [`crashed: ${error.message}`];
  if (reason === "cancelled") return ["cancelled, though nobody cancelled it"];
  const texts = [error.name, error.message, error.stack];
  return texts.every((text) => typeof text === "string") ? [] : ["the error is not in words"];
}

/** All texts fit into the memory of the code, times the longest JSON escape of a character (`\u0000`). */
function sizeFaults(said: string, { memoryBytes }: Limits): string[] {
  return said.length > 6 * memoryBytes ? [`too much: an outcome of ${said.length} characters`] : [];
}

/** A secret in the program itself is not a leak. */
function leaks(said: string, program: string, secrets: readonly string[]): string[] {
  const found = secrets.filter((secret) => said.includes(secret) && !program.includes(secret));
  const frame = hostFrames.exec(said)?.[0];
  if (frame !== undefined && !program.includes(frame)) found.push(frame);
  return found.map((secret) => {
    const at = said.indexOf(secret);
    return `leaked ${JSON.stringify(secret)}: ${said.slice(Math.max(0, at - 80), at + 80)}`;
  });
}

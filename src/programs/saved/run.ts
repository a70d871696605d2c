/** Runs a saved program as an execution of its own. */
import { ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import type { TraceContext } from "../../base/trace-context.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { continuesElsewhere } from "../../policy/approval-queue.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import { onAbort } from "../../servers/abort.ts";
import { argumentProblems } from "../../tools/arguments/argument-problems.ts";
import { DryRun } from "../dry-run/dry-run.ts";
import type { ExecuteRequest, ExecutionParts } from "../execute.ts";
import type { Executions } from "../execution/executions.ts";
import type { FollowedExecution } from "../execution/running-execution.ts";
import { idWithin } from "../trace/id.ts";
import type { ProgramCaller } from "./callers.ts";
import { codeWithInput } from "./inputs.ts";
import { ProgramLibrary } from "./library.ts";
import type { SavedProgram } from "./model.ts";
import type { ProgramIdentity } from "./permissions.ts";
import { requirePin, requirePinned } from "./pins.ts";
import { VisiblePrograms } from "./visible-programs.ts";

/** How deep saved programs can call each other. */
const maxProgramDepth = 5;

/** The execution of a saved program. Throws INVALID_ARGUMENTS. */
export async function requestFor(
  { name, code, input, calls, owner, labels, pins }: SavedProgram,
  given: JsonObject,
  depth = 1,
): Promise<{ source: string; program: ProgramIdentity }> {
  const problems = await argumentProblems(input, given);
  if (problems.length > 0) throw new ClaudikinsError("INVALID_ARGUMENTS", `${name}: ${problems.join("; ")}`);
  const program = { name, calls, owner: owner?.key, labels, pins, depth };
  return { source: codeWithInput(code, given), program };
}

/** The execution of the user's program of that name, or of a version of it. Throws PROGRAM_NOT_FOUND, INVALID_ARGUMENTS and DEFINITION_CHANGED. */
export async function requestForNamed(name: string, given: JsonObject, place: SavedProgramsPlace) {
  const library = new ProgramLibrary(place);
  const program = library.get(name);
  requirePinned(program, library);
  return requestFor(program, given);
}

/**
 * Runs the program for a call. The caller waits, and its time limit with it. A call that is made again after a crash follows the execution
 * that it began before, so that nothing is done twice. Throws INVALID_ARGUMENTS, DEFINITION_CHANGED, and USAGE if programs call each other too deeply.
 */
export async function runForCall(
  program: SavedProgram,
  given: JsonObject,
  {
    caller,
    signal,
    trace,
  }: { caller: ProgramCaller | undefined; signal: AbortSignal; trace: TraceContext | undefined },
  executions: Executions,
  parts: ExecutionParts,
): Promise<Outcome> {
  const depth = (caller?.program?.depth ?? 0) + 1;
  if (depth > maxProgramDepth) {
    throw new ClaudikinsError("USAGE", `Saved programs call each other more than ${maxProgramDepth} deep`, {
      hint: `"${program.name}" may call itself, perhaps through others.`,
    });
  }
  const of = caller?.program;
  if (of) requirePin(of, program, caller?.version);
  requirePinned(program, new VisiblePrograms(parts.config.savedPrograms, program.owner?.key));
  const { source, program: identity } = await requestFor(program, given, depth);
  const pins = of?.pins ?? identity.pins;
  const request = { source, program: { ...identity, pins }, ...aboutCaller(caller), trace };
  const isBackground = caller?.isStored() === true && caller.dryRun === undefined;
  const id = caller && idWithin(caller.position.execution, caller.position.call);
  const begun = isBackground && id !== undefined ? await earlier(id, executions, parts) : undefined;
  const execution = begun ?? executions.start(request, parts, { id, isBackground });
  // If the caller is continued in another process, so is this program.
  const stop = onAbort(signal, () => {
    if (caller?.signal.reason !== continuesElsewhere) execution.cancel();
  });
  caller?.pause?.hold();
  try {
    return await execution.outcome;
  } finally {
    caller?.pause?.release();
    stop();
  }
}

function aboutCaller(
  caller: ProgramCaller | undefined,
): Pick<ExecuteRequest, "isForAgent" | "unattended" | "host" | "starter" | "within" | "origin" | "dryRun"> {
  if (!caller) return {};
  const { isForAgent, unattended, host, starter, dryRun, position } = caller;
  return {
    isForAgent,
    unattended,
    host,
    starter,
    within: caller.caller?.reads,
    dryRun: dryRun && new DryRun({ dryRun, call: position.call }),
  };
}

/** The execution with that id, which was begun before, perhaps in another process. Undefined if there is none. */
export async function earlier(
  id: string,
  executions: Executions,
  parts: ExecutionParts,
): Promise<FollowedExecution | undefined> {
  try {
    return await executions.follow(id, parts);
  } catch (error) {
    if (toClaudikinsError(error).code === "EXECUTION_NOT_FOUND") return undefined;
    throw error;
  }
}

/** Runs programs: code → bindings → sandbox → outcome. */

import { megabyte } from "../base/units.ts";
import type { LimitsEntry } from "../config/schema.ts";
import type { Call } from "../policy/call.ts";
import type { SessionReads } from "../policy/flow/session-reads.ts";
import type { UsageQuotas } from "../policy/quotas.ts";
import type { OpenCall } from "../sandbox/checkpoint-contract.ts";
import type { CheckMode, Outcome, Limits as SandboxLimits } from "../sandbox/contract.ts";
import type { RunOptions } from "../sandbox/main-thread/program-run.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { bindingsFor } from "./bindings.ts";
import { callSpans, observersOf } from "./call-observers.ts";
import type { DryRun } from "./dry-run/dry-run.ts";
import type { Starter } from "./execution/asker.ts";
import type { ExecutionCheckpointer } from "./execution/checkpointer.ts";
import type { TraceRecorder, TraceRecording } from "./execution/recording.ts";
import { noteShown } from "./execution/shown-outcome.ts";
import type { StoredProgram } from "./execution/stored-program.ts";
import { askAgain } from "./mentioned-servers.ts";
import type { Parts } from "./parts.ts";
import { callerOf, fileListener, type ProgramCaller } from "./program-reads.ts";
import type { CallTape } from "./recordings/tape.ts";
import { programsServer } from "./saved/model.ts";
import type { ProgramIdentity } from "./saved/permissions.ts";
import type { LastProgram, StoredRun } from "./saved/requesting-program.ts";
import type { ExecutionSpan } from "./telemetry.ts";
import { newId } from "./trace/id.ts";
import { type HostIdentity, startedByOf, type Unattended } from "./trace/record.ts";
import type { SharedWorkspace } from "./workspace/shared-workspace.ts";

/** A program that is to run. The signal, the origin and the trace belong to the request that runs it. */
export interface ExecuteRequest extends Pick<Call, "signal" | "origin" | "trace"> {
  /** The id of the execution. Default: a new one. */
  id?: string | undefined;
  source: string;
  /** Replaces the config's. */
  limits?: { [Name in keyof LimitsEntry]?: LimitsEntry[Name] | undefined } | undefined;
  /** Replaces the config's. */
  check?: CheckMode | undefined;
  /** Keeps the execution outside of this process. */
  checkpointer?: ExecutionCheckpointer | undefined;
  /** Whether the outcome goes into the context of an agent's model. False for a shell, whose output may go anywhere. */
  isForAgent?: boolean | undefined;
  /** What starts it, if nobody does. */
  unattended?: Unattended | undefined;
  /** Takes down the calls with their whole results, for a recording. */
  tape?: CallTape | undefined;
  /** Records the execution for `claudikins executions`. */
  recording?: TraceRecording | undefined;
  /** Tells telemetry of the execution, whose calls belong to the span's trace. */
  span?: ExecutionSpan | undefined;
  /** A digest of what an agent must know to follow the execution as a task, stored with it. */
  claim?: string | undefined;
  /** The agent that sent the program, for the record. */
  host?: HostIdentity | undefined;
  /** The client of `serve --http` that sent the program, and alone may ask for it. */
  starter?: Starter | undefined;
  /** What the program that calls this one has read, or a session of its own. */
  within?: SessionReads | undefined;
  /** The saved program that this is. It may call only what was named when it was saved. */
  program?: ProgramIdentity | undefined;
  /** The id of the execution whose code it runs again. */
  repeats?: string | undefined;
  /** Records the calls that would change something, instead of making them. */
  dryRun?: DryRun | undefined;
  /** The last program of the same agent that worked. */
  lastProgram?: (() => LastProgram | undefined) | undefined;
  /** The stored runs of a saved program. */
  runsOf?: ((name: string) => Promise<StoredRun[]>) | undefined;
  /** Called with a line when a call has ended, or its server reports progress. */
  onProgress?: ((line: string) => void) | undefined;
}

/** What it takes to run a program. */
export interface ExecutionParts extends Parts {
  sandbox: Sandbox;
  /** Undefined if executions are not recorded. */
  recorder: TraceRecorder | undefined;
  /** What all executions together may use. */
  quotas: Pick<UsageQuotas, "executionTurns">;
  /** The working directory of servers that name none. */
  cwd: string;
  /** Undefined if no other replica shares the workspace. */
  sharedWorkspace(): Promise<SharedWorkspace | undefined>;
}

/** Runs a program. Whatever the code does is an outcome; throws only what is wrong with claudikins itself. */
export function execute(asked: ExecuteRequest, parts: ExecutionParts): Promise<Outcome> {
  const request = { ...asked, id: asked.id ?? newId(Date.now()) };
  const work = () => asCaller(request, parts, (called) => checkAndRun(called, parts));
  return asked.span ? asked.span.run(work) : work();
}

interface CalledRequest extends ExecuteRequest {
  id: string;
  caller: ProgramCaller;
}

/** What the program reads is kept with the execution, as long as this is stored. What its outcome shows is read by whoever gets it. */
async function asCaller(
  request: ExecuteRequest & { id: string },
  parts: ExecutionParts,
  work: (request: CalledRequest) => Promise<Outcome>,
): Promise<Outcome> {
  const { id, checkpointer } = request;
  const caller = await callerOf(request, parts);
  // The text of a saved program may repeat what its session had read.
  const { reads, reader } = caller;
  const { source, program } = request;
  if (program?.labels) {
    const labels = new Set(program.labels.map(({ label }) => label));
    const repeated = [...labels].map((label) => ({ label, source: `${programsServer}.${program.name}` }));
    await reads.add(repeated, { size: source.length, text: source });
  }
  await checkpointer?.storesAfter(() => reads.keepForExecution());
  try {
    const outcome = await withSharedFiles(request, parts, () => work({ ...request, caller }));
    await reads.pending;
    await noteShown(outcome, reads, reader);
    return outcome;
  } finally {
    await reads.pending;
    if (reads.isKept && checkpointer?.isStored !== true) await parts.sessions.forgetExecution(id);
  }
}

/** The program sees the files of all replicas. They have its files before anybody gets its outcome. */
async function withSharedFiles(
  { checkpointer, dryRun }: ExecuteRequest,
  parts: ExecutionParts,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const workspace = await parts.sharedWorkspace();
  if (!workspace) return work();
  return workspace.during(async () => {
    const outcome = await work();
    // A program that was given up here may have other files where it continues. A dry run has changed a copy.
    const problems = checkpointer?.isReleased === true || dryRun ? [] : await workspace.keep();
    for (const text of [...problems, ...workspace.takeConflicts()]) outcome.logs.push({ level: "error", text });
    return outcome;
  });
}

async function checkAndRun(request: CalledRequest, parts: ExecutionParts): Promise<Outcome> {
  const first = await run(request, parts);
  const isRefused = !first.ok && first.reason === "check" && first.error.name === "CheckError";
  // The check used stored schemas, which may be older than the server: list the server and check again before refusing the code.
  const mayBeOld = isRefused && (await askAgain(request.source, parts, request.signal));
  const outcome = mayBeOld ? await run(request, parts) : first;
  await request.dryRun?.end(outcome);
  recordEnd(outcome, request);
  return outcome;
}

/** A program that was given up here has not ended: the process that continues it writes its record. */
function recordEnd(outcome: Outcome, { recording, tape, span, checkpointer, caller }: CalledRequest): void {
  if (checkpointer?.isReleased === true) {
    span?.released();
    return;
  }
  recording?.ended(outcome, () => caller.reads.all);
  if (tape) tape.labels = caller.reads.all;
  span?.ended(outcome);
}

/** An execution that was saved, perhaps by another process. */
export interface SavedExecution {
  program: StoredProgram;
  /** The calls that it waits for. Those without an answer are made. */
  open: readonly OpenCall[];
  limits: SandboxLimits;
}

/** Continues a saved execution. The request's own limits do not count. */
export async function continueExecution(
  request: ExecuteRequest & { id: string },
  { program, open, limits }: SavedExecution,
  parts: ExecutionParts,
): Promise<Outcome> {
  return asCaller(request, parts, async (called) => {
    await called.caller.reads.add(await parts.sessions.ofExecution(request.id));
    const options = await optionsOf(called, limits, parts);
    const outcome = await parts.sandbox.run(request.source, options, { execution: program.execution, open });
    recordEnd(outcome, called);
    return outcome;
  });
}

async function run(request: CalledRequest, parts: ExecutionParts): Promise<Outcome> {
  const limits = limitsOf(request, parts);
  const options = await optionsOf(request, limits, parts);
  request.recording?.start();
  return parts.sandbox.run(request.source, options);
}

async function optionsOf(request: CalledRequest, limits: SandboxLimits, parts: ExecutionParts): Promise<RunOptions> {
  const {
    id,
    source,
    check,
    signal,
    origin = signal,
    checkpointer,
    recording,
    tape,
    onProgress,
    isForAgent = false,
    unattended,
    caller,
  } = request;
  const { program, host, starter, dryRun, lastProgram = () => undefined, runsOf = async () => [] } = request;
  const isStored = () => checkpointer?.isStored === true;
  const requesting = { program, isForAgent, unattended, host, starter, caller, dryRun, isStored, lastProgram, runsOf };
  const { config } = parts;
  const trace = request.span ? request.span.trace : request.trace;
  const spans = callSpans(parts, { trace, execution: id });
  const maker = { startedBy: startedByOf(request), caller, execution: id, program: program?.name, isForAgent };
  const listener = observersOf({ parts, maker, recording, tape, spans, checkpointer, tell: onProgress });
  const bound = { listener, wantsProgress: onProgress !== undefined, requesting, spans };
  const bindings = await bindingsFor(source, parts, { signal, origin, trace }, bound);
  return {
    id,
    bindings,
    limits,
    mounts: dryRun ? { ...config.folders, scratch: dryRun.scratch } : config.folders,
    check: check ?? config.check,
    signal,
    turn: {
      owner: caller.owner,
      key: starter?.session ?? starter?.client,
      depth: program?.depth,
      // A program that another one calls runs in the place of its caller.
      others: (program?.depth ?? 1) > 1 ? [] : parts.quotas.executionTurns(),
    },
    listener,
    checkpointer,
    seed: tape?.seed,
    onFile: fileListener(caller, parts),
  };
}

/** The limits of a program: the request's, else the config's. */
export function limitsOf({ limits }: Pick<ExecuteRequest, "limits">, { config }: Parts): SandboxLimits {
  return limitsFrom(withChosen(config.limits, limits));
}

function withChosen(limits: LimitsEntry, chosen: ExecuteRequest["limits"] = {}): LimitsEntry {
  const given = Object.entries(chosen).filter(([, value]) => value !== undefined);
  return { ...limits, ...Object.fromEntries(given) };
}

/** The limits of the config in the units of the sandbox. */
export function limitsFrom(configured: LimitsEntry): SandboxLimits {
  const { timeoutMs, cpuMs, memoryMb, stackKb, calls, callsInFlight } = configured;
  const bytes = (mb: number) => Math.round(mb * megabyte);
  return {
    timeoutMs,
    cpuMs,
    memoryBytes: bytes(memoryMb),
    stackBytes: stackKb * 1_024,
    calls,
    callsInFlight,
    argumentBytes: bytes(configured.argumentMb),
    resultBytes: bytes(configured.resultMb),
    valueBytes: bytes(configured.valueMb),
    logBytes: bytes(configured.logMb),
  };
}

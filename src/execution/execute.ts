/** Runs programs: code → bindings → sandbox → outcome. */
import type { Limits } from "../config/schema.ts";
import type { CheckMode, Outcome, Limits as SandboxLimits } from "../sandbox/contract.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { HostIdentity } from "../trace/record.ts";
import { askAgain, bindingsFor } from "./bindings.ts";
import type { Parts } from "./parts.ts";
import type { ExecutionRecorder, Recording } from "./recording.ts";

export interface ExecuteRequest {
  source: string;
  /** Replaces the config's. */
  limits?: { [Name in keyof Limits]?: Limits[Name] | undefined } | undefined;
  /** Replaces the config's. */
  check?: CheckMode | undefined;
  signal?: AbortSignal | undefined;
  /** Whether the outcome goes into the context of an agent's model. False for a shell, whose output may go anywhere. */
  isForAgent?: boolean | undefined;
  /** The agent that sent the program, for the record. */
  host?: HostIdentity | undefined;
  /** Called with a line when a call has ended, or its server reports progress. */
  onProgress?: ((line: string) => void) | undefined;
}

/** What it takes to run a program. */
export interface ExecutionParts extends Parts {
  sandbox: Sandbox;
  /** Undefined if executions are not recorded. */
  recorder: ExecutionRecorder | undefined;
}

/** Runs a program. Whatever the code does is an outcome; throws only what is wrong with claudikins itself. */
export async function execute(request: ExecuteRequest, parts: ExecutionParts): Promise<Outcome> {
  const recording = parts.recorder?.begin(request.source, parts, request.host);
  const outcome = await runOrAskAgain(request, parts, recording);
  recording?.ended(outcome);
  return outcome;
}

async function runOrAskAgain(request: ExecuteRequest, parts: ExecutionParts, recording?: Recording): Promise<Outcome> {
  const first = await run(request, parts, recording);
  // The check used stored schemas, which may be older than the server: list the server and check again before refusing the code.
  if (first.ok || first.reason !== "check" || first.error.name !== "CheckError") return first;
  return (await askAgain(request.source, parts, request.signal)) ? run(request, parts, recording) : first;
}

async function run(request: ExecuteRequest, parts: ExecutionParts, recording?: Recording): Promise<Outcome> {
  const { source, limits, check, signal, onProgress, isForAgent } = request;
  const { config } = parts;
  const bindings = await bindingsFor(source, parts, { signal, tell: onProgress, isForAgent });
  recording?.start();
  return parts.sandbox.execute(source, {
    bindings,
    limits: limitsFrom(withChosen(config.limits, limits)),
    mounts: config.folders,
    check: check ?? config.check,
    signal,
    watch: recording?.watch,
  });
}

function withChosen(limits: Limits, chosen: ExecuteRequest["limits"] = {}): Limits {
  const given = Object.entries(chosen).filter(([, value]) => value !== undefined);
  return { ...limits, ...Object.fromEntries(given) };
}

const megabyte = 1_048_576;

/** The limits of the config in the units of the sandbox. */
export function limitsFrom(configured: Limits): SandboxLimits {
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

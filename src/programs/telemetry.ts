/** What telemetry hears of requests, executions and calls. The room `telemetry` sends it on; without telemetry, nobody is told. */
import type { TraceContext } from "../base/trace-context.ts";
import type { CallRequest, Outcome } from "../sandbox/contract.ts";
import type { StoredCall } from "../store/call-log.ts";
import type { TeamState } from "../store/replicas.ts";
import type { ToolCallListener } from "./tool-call-events.ts";
import type { StartedBy } from "./trace/record.ts";

export interface Telemetry {
  /** An agent's request has arrived. */
  request(request: ObservedRequest): RequestSpan;
  /** An execution starts here, or is continued here. */
  execution(execution: ObservedExecution): ExecutionSpan;
  /** Listens to the calls of one execution, or to one call outside of programs. */
  calls(calls: ObservedCalls): CallSpans;
  /** Sends a call of the call log. Undefined if calls are not sent. */
  readonly logged: ((call: StoredCall) => void) | undefined;
  /** Reports the state with the metrics until it is disposed of. */
  watch(state: WatchedState): Disposable;
  /** The same for what only `serve --http` has. */
  watchServing(state: WatchedServing): Disposable;
  /** The metrics as Prometheus reads them. Undefined if `/metrics` is off. */
  readonly prometheus: (() => Promise<string>) | undefined;
  /** Sends what is left, within a time limit. Never rejects. */
  end(): Promise<void>;
}

/** A request of an agent. */
export interface ObservedRequest {
  method: string;
  /** The tool that it calls, if it is one that exists. Metrics have its name. */
  tool?: string | undefined;
  /** The trace of the agent. */
  trace: TraceContext | undefined;
  id?: string | number | undefined;
  session?: string | undefined;
  protocol?: string | undefined;
  transport: "pipe" | "tcp";
  door?: string | undefined;
  /** The id of the person who has signed in. */
  person?: string | undefined;
}

/** What runs within a request or a call belongs to its trace. */
export interface Within {
  /** The trace of what this causes. Undefined if there is none. */
  readonly trace: TraceContext | undefined;
  /** Runs `work`. Log lines that it writes belong to the trace. */
  run<T>(work: () => T): T;
}

export interface RequestSpan extends Within {
  /** The execution that answers it. */
  executes(id: string): void;
  /** The answer is ready, or there is none. `error` is one of few words, such as `tool_error`; undefined for success. */
  ended(error?: string): void;
}

export interface ObservedExecution {
  id: string;
  trace: TraceContext | undefined;
  door?: string | undefined;
  /** The id of the person for whom it runs. */
  person?: string | undefined;
  startedBy: StartedBy;
  /** The saved program that it runs. */
  program?: string | undefined;
  /** Whether another process has begun it. */
  isContinued: boolean;
}

export interface ExecutionSpan extends Within {
  ended(outcome: Outcome): void;
  /** Another process continues it. */
  released(): void;
}

export interface ObservedCalls {
  trace: TraceContext | undefined;
  /** Undefined outside of programs. */
  execution?: string | undefined;
  /** The id of the person for whom they are made. */
  person?: string | undefined;
  /** Describes the server of a call, as far as it is known at this moment. */
  about(request: CallRequest): CalledServer;
  /** Excerpts of arguments and results without secrets. */
  redacted(texts: { arguments?: string | undefined; result?: string | undefined }): Promise<CallContents>;
}

export interface CallContents {
  arguments?: string | undefined;
  result?: string | undefined;
}

/** The names are bounded in number: unknown ones have a placeholder. */
export interface CalledServer {
  server: string;
  tool: string;
  /** The address of a server on the network. */
  url?: string | undefined;
  protocol?: string | undefined;
}

export interface CallSpans {
  hear: ToolCallListener;
  /** The trace of one call, which its server gets in `_meta`. */
  of(call: number): Within;
}

/** The state of one app. The numbers are of this process. */
export interface WatchedState {
  door: string | undefined;
  executions(): ExecutionStates;
  /** Calls that wait for a person's decision, in all processes. */
  approvals?: (() => Promise<number>) | undefined;
  /** Open connections, and calls that wait for their turn, by server. */
  servers(): Map<string, { isConnected: boolean; queued: number }>;
  /** Tokens that stayed out of agents' contexts since the process started, as the statistics count them. */
  tokensKeptOut?: (() => number) | undefined;
}

/** The state of a process that serves over HTTP. */
export interface WatchedServing {
  /** Open sessions of agents here. */
  sessions(): number;
  /** Open requests here. */
  requests(): number;
  /** Whether balancers should send nothing more. */
  isLeaving(): boolean;
  /** Undefined without a database that replicas share. */
  team: WatchedTeam | undefined;
}

export interface WatchedTeam {
  /** The lease by which the other replicas count this one as alive. Undefined before it has joined them. */
  lease(): { holds: boolean; lapses: number } | undefined;
  /** What all replicas have together. Rejects if the database cannot be written. */
  look(): Promise<TeamState>;
  /** The bytes that saved programs and results may have together. */
  roomBytes(): number;
}

/** Numbers of executions: that compute or wait for calls, that wait for a person or a timer, and that wait for their turn. */
export interface ExecutionStates {
  running: number;
  waiting: number;
  queued: number;
}

/**
 * One request of a host, in the form that code mode and direct mode take. `legacy/legacy-host.ts` makes it from a request of a session, and
 * `modern/client.ts` from a request of revision 2026-07-28. Later code does not ask which era the host speaks.
 */
import type { ClientCapabilities, Notification, Progress, ServerContext } from "@modelcontextprotocol/server";
import type { App } from "../app/app.ts";
import { isObject, type JsonObject } from "../base/json-object.ts";
import { type TraceContext, traceIn } from "../base/trace-context.ts";
import { oneLine } from "../base/visible-text.ts";
import type { FollowedExecution } from "../programs/execution/running-execution.ts";
import type { ObservedRequest } from "../programs/telemetry.ts";
import type { HostIdentity } from "../programs/trace/record.ts";

/** Characters of an agent's name, and of its version. */
const maxAgentNameChars = 100;

export interface HostRequest {
  method: string;
  params: JsonObject;
  /** What the host supports. */
  capabilities: ClientCapabilities | undefined;
  /** The identity that the host gives itself. */
  identity: HostIdentity;
  /** The app whose connections are used. It may be locked. */
  app: App;
  /** The token or the person of `serve --http`, see owner.ts. */
  owner: string | undefined;
  /** Its facts for telemetry. */
  origin: RequestOrigin;
  /** Aborted when the host cancels the request or leaves, and when claudikins ends. */
  signal: AbortSignal;
  /**
   * Tells the host how far the request is. A promise that is returned resolves when that is written. Undefined if the host does not
   * want to know.
   */
  sendProgress: ((progress: Progress) => unknown) | undefined;
  /** Lets servers ask the host during the request: all, or this one alone. Dispose of the result before the request is answered. */
  allowQuestions: (server?: string) => Disposable;
  /** Undefined if the host cannot follow the request as a task. */
  task: FollowedTask | undefined;
  /** Undefined if the host can never ask for the execution of the request later. */
  claimed: ClaimedExecution | undefined;
}

/** The reason of an abort when claudikins ends, and other replicas can continue stored executions. */
export const leftToOthers = new Error("claudikins ends, and another replica continues");

export interface RequestOrigin extends Pick<ObservedRequest, "id" | "session" | "transport"> {
  /** The trace of the host. */
  trace: TraceContext | undefined;
}

/** The execution of a request whose host may come back for it. */
export interface ClaimedExecution {
  /** See `ExecuteRequest`. */
  claim: string;
  /** Called with the execution of the request. */
  onExecution(execution: FollowedExecution): void;
}

/** The task that a request may become. */
export interface FollowedTask {
  /** Called with what the request does now. */
  onStatus(message: string): void;
  /** Ends the request with the task, because the answer takes long. The work goes on. */
  takesLong(): void;
}

/** A request as the handlers of the SDK get it. The metadata of revision 2026-07-28 is in their context instead. */
export interface ReceivedRequest {
  method: string;
  params?: JsonObject | undefined;
}

/** The parts of a request that are the same in every era. `closing` aborts when claudikins ends. */
export function receivedParts(
  { method, params = {} }: ReceivedRequest,
  context: ServerContext,
  closing: AbortSignal,
): Pick<HostRequest, "method" | "params" | "origin" | "signal" | "sendProgress"> {
  const { signal, notify, _meta: meta } = context.mcpReq;
  const token = meta?.progressToken;
  const sendProgress = (progress: Progress) => notify(progressNotice(progress, token!)).catch(() => {});
  return {
    method,
    params,
    origin: originOf(context),
    signal: AbortSignal.any([signal, closing]),
    sendProgress: token === undefined ? undefined : sendProgress,
  };
}

export function originOf({ mcpReq: { id, _meta: meta }, sessionId, http }: ServerContext): RequestOrigin {
  // Only HTTP has sessions with ids, and contexts of requests without one.
  const isHttp = http !== undefined || sessionId !== undefined;
  return { id, session: sessionId, transport: isHttp ? "tcp" : "pipe", trace: traceIn(meta) };
}

export function progressNotice(progress: Progress, progressToken: string | number): Notification {
  return { method: "notifications/progress", params: { ...progress, progressToken } };
}

/** `info` is what the host says about itself. */
export function hostIdentity(info: unknown, protocol: string | undefined): HostIdentity {
  const given = isObject(info) ? info : {};
  const text = (key: string) => (typeof given[key] === "string" ? oneLine(given[key], maxAgentNameChars) : undefined);
  return { name: text("name"), version: text("version"), protocol };
}

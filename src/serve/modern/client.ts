/** One client of revision 2026-07-28: its connections and open requests, and its requests as code mode and direct mode take them. */
import type { ClientCapabilities, Progress, ServerContext } from "@modelcontextprotocol/server";
import type { App } from "../../app/app.ts";
import type { FollowedExecution } from "../../programs/execution/running-execution.ts";
import { type HostRequest, originOf, progressNotice, type ReceivedRequest, receivedParts } from "../host-request.ts";
import { capabilitiesOf, identityOf } from "./envelope.ts";
import type { ModernHost } from "./modern-host.ts";
import type { OpenRequest } from "./open-request.ts";
import type { ParkedRequests, TaskRules } from "./parked-requests.ts";
import { type Tasks, takesTasks } from "./tasks.ts";

export interface Connections {
  /** The app whose pool has the connections. */
  app: App;
  /** Answers what the servers of these connections ask. */
  host: ModernHost;
}

/** One program that sends requests, as far as programs can be distinguished. */
export interface ModernClient {
  /** Its token or person, see owner.ts. */
  readonly owner?: string | undefined;
  parked: ParkedRequests;
  tasks: Tasks;
  /** The connections for a request of a host with these capabilities. */
  connections(capabilities: ClientCapabilities): Connections;
}

/** Undefined if the host does not know tasks. */
export function taskRules(
  { tasks }: ModernClient,
  context: ServerContext,
  rules: Omit<TaskRules, "tasks">,
): TaskRules | undefined {
  return takesTasks(capabilitiesOf(context)) ? { tasks, ...rules } : undefined;
}

/** A request that takes one round: no server may ask the host. */
export function plainRequest(
  { app, owner }: { app: App; owner: string | undefined },
  received: ReceivedRequest,
  context: ServerContext,
  closing: AbortSignal,
): HostRequest {
  return {
    ...receivedParts(received, context, closing),
    capabilities: capabilitiesOf(context),
    identity: identityOf(context),
    app,
    owner,
    allowQuestions: () => ({ [Symbol.dispose]: () => {} }),
    task: undefined,
    claimed: undefined,
  };
}

/** A request that may take several rounds. With `rules`, it may become a task. */
export function openRequest(client: ModernClient, open: OpenRequest, rules: TaskRules | undefined): HostRequest {
  const { app, host } = client.connections(open.capabilities);
  // Each round has a token of its own.
  const sendProgress = (progress: Progress) =>
    open.progressToken === undefined ? undefined : open.notify(progressNotice(progress, open.progressToken));
  return {
    method: open.received.method,
    params: open.received.params ?? {},
    origin: originOf(open.firstContext),
    capabilities: open.capabilities,
    identity: identityOf(open.firstContext),
    app,
    owner: client.owner,
    signal: open.signal,
    sendProgress: open.progressToken === undefined ? undefined : sendProgress,
    allowQuestions: (server) => host.begin(open, server),
    task: rules && followedTask(open),
    claimed: rules || client.parked.areShared ? claimedExecution(client, open) : undefined,
  };
}

function claimedExecution({ tasks }: ModernClient, open: OpenRequest): HostRequest["claimed"] {
  return {
    claim: tasks.claimOf(open.secret),
    onExecution: (execution: FollowedExecution) => {
      open.execution = execution;
    },
  };
}

function followedTask(open: OpenRequest): HostRequest["task"] {
  return {
    onStatus: (message: string) => {
      open.statusMessage = message;
    },
    takesLong: () => open.takesLong(),
  };
}

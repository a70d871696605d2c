/**
 * The agent of one session of the revisions up to 2025-11-25: its requests as both modes take them, and how servers ask it.
 * A question goes to the agent on the stream of the request that it belongs to.
 */
import {
  CreateMessageResultSchema,
  CreateMessageResultWithToolsSchema,
  ListRootsResultSchema,
} from "@modelcontextprotocol/core";
import type { RequestId, RequestOptions, Server, ServerContext } from "@modelcontextprotocol/server";
import type { App } from "../../app/app.ts";
import { maxTimerMs } from "../../base/time-limit.ts";
import { type FormAnswer, formAnswerSchema } from "../../servers/connection/elicitation-form.ts";
import type { QuestionContext, Responder } from "../../servers/connection/responder.ts";
import { type HostRequest, hostIdentity, type ReceivedRequest, receivedParts } from "../host-request.ts";

/** The caller limits the time. */
const timeout = maxTimerMs;

/** Makes requests of a session's agent over the connections of `app`. */
export function sessionRequests(server: Server, app: App, closing: AbortSignal, owner: string | undefined) {
  const open = openRequestsOf(server);
  return (received: ReceivedRequest, context: ServerContext): HostRequest => ({
    ...receivedParts(received, context, closing),
    capabilities: server.getClientCapabilities(),
    identity: hostIdentity(server.getClientVersion(), server.getNegotiatedProtocolVersion()),
    app,
    owner,
    allowQuestions: (name) => open.begin(context.mcpReq.id, name),
    task: undefined,
    claimed: undefined,
  });
}

/** The sender of an answer. */
export interface Sender {
  /** Whether the sender may approve calls at this moment. Missing: yes. */
  mayApprove?: (() => Promise<boolean>) | undefined;
}

const senders = new WeakMap<object, Sender>();

/** Remembers whose answer it is. */
export function noteSender(answer: unknown, sender: Sender | undefined): void {
  if (sender && typeof answer === "object" && answer !== null) senders.set(answer, sender);
}

/** Whether the sender of the answer, or without an answer `current`, may approve calls at this moment. */
export async function mayApprove(answer: object | undefined, current: Sender | undefined): Promise<boolean> {
  const sender = answer ? senders.get(answer) : current;
  return (await sender?.mayApprove?.()) ?? true;
}

/** `sender` returns whose message came last. */
export function hostOf(server: Server, sender: () => Sender | undefined = () => undefined): Responder {
  // Agents built with the SDK do not notice that a request with the id 0 is cancelled, so a ping takes this id.
  let pinged = false;
  /** Over HTTP, sends it on the stream of an open request of the agent: not every agent listens to another stream. */
  const optionsOf = ({ server: name, signal }: QuestionContext): RequestOptions => {
    const relatedRequestId = openRequestsOf(server).latestOf(name);
    return { signal, timeout, ...(relatedRequestId === undefined ? {} : { relatedRequestId }) };
  };
  const ready = () => {
    if (!pinged) void server.ping().catch(() => {});
    pinged = true;
  };
  return {
    get capabilities() {
      return server.getClientCapabilities() ?? {};
    },
    sample(params, asked) {
      ready();
      const schema = params.tools || params.toolChoice ? CreateMessageResultWithToolsSchema : CreateMessageResultSchema;
      return server.request({ method: "sampling/createMessage", params }, schema, optionsOf(asked));
    },
    async elicit(params, asked) {
      ready();
      const request = { method: "elicitation/create" as const, params };
      const answer = await server.request(request, formAnswerSchema, optionsOf(asked));
      noteSender(answer, sender());
      return answer as FormAnswer;
    },
    mayApprove: (answer) => mayApprove(answer, sender()),
    listRoots(asked) {
      ready();
      return server.request({ method: "roots/list" }, ListRootsResultSchema, optionsOf(asked));
    },
    elicited(elicitationId) {
      void server
        .notification({ method: "notifications/elicitation/complete", params: { elicitationId } })
        .catch(() => {});
    },
  };
}

/** The requests of one agent during which servers may ask it. */
export class OpenRequests<Key = RequestId> {
  /** The server that each request is for; undefined if it may be any. */
  readonly #open = new Map<Key, string | undefined>();
  #next = Promise.withResolvers<void>();

  /** Dispose of the result before the request is answered. */
  begin(request: Key, server?: string): Disposable {
    this.#open.set(request, server);
    this.#next.resolve();
    this.#next = Promise.withResolvers();
    return { [Symbol.dispose]: () => void this.#open.delete(request) };
  }

  /** Resolves when another request begins. */
  get next(): Promise<void> {
    return this.#next.promise;
  }

  isOnlyFor(request: Key, server: string): boolean {
    return this.#open.get(request) === server;
  }

  /** The last open request that may be for the server. */
  latestOf(server: string): Key | undefined {
    return this.openFor(server)[0];
  }

  /** The open requests that may be for the server: the certain ones, and the last ones, first. */
  openFor(server: string): Key[] {
    const open = [...this.#open].reverse();
    const of = (wanted: string | undefined) => open.filter(([, each]) => each === wanted).map(([request]) => request);
    return [...of(server), ...of(undefined)];
  }
}

const all = new WeakMap<Server, OpenRequests>();

/** The open requests of one session. */
export function openRequestsOf(server: Server): OpenRequests {
  const requests = all.get(server) ?? new OpenRequests();
  all.set(server, requests);
  return requests;
}

/** Passes what servers ask to the agent that `serve` is connected to, on the stream of the request that the question belongs to. */
import {
  CreateMessageResultSchema,
  CreateMessageResultWithToolsSchema,
  ElicitResultSchema,
  ListRootsResultSchema,
} from "@modelcontextprotocol/core";
import type { RequestId, RequestOptions, Server } from "@modelcontextprotocol/server";
import { maxTimerMs } from "../base/time-limit.ts";
import type { QuestionContext, Responder } from "../servers/responder.ts";

/** The caller limits the time. */
const timeout = maxTimerMs;

export function hostOf(server: Server): Responder {
  // Agents built with the SDK do not notice that a request with the id 0 is cancelled, so a ping takes this id.
  let pinged = false;
  /** Over HTTP, sends it on the stream of an open request of the agent: not every agent listens to another stream. */
  const optionsOf = ({ server: name, signal }: QuestionContext): RequestOptions => {
    const relatedRequestId = hostRequestsOf(server).latestOf(name);
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
    elicit(params, asked) {
      ready();
      return server.request({ method: "elicitation/create", params }, ElicitResultSchema, optionsOf(asked));
    },
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

/** The open requests of one agent. */
export class HostRequests<Key = RequestId> {
  /** The server that each request is for; undefined if it may be any. */
  readonly #open = new Map<Key, string | undefined>();

  /** Dispose of the result before the request is answered. */
  begin(request: Key, server?: string): Disposable {
    this.#open.set(request, server);
    return { [Symbol.dispose]: () => void this.#open.delete(request) };
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

const all = new WeakMap<Server, HostRequests>();

/** The open requests of one session. */
export function hostRequestsOf(server: Server): HostRequests {
  const requests = all.get(server) ?? new HostRequests();
  all.set(server, requests);
  return requests;
}

/** Passes what servers ask to the agent that `serve` is connected to. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  CreateMessageResultSchema,
  CreateMessageResultWithToolsSchema,
  ElicitResultSchema,
  ListRootsResultSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { Asked, Responder } from "../clients/responder.ts";
import { maxTimerMs } from "../time-limit.ts";
import { hostRequestsOf } from "./host-requests.ts";

/** The caller limits the time. */
const timeout = maxTimerMs;

export function hostOf(server: Server): Responder {
  // Agents built with the SDK do not notice that a request with the id 0 is cancelled, so a ping takes this id.
  let pinged = false;
  /** Over HTTP, sends it on the stream of an open request of the agent: not every agent listens to another stream. */
  const optionsOf = ({ server: name, signal }: Asked): RequestOptions => {
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

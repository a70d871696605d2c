/** The host of `serve` as the servers' host: what they ask is asked of it, in the same words. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CreateMessageResultSchema,
  CreateMessageResultWithToolsSchema,
  ElicitResultSchema,
  ListRootsResultSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { Host } from "../clients/host.ts";
import { maxTimerMs } from "../time-limit.ts";

/** How long it may take is up to who asks. */
const timeout = maxTimerMs;

export function hostOf(server: Server): Host {
  // Hosts that are made with the SDK do not notice that a request with the id 0 is cancelled; hence it is one that needs no answer.
  let pinged = false;
  const ready = () => {
    if (!pinged) void server.ping().catch(() => {});
    pinged = true;
  };
  return {
    get capabilities() {
      return server.getClientCapabilities() ?? {};
    },
    sample(params, { signal }) {
      ready();
      const schema = params.tools || params.toolChoice ? CreateMessageResultWithToolsSchema : CreateMessageResultSchema;
      return server.request({ method: "sampling/createMessage", params }, schema, { signal, timeout });
    },
    elicit(params, { signal }) {
      ready();
      return server.request({ method: "elicitation/create", params }, ElicitResultSchema, { signal, timeout });
    },
    listRoots({ signal }) {
      ready();
      return server.request({ method: "roots/list" }, ListRootsResultSchema, { signal, timeout });
    },
    elicited(elicitationId) {
      void server
        .notification({ method: "notifications/elicitation/complete", params: { elicitationId } })
        .catch(() => {});
    },
  };
}

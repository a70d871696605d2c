/** Requests of a pool that are not calls of tools. What they return has the labels of all of the server. */
import { ClaudikinsError } from "../base/errors.ts";
import type { JsonObject } from "../base/json-object.ts";
import type { CallOptions } from "./call-options.ts";
import type { CallPolicy } from "./call-policy.ts";
import type { ServerCapability } from "./connect.ts";
import { noteReads } from "./noted-reads.ts";
import type { Request } from "./request.ts";
import type { ServerConnections } from "./server-connections.ts";

export class OtherRequests {
  readonly #connections: ServerConnections;
  readonly #policy: CallPolicy;

  constructor(connections: ServerConnections, policy: CallPolicy) {
    this.#connections = connections;
    this.#policy = policy;
  }

  /** Makes any request that is not a call. Throws POLICY_DENIED. */
  any(server: string, request: Request, options: CallOptions): Promise<JsonObject> {
    this.#policy.gate.refuseRequest(server, request);
    const what = `${request.method} of ${server}`;
    return this.#noted(server, options, () => this.#connections.use(server, what, options, (send) => send(request)));
  }

  /** Makes a request for what a server announces. Throws POLICY_DENIED, and PROTOCOL_ERROR if the server has not announced it. */
  offered(
    server: string,
    offer: ServerCapability,
    request: Request,
    what: string,
    options: CallOptions,
  ): Promise<JsonObject> {
    this.#policy.gate.permitOther(server, offer);
    const use = () =>
      this.#connections.use(server, what, options, async (send, connection) => {
        if (connection.offers(offer)) return send(request);
        throw new ClaudikinsError("PROTOCOL_ERROR", `Server "${server}" has no ${offer}`, {
          hint: `Use its tools instead: it announced no ${offer}.`,
        });
      });
    return this.#noted(server, options, use);
  }

  async #noted<T extends JsonObject>(server: string, options: CallOptions, make: () => Promise<T>): Promise<T> {
    const { caller = this.#policy.ownCaller } = options;
    const preparing = this.#policy.prepared(server, caller);
    if (preparing) await preparing;
    const labels = this.#policy.labels.ofAll(server);
    return labels.size === 0 ? make() : noteReads(make(), { labels, source: server, caller });
  }
}

/** The open requests of agents. A question of a server goes to the agent on the stream of the request that it belongs to. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestId } from "@modelcontextprotocol/sdk/types.js";

export class HostRequests {
  /** The server that each request is for; undefined if it may be any. */
  readonly #open = new Map<RequestId, string | undefined>();

  /** Dispose of the result before the request is answered. */
  begin(id: RequestId, server?: string): Disposable {
    this.#open.set(id, server);
    return { [Symbol.dispose]: () => void this.#open.delete(id) };
  }

  /** The last open request that may be for the server. */
  latestOf(server: string): RequestId | undefined {
    const open = [...this.#open].reverse();
    const [id] = open.find(([, each]) => each === server) ?? open.find(([, each]) => each === undefined) ?? [];
    return id;
  }
}

const all = new WeakMap<Server, HostRequests>();

/** The open requests of one session. */
export function hostRequestsOf(server: Server): HostRequests {
  const requests = all.get(server) ?? new HostRequests();
  all.set(server, requests);
  return requests;
}

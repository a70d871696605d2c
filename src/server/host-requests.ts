/** Requests of a host that are under way: what a server asks or says meanwhile goes to the host beside the answer it is for. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestId } from "@modelcontextprotocol/sdk/types.js";

export class HostRequests {
  /** The server that each is for; undefined where it may be any. */
  readonly #open = new Map<RequestId, string | undefined>();

  /** To be disposed of before it is answered. */
  begin(id: RequestId, server?: string): Disposable {
    this.#open.set(id, server);
    return { [Symbol.dispose]: () => void this.#open.delete(id) };
  }

  /** The last one that may be for the server. */
  latestOf(server: string): RequestId | undefined {
    const open = [...this.#open].reverse();
    const [id] = open.find(([, each]) => each === server) ?? open.find(([, each]) => each === undefined) ?? [];
    return id;
  }
}

const all = new WeakMap<Server, HostRequests>();

/** Those of one session. */
export function hostRequestsOf(server: Server): HostRequests {
  const requests = all.get(server) ?? new HostRequests();
  all.set(server, requests);
  return requests;
}

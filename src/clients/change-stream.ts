/** Changes that a server of the revision 2026-07-28 announces. They come only while the client listens (`subscriptions/listen`). */
import type { McpSubscription, SubscriptionFilter } from "@modelcontextprotocol/client";
import { messageOf } from "../errors.ts";
import type { Listed, Notice } from "./notices.ts";
import type { Send } from "./request.ts";
import type { ServerClient } from "./server-client.ts";

/** Delays before listening again after a stream has ended. The last one repeats. */
const retryMs = [100, 1_000, 10_000, 60_000];

/** Delay before subscribing again to a resource. */
const resubscribeMs = 1_000;

/** Maximum time for the server to accept a subscription. */
const acceptMs = 10_000;

export class ChangeStream {
  readonly #client: ServerClient;
  readonly #onNotice: (notice: Notice) => void;
  readonly #debug: (message: string) => void;
  readonly #resources = new Map<string, Promise<McpSubscription>>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(client: ServerClient, onNotice: (notice: Notice) => void, debug: (message: string) => void) {
    this.#client = client;
    this.#onNotice = onNotice;
    this.#debug = debug;
  }

  /** Listens to changes of the lists that the server says may change, as long as the connection is open. */
  start(): void {
    const lists = changingLists(this.#client);
    if (lists.length > 0) void this.#listen(lists);
  }

  /** Resolves when the server has accepted the subscription. Rejects if it refuses. */
  async subscribe(uri: string): Promise<void> {
    const before = this.#resources.get(uri);
    if (before) return void (await before);
    const asked = this.#client.listen({ resourceSubscriptions: [uri] }, { timeout: acceptMs });
    this.#resources.set(uri, asked);
    try {
      const { honoredFilter, closed } = await asked;
      if (!honoredFilter.resourceSubscriptions?.includes(uri)) throw new Error("the server did not accept it");
      void closed.then((cause) => this.#ended(uri, cause));
    } catch (error) {
      this.#resources.delete(uri);
      throw error;
    }
  }

  async unsubscribe(uri: string): Promise<void> {
    const asked = this.#resources.get(uri);
    this.#resources.delete(uri);
    await (await asked)?.close();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Subscribes again to a resource, which may have changed meanwhile. */
  #ended(uri: string, cause: "local" | "graceful" | "remote"): void {
    if (this.#isClosed || cause === "local" || !this.#resources.delete(uri)) return;
    const again = async () => {
      if (this.#isClosed) return;
      await this.subscribe(uri);
      this.#onNotice({ uri });
    };
    setTimeout(() => again().catch((error) => this.#debug(`${uri}: ${messageOf(error)}`)), resubscribeMs).unref();
  }

  async #listen(lists: readonly Listed[], attempt = 0): Promise<void> {
    let next = attempt + 1;
    try {
      const { closed } = await this.#client.listen(filterOf(lists), { timeout: acceptMs });
      // Changes may have been missed.
      if (attempt > 0) for (const what of lists) this.#onNotice({ what });
      await closed;
      next = 1;
    } catch (error) {
      this.#debug(`subscriptions/listen: ${messageOf(error)}`);
    }
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#listen(lists, next), retryMs[Math.min(next, retryMs.length) - 1]);
    this.#timer.unref();
  }
}

function changingLists(client: ServerClient): Listed[] {
  const capabilities = client.getServerCapabilities() ?? {};
  return (["tools", "resources", "prompts"] as const).filter((what) => capabilities[what]?.listChanged);
}

function filterOf(lists: readonly Listed[]): SubscriptionFilter {
  return {
    ...(lists.includes("tools") ? { toolsListChanged: true } : {}),
    ...(lists.includes("resources") ? { resourcesListChanged: true } : {}),
    ...(lists.includes("prompts") ? { promptsListChanged: true } : {}),
  };
}

/** Requests that the newer era has no longer, by what it has instead. */
export function withOlderRequests(send: Send, client: ServerClient, changes: ChangeStream): Send {
  return async (request, options) => {
    const { method, params } = request;
    if (method === "resources/subscribe") await changes.subscribe(String(params["uri"]));
    else if (method === "resources/unsubscribe") await changes.unsubscribe(String(params["uri"]));
    else if (method === "logging/setLevel") client.logLevel = String(params["level"]);
    else if (method !== "ping") return send(request, options);
    return {};
  };
}

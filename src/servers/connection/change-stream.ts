/** Changes that a server of the revision 2026-07-28 announces. They come only while the client listens (`subscriptions/listen`). */
import { setTimeout as sleep } from "node:timers/promises";
import type { McpSubscription, SubscriptionFilter } from "@modelcontextprotocol/client";
import { messageOf } from "../../base/errors.ts";
import type { ListName, Notice } from "./notices.ts";
import type { Send } from "./send-request.ts";
import type { ServerClient } from "./server-client.ts";

/** Delays before listening again after a stream has ended. The last one repeats. */
const retryMs = [100, 1_000, 10_000, 60_000];

/** Time for the server to accept a subscription to its changes. */
const subscriptionMs = 10_000;

interface Subscribed {
  accepted: Promise<void>;
  end: AbortController;
}

export class ChangeStream {
  readonly #client: ServerClient;
  readonly #onNotice: (notice: Notice) => void;
  readonly #debug: (message: string) => void;
  readonly #resources = new Map<string, Subscribed>();
  readonly #closing = new AbortController();

  constructor(client: ServerClient, onNotice: (notice: Notice) => void, debug: (message: string) => void) {
    this.#client = client;
    this.#onNotice = onNotice;
    this.#debug = debug;
  }

  /** Listens to changes of the lists that the server says may change, as long as the connection is open. */
  start(): void {
    const lists = changingLists(this.#client);
    if (lists.length === 0) return;
    const onMissed = () => {
      for (const what of lists) this.#onNotice({ what });
    };
    void this.#keep(filterOf(lists), onMissed, this.#closing.signal).catch(() => {});
  }

  /** Resolves when the server has accepted the subscription. Rejects if it refuses. */
  async subscribe(uri: string): Promise<void> {
    const known = this.#resources.get(uri);
    if (known) return known.accepted;
    const end = new AbortController();
    const signal = AbortSignal.any([end.signal, this.#closing.signal]);
    const accepted = this.#keep({ resourceSubscriptions: [uri] }, () => this.#onNotice({ uri }), signal);
    const subscribed = { accepted, end };
    this.#resources.set(uri, subscribed);
    try {
      await accepted;
    } catch (error) {
      end.abort();
      if (this.#resources.get(uri) === subscribed) this.#resources.delete(uri);
      throw error;
    }
  }

  unsubscribe(uri: string): void {
    this.#resources.get(uri)?.end.abort();
    this.#resources.delete(uri);
  }

  close(): void {
    this.#closing.abort();
  }

  /**
   * Listens until `signal` is aborted. Whenever the stream has ended, it is opened again, and `onMissed` is called: changes may have been
   * missed. Resolves when the server has accepted the first stream, and rejects if it refuses.
   */
  #keep(filter: SubscriptionFilter, onMissed: () => void, signal: AbortSignal): Promise<void> {
    const first = this.#listen(filter, signal);
    const again = async () => {
      const stream = await this.#listen(filter, signal);
      onMissed();
      return stream;
    };
    void this.#reopen(first, again, signal);
    return first.then(() => {});
  }

  async #reopen(first: Promise<McpSubscription>, again: () => Promise<McpSubscription>, signal: AbortSignal) {
    let stream = first;
    // A stream that lasted longer than the delay before it does not make the next delay longer.
    for (let delay = 0, ends = -1; ; ) {
      const lastedMs = await this.#lasted(stream);
      ends = lastedMs > delay ? 0 : ends + 1;
      delay = retryMs[Math.min(ends, retryMs.length - 1)]!;
      await sleep(delay, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      stream = again();
    }
  }

  /** How long the stream was open, in milliseconds, once it has ended. Never rejects. */
  async #lasted(stream: Promise<McpSubscription>): Promise<number> {
    try {
      const { closed } = await stream;
      const since = performance.now();
      await closed;
      return performance.now() - since;
    } catch (error) {
      this.#debug(`subscriptions/listen: ${messageOf(error)}`);
      return 0;
    }
  }

  async #listen(filter: SubscriptionFilter, signal: AbortSignal): Promise<McpSubscription> {
    const stream = await this.#client.listen(filter, { timeout: subscriptionMs, signal });
    const [uri] = filter.resourceSubscriptions ?? [];
    if (uri === undefined || stream.honoredFilter.resourceSubscriptions?.includes(uri)) return stream;
    void stream.close();
    throw new Error("the server did not accept it");
  }
}

function changingLists(client: ServerClient): ListName[] {
  const capabilities = client.getServerCapabilities() ?? {};
  return (["tools", "resources", "prompts"] as const).filter((what) => capabilities[what]?.listChanged);
}

function filterOf(lists: readonly ListName[]): SubscriptionFilter {
  return {
    ...(lists.includes("tools") ? { toolsListChanged: true } : {}),
    ...(lists.includes("resources") ? { resourcesListChanged: true } : {}),
    ...(lists.includes("prompts") ? { promptsListChanged: true } : {}),
  };
}

/** Requests that the newer era has no longer, by what it has instead. */
export function withOlderRequests(send: Send, client: ServerClient, changes: ChangeStream): Send {
  return async (request, what, call) => {
    const { method, params } = request;
    if (method === "resources/subscribe") await changes.subscribe(String(params["uri"]));
    else if (method === "resources/unsubscribe") changes.unsubscribe(String(params["uri"]));
    else if (method === "logging/setLevel") client.logLevel = String(params["level"]);
    else if (method !== "ping") return send(request, what, call);
    return {};
  };
}

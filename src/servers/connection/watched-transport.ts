/** A transport whose messages can be watched, and dropped. */
import type {
  JSONRPCMessage,
  MessageExtraInfo,
  RequestId,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/client";
import type { Log } from "../../base/log.ts";

/** Sees every message before the client does. Must not throw. */
export interface Watcher {
  /** The transport is starting. `starting` resolves when it has started. */
  started?(starting: Promise<void>): void;
  sent?(message: JSONRPCMessage): void;
  /** A message was sent, or could not be. */
  written?(message: JSONRPCMessage): void;
  /** Returns false to hold the message back from later watchers and the client. */
  received?(message: JSONRPCMessage): unknown;
  failed?(error: Error): void;
  closed?(): void;
}

export class WatchedTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: (<T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void) | undefined;
  #starting: Promise<void> | undefined;
  #isLent = false;
  readonly #inner: Transport;
  readonly #watchers: readonly Watcher[];
  readonly #writers: readonly Watcher[];

  constructor(inner: Transport, ...watchers: Watcher[]) {
    this.#inner = inner;
    this.#watchers = watchers;
    this.#writers = watchers.filter(({ written }) => written);
  }

  /** The second client of a connection finds it started. */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  /** Lends the connection to a client that closes it if it fails: it stays open, and another client can use it. */
  async lend<T>(use: () => Promise<T>): Promise<T> {
    this.#isLent = true;
    try {
      return await use();
    } catch (error) {
      this.onclose = this.onerror = this.onmessage = undefined;
      throw error;
    } finally {
      this.#isLent = false;
    }
  }

  #start(): Promise<void> {
    this.#inner.onclose = () => {
      for (const watcher of this.#watchers) watcher.closed?.();
      this.onclose?.();
    };
    this.#inner.onerror = (error) => {
      for (const watcher of this.#watchers) watcher.failed?.(error);
      this.onerror?.(error);
    };
    this.#inner.onmessage = (message, extra) => {
      if (this.#watchers.every((watcher) => watcher.received?.(message) !== false)) this.onmessage?.(message, extra);
    };
    const starting = this.#inner.start();
    for (const watcher of this.#watchers) watcher.started?.(starting);
    return starting;
  }

  /** Not async, because each async function on the path of a call adds to its time. */
  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    for (const watcher of this.#watchers) watcher.sent?.(message);
    const sending = this.#inner.send(message, options);
    if (this.#writers.length === 0) return sending;
    return sending.finally(() => this.#writers.map((watcher) => watcher.written?.(message)));
  }

  async close(): Promise<void> {
    if (!this.#isLent) await this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  get hasPerRequestStream(): boolean {
    return this.#inner.hasPerRequestStream === true;
  }
}

/** The SDK recognises the transport of a process by these properties. A process that does not answer is of the older era. */
export class WatchedProcess extends WatchedTransport {
  readonly pid = undefined;
  readonly stderr = undefined;
}

/** Drops answers that no request waits for: the SDK would write each of them, however large, into an error message. */
export function withoutLateAnswers(server: string, log: Log): Watcher {
  const awaited = new Set<RequestId>();
  return {
    sent(message) {
      if (!("method" in message)) return;
      if ("id" in message) awaited.add(keyOf(message.id));
      else if (message.method === "notifications/cancelled")
        awaited.delete(keyOf(message.params?.["requestId"] as RequestId));
    },
    received(message) {
      if ("method" in message) return true;
      // An error about an unreadable message has no id.
      const { id } = message as { id?: RequestId | null };
      if (id === undefined || id === null || awaited.delete(keyOf(id))) return true;
      log.debug(`${server}: answered request ${id} after the caller stopped waiting`);
      return false;
    },
  };
}

/** Some servers answer with a string instead of the number. Ids of the SDK that are not numbers are words. */
const keyOf = (id: RequestId) => (Number.isNaN(Number(id)) ? id : Number(id));

/** A transport whose messages can be watched, and held back. */
import type { Transport, TransportSendOptions } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage, MessageExtraInfo, RequestId } from "@modelcontextprotocol/sdk/types.js";
import type { Log } from "../log.ts";

/** Sees every message before the client does. Must not throw. */
export interface Watcher {
  /** The transport is starting. `starting` resolves when it has started. */
  started?(starting: Promise<void>): void;
  sent(message: JSONRPCMessage): void;
  /** A message was sent, or could not be. */
  written?(message: JSONRPCMessage): void;
  received(message: JSONRPCMessage): void;
  /** Whether the client gets the message. */
  passes?(message: JSONRPCMessage): boolean;
  failed?(error: Error): void;
  closed?(): void;
}

export class WatchedTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void;
  readonly #inner: Transport;
  readonly #watcher: Watcher;

  constructor(inner: Transport, watcher: Watcher) {
    this.#inner = inner;
    this.#watcher = watcher;
  }

  start(): Promise<void> {
    this.#inner.onclose = () => {
      this.#watcher.closed?.();
      this.onclose?.();
    };
    this.#inner.onerror = (error) => {
      this.#watcher.failed?.(error);
      this.onerror?.(error);
    };
    this.#inner.onmessage = (message, extra) => {
      this.#watcher.received(message);
      if (this.#watcher.passes?.(message) !== false) this.onmessage?.(message, extra);
    };
    const starting = this.#inner.start();
    this.#watcher.started?.(starting);
    return starting;
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.#watcher.sent(message);
    const sending = this.#inner.send(message, options);
    const { written } = this.#watcher;
    return written ? sending.finally(() => written.call(this.#watcher, message)) : sending;
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }
}

/** Drops answers that nobody waits for: the SDK would write each of them, however large, into an error message. */
export function withoutLateAnswers(server: string, log: Log): Watcher {
  const awaited = new Set<number>();
  return {
    sent(message) {
      if (!("method" in message)) return;
      if ("id" in message) awaited.add(Number(message.id));
      else if (message.method === "notifications/cancelled") awaited.delete(Number(message.params?.["requestId"]));
    },
    received() {},
    passes(message) {
      if ("method" in message) return true;
      // An error about an unreadable message has no id.
      const { id } = message as { id?: RequestId | null };
      if (id === undefined || id === null || awaited.delete(Number(id))) return true;
      log.debug(`${server}: answered request ${id} after the caller stopped waiting`);
      return false;
    },
  };
}

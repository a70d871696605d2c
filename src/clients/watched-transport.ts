/** A transport as it is, and somebody who sees what goes by. */
import type { Transport, TransportSendOptions } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage, MessageExtraInfo } from "@modelcontextprotocol/sdk/types.js";

/** Told of everything before anybody else; it throws nothing. */
export interface Watcher {
  /** It was asked to start; `starting` says what came of it. */
  started?(starting: Promise<void>): void;
  sent(message: JSONRPCMessage): void;
  /** Its sending is over, whether it succeeded or not. */
  written?(message: JSONRPCMessage): void;
  received(message: JSONRPCMessage): void;
  /** A message for which this is false goes no further. */
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

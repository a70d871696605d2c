/**
 * Delays calls until the server has got answers to its requests after its start, or after the roots have changed. An
 * earlier call could use other roots than the agent's: folders that the user has not opened to it.
 */

import { type JSONRPCMessage, ProtocolError, type RequestId } from "@modelcontextprotocol/client";
import { durationText } from "../../base/duration.ts";
import type { Watcher } from "./watched-transport.ts";

/** Delay of calls until a server has processed what it asked for, whatever it requests. */
const maxReadinessMs = 10_000;

/** Time for an answer to a ping, which MCP requires. */
const readinessPingMs = 3_000;

/** Time for a server to process an answer. No message says that it has: server-filesystem first looks at each root on the disk. */
const readinessDigestMs = 200;

/** Answered pings that it gets at least besides this time. They take longer on a busy machine. */
const readinessDigestPings = 5;

/** Pause between two of these pings. */
const readinessPauseMs = 20;

export interface ReadinessOptions {
  /** Rejects with ProtocolError if the answer is an error. Ends at the latest after `timeoutMs`. */
  ping: (timeoutMs: number) => Promise<unknown>;
  /** Whether a call is running: then the server's requests belong to it. */
  isCalled: () => boolean;
  warn: (message: string) => void;
}

export class Readiness implements Watcher {
  readonly #options: ReadinessOptions;
  /** The server's open requests. */
  readonly #open = new Set<RequestId>();
  #hasAsked = false;
  #isStarting = true;
  #isClosed = false;
  #current: Promise<void> | undefined;
  /** Called when nothing may be left to wait for. */
  #wake = () => {};

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  /** Resolves when calls may be sent. Undefined if they may be sent now. Never rejects. */
  get current(): Promise<void> | undefined {
    return this.#current;
  }

  /**
   * Call this after the server got `initialized` or `roots/list_changed`. A server answers a ping after it has sent its own
   * requests. Calls are sent once it has answered `pings` of them without a request. Never rejects.
   */
  begin(pings: number): Promise<void> {
    const current = Promise.resolve(this.#current)
      .then(() => this.#settle(pings))
      .finally(() => {
        this.#isStarting = false;
        if (this.#current === current) this.#current = undefined;
      });
    this.#current = current;
    return current;
  }

  received(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    const { method, params } = message;
    if (method === "notifications/cancelled") this.#end(params?.["requestId"] as RequestId);
    if (!("id" in message) || method === "ping") return;
    const isOfStart = this.#isStarting || (method === "roots/list" && (this.#current || !this.#options.isCalled()));
    if (!isOfStart) return;
    this.#open.add(message.id);
    this.#hasAsked = true;
    // Some servers send their requests a little later: server-everything after 350 ms.
    if (!this.#isStarting && !this.#current) void this.begin(0);
  }

  /** An answer counts once it is sent: later messages come after it. */
  written(message: JSONRPCMessage): void {
    if (!("method" in message) && message.id !== undefined) this.#end(message.id);
  }

  closed(): void {
    this.#isClosed = true;
    this.#wake();
  }

  #end(id: RequestId): void {
    if (this.#open.delete(id) && this.#open.size === 0) this.#wake();
  }

  async #settle(pings: number): Promise<void> {
    const deadline = performance.now() + maxReadinessMs;
    for (let left = pings; left > 0 && !this.#hasAsked; left--) if (!(await this.#ping(deadline))) return;
    while (this.#hasAsked && !this.#isClosed) {
      this.#hasAsked = false;
      await this.#allAnswered(deadline);
      if (this.#open.size > 0 && !this.#isClosed) {
        this.#open.clear();
        this.#options.warn(
          `its request was not answered within ${durationText(maxReadinessMs)}; calls continue without an answer`,
        );
        return;
      }
      await this.#digest(deadline);
      if (performance.now() >= deadline) return;
    }
  }

  async #allAnswered(deadline: number): Promise<void> {
    if (this.#open.size === 0 || this.#isClosed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, deadline - performance.now());
    await promise;
    clearTimeout(timer);
  }

  /** Ends early if the server sends another request. */
  async #digest(deadline: number): Promise<void> {
    const until = performance.now() + readinessDigestMs;
    for (let pings = 0; pings < readinessDigestPings || performance.now() < until; pings++) {
      await Bun.sleep(readinessPauseMs);
      if (this.#hasAsked || !(await this.#ping(deadline))) return;
    }
  }

  /** False if there is no answer. An error is an answer. */
  async #ping(deadline: number): Promise<boolean> {
    const restMs = Math.min(deadline - performance.now(), readinessPingMs);
    if (this.#isClosed || restMs <= 0) return false;
    try {
      await this.#options.ping(restMs);
      return true;
    } catch (error) {
      return error instanceof ProtocolError && !this.#isClosed;
    }
  }
}

/** Tells all processes about changes that others wait for: approvals, executions, people. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Connections } from "./connections.ts";
import { type Channel, tellOnCommit } from "./querying.ts";

/** How soon others are told of frequent changes. */
const changeToldMs = 100;

/** How soon a lost connection of listeners is replaced at first. The pause grows to `changeLookMs` while the database is away. */
const listenAgainMs = 100;

/** How often listeners are told without a change, in case that a message was lost. */
const changeLookMs = 15_000;

/** `message` is what was told. It is empty if anything may have changed. */
type Listener = (message: string) => void;

export class Changes {
  readonly #connections: Connections;
  readonly #channel: Channel;
  readonly #listeners = new Set<Listener>();
  #listening: Listening | undefined;
  #telling: Promise<void> | undefined;

  constructor(connections: Connections, channel: Channel = "claudikins") {
    this.#connections = connections;
    this.#channel = channel;
  }

  /** Tells of changes that are committed already, once for all changes of a moment. */
  tellSoon(): void {
    this.#telling ??= this.#tell();
  }

  async #tell(): Promise<void> {
    await Bun.sleep(changeToldMs);
    this.#telling = undefined;
    // Listeners look from time to time anyway.
    await this.#connections.each((querying) => tellOnCommit(querying, this.#channel)).catch(() => {});
  }

  /** Calls the listener after changes, after the connection was lost, and now and then. Returns a function that ends this. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    this.#listening ??= new Listening(this.#connections, this.#channel, (message) => {
      for (const each of [...this.#listeners]) each(message);
    });
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  #stop(): void {
    this.#listening?.end();
    this.#listening = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
    this.#stop();
    await this.#telling;
  }
}

/** A connection that waits for notifications. It is replaced when it is lost. */
class Listening {
  readonly #connections: Connections;
  readonly #channel: Channel;
  readonly #told: Listener;
  readonly #looking: NodeJS.Timeout;
  readonly #ending = new AbortController();

  constructor(connections: Connections, channel: Channel, told: Listener) {
    this.#connections = connections;
    this.#channel = channel;
    this.#told = told;
    this.#looking = setInterval(() => told(""), changeLookMs).unref();
    void this.#keepListening();
  }

  async #keepListening(): Promise<void> {
    const { signal } = this.#ending;
    for (let pauseMs = listenAgainMs; !signal.aborted; pauseMs = Math.min(2 * pauseMs, changeLookMs)) {
      if (await this.#listen(signal)) pauseMs = listenAgainMs;
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Listens until the connection is lost. Returns whether there was one. A closed pool does not connect again, about which Bun would write on stderr. */
  async #listen(signal: AbortSignal): Promise<boolean> {
    const { promise: lost, resolve } = Promise.withResolvers<void>();
    const sql = this.#connections.listening(resolve);
    const close = () => {
      resolve();
      sql.close({ timeout: 0 }).catch(() => {});
    };
    signal.addEventListener("abort", close);
    try {
      await sql.listen(this.#channel, this.#told, () => this.#told(""));
      await lost;
      return true;
    } catch {
      return false;
    } finally {
      signal.removeEventListener("abort", close);
      close();
    }
  }

  end(): void {
    clearInterval(this.#looking);
    this.#ending.abort();
  }
}

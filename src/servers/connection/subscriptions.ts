/** Subscriptions to the resources of one server: one for each URI, renewed on each new connection. */

import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ServerConfig } from "../../config/load.ts";
import { unlessAborted } from "../abort.ts";
import type { Connection } from "./connect.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** Additional delay before resources are subscribed again, after the time from which a broken server may be tried again. */
const resubscribeMs = 10;

export type UpdateListener = (uri: string) => void;

interface Subscription {
  /** Each with the function that lets the server become idle when the listener leaves. */
  listeners: Map<UpdateListener, () => void>;
  /** Resolves when the server has accepted the subscription. */
  asked: Promise<void>;
  /** Whether it was accepted. Only then is it renewed on a new connection. */
  isOn: boolean;
}

export class Subscriptions {
  #server: ServerConfig;
  #life: Lifecycle;
  readonly #log: Log;
  readonly #all = new Map<string, Subscription>();
  /** Running unsubscribe requests. A new subscription waits for them. */
  readonly #ending = new Map<string, Promise<void>>();
  #reopening: NodeJS.Timeout | undefined;

  constructor(server: ServerConfig, life: Lifecycle, log: Log) {
    this.#server = server;
    this.#life = life;
    this.#log = log;
  }

  /** Returns a function that ends the subscription. Throws errors of the request, and CANCELLED. */
  async add(uri: string, listener: UpdateListener, signal: AbortSignal | undefined): Promise<() => void> {
    const subscription = this.#all.get(uri) ?? this.#begin(uri);
    // The same function may be added twice.
    const own: UpdateListener = (updated) => listener(updated);
    subscription.listeners.set(own, this.#life.keep());
    const end = () => {
      const leave = subscription.listeners.get(own);
      subscription.listeners.delete(own);
      if (leave && subscription.listeners.size === 0) this.#end(uri, subscription);
      leave?.();
    };
    try {
      await unlessAborted(subscription.asked, signal, this.#what(uri));
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  /** The resource, or one below it, has changed. */
  updated(uri: string): void {
    for (const [subscribed, { listeners }] of this.#all) {
      const below = subscribed.endsWith("/") ? subscribed : `${subscribed}/`;
      if (uri === subscribed || uri.startsWith(below)) for (const listener of listeners.keys()) listener(uri);
    }
  }

  /** Renews the subscriptions on a new connection, and calls all listeners, because changes may have been missed. */
  connected(connection: Connection): void {
    for (const [uri, { isOn }] of this.#all) {
      if (!isOn) continue;
      request(connection, "resources/subscribe", uri, this.#server).then(
        () => this.updated(uri),
        (error) => this.#log.warn(`${this.#server.name}: ${messageOf(error)}`),
      );
    }
  }

  /** Opens a new connection as soon as possible, while there are listeners. */
  lost(): void {
    if (this.#all.size === 0 || this.#reopening) return;
    this.#life
      .use(async () => {}, `resources of ${this.#server.name}`, {})
      .catch(() => {
        const state = this.#life.state;
        const retryAt = state.state === "broken" ? state.retryAt : undefined;
        if (retryAt === undefined) return;
        this.#reopening = setTimeout(
          () => {
            this.#reopening = undefined;
            this.lost();
          },
          Math.max(retryAt - Date.now(), 0) + resubscribeMs,
        );
        this.#reopening.unref();
      });
  }

  /** Continues on the connection of a changed entry. */
  moveTo(server: ServerConfig, life: Lifecycle): void {
    this.#server = server;
    this.#life = life;
    for (const { listeners } of this.#all.values()) {
      for (const [listener, leave] of listeners) {
        listeners.set(listener, life.keep());
        leave();
      }
    }
    // A new entry is tried at once, also if the old one was broken.
    clearTimeout(this.#reopening);
    this.#reopening = undefined;
    this.lost();
  }

  /** Ends all subscriptions. Their listeners are not called again. */
  close(): void {
    for (const { listeners } of this.#all.values()) {
      for (const leave of listeners.values()) leave();
      listeners.clear();
    }
    this.#all.clear();
    clearTimeout(this.#reopening);
  }

  #begin(uri: string): Subscription {
    const before = this.#ending.get(uri) ?? Promise.resolve();
    const asked = before.then(() =>
      this.#life.use((connection) => request(connection, "resources/subscribe", uri, this.#server), this.#what(uri), {
        repeatable: true,
      }),
    );
    const subscription: Subscription = { listeners: new Map(), asked, isOn: false };
    this.#all.set(uri, subscription);
    asked.then(
      () => {
        subscription.isOn = true;
      },
      () => {},
    );
    return subscription;
  }

  #end(uri: string, { asked }: Subscription): void {
    this.#all.delete(uri);
    const ending = asked
      .then(() =>
        this.#life.use(
          (connection) => request(connection, "resources/unsubscribe", uri, this.#server),
          this.#what(uri),
          { startsNothing: true },
        ),
      )
      .catch(() => {})
      .then(() => {
        if (this.#ending.get(uri) === ending) this.#ending.delete(uri);
      });
    this.#ending.set(uri, ending);
  }

  #what(uri: string): string {
    return `${this.#server.name}: the resource ${uri}`;
  }
}

async function request(connection: Connection, method: string, uri: string, server: ServerConfig): Promise<void> {
  const { name, callTimeoutMs: timeoutMs } = server;
  if (!connection.canSubscribe()) {
    throw new ClaudikinsError("PROTOCOL_ERROR", `Server "${name}" does not support resource subscriptions`, {
      hint: "Poll the resource instead.",
    });
  }
  await connection.request({ method, params: { uri } }, `${name}: the resource ${uri}`, { timeoutMs });
}

/** What of one server's resources is listened to: one subscription for each address, however many listen, on every new connection. */
import type { ServerConfig } from "../config/load.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { unlessAborted } from "./abort.ts";
import type { Connection } from "./connect.ts";
import type { Lifecycle } from "./lifecycle.ts";

export type UpdateListener = (uri: string) => void;

interface Subscription {
  listeners: Set<UpdateListener>;
  /** Resolves when the server has said yes. */
  asked: Promise<void>;
  /** Whether it has: only then a new connection is asked for it again. */
  isOn: boolean;
}

/** After the moment from which a broken server is tried again. */
const reopenMs = 10;

export class Subscriptions {
  readonly #server: ServerConfig;
  readonly #life: Lifecycle;
  readonly #log: Log;
  readonly #all = new Map<string, Subscription>();
  /** Ends that are on their way: what is asked for anew must not overtake them. */
  readonly #ending = new Map<string, Promise<void>>();
  #reopening: NodeJS.Timeout | undefined;

  constructor(server: ServerConfig, life: Lifecycle, log: Log) {
    this.#server = server;
    this.#life = life;
    this.#log = log;
  }

  /** Gives what ends it. Throws what the request throws, and CANCELLED. */
  async add(uri: string, listener: UpdateListener, signal: AbortSignal | undefined): Promise<() => void> {
    const subscription = this.#all.get(uri) ?? this.#begin(uri);
    // The same function may listen twice.
    const own: UpdateListener = (updated) => listener(updated);
    subscription.listeners.add(own);
    const leave = this.#life.keep();
    const end = () => {
      if (!subscription.listeners.delete(own)) return;
      if (subscription.listeners.size === 0) this.#end(uri, subscription);
      leave();
    };
    try {
      await unlessAborted(subscription.asked, signal, this.#what(uri));
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  /** The resource itself, or one below it, has changed. */
  updated(uri: string): void {
    for (const [subscribed, { listeners }] of this.#all) {
      const below = subscribed.endsWith("/") ? subscribed : `${subscribed}/`;
      if (uri === subscribed || uri.startsWith(below)) for (const listener of listeners) listener(uri);
    }
  }

  /** A new connection knows nothing of what was asked on the one before, and what changed between them nobody has told. */
  connected(connection: Connection): void {
    for (const [uri, { isOn }] of this.#all) {
      if (!isOn) continue;
      request(connection, "resources/subscribe", uri, this.#server).then(
        () => this.updated(uri),
        (error) => this.#log.warn(`${this.#server.name}: ${messageOf(error)}`),
      );
    }
  }

  /** It is opened again, as soon as it may be, while somebody waits for updates. */
  lost(): void {
    if (this.#all.size === 0 || this.#reopening) return;
    this.#life
      .use(async () => {}, { what: `resources of ${this.#server.name}` })
      .catch(() => {
        const state = this.#life.state;
        const retryAt = state.state === "broken" ? state.retryAt : undefined;
        if (retryAt === undefined) return;
        this.#reopening = setTimeout(
          () => {
            this.#reopening = undefined;
            this.lost();
          },
          Math.max(retryAt - Date.now(), 0) + reopenMs,
        );
        this.#reopening.unref();
      });
  }

  close(): void {
    this.#all.clear();
    clearTimeout(this.#reopening);
  }

  #begin(uri: string): Subscription {
    const before = this.#ending.get(uri) ?? Promise.resolve();
    const asked = before.then(() =>
      this.#life.use((connection) => request(connection, "resources/subscribe", uri, this.#server), {
        what: this.#what(uri),
        repeatable: true,
      }),
    );
    const subscription: Subscription = { listeners: new Set(), asked, isOn: false };
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
        this.#life.use((connection) => request(connection, "resources/unsubscribe", uri, this.#server), {
          what: this.#what(uri),
          startsNothing: true,
        }),
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
  await connection.request({ method, params: { uri } }, { what: `${name}: the resource ${uri}`, timeoutMs });
}

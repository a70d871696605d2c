/** The servers of this machine that run for everybody: who wants one gets that of others, where it can be the same. */

import type { ChannelOptions } from "../../clients/channel.ts";
import { openChannel } from "../../clients/open-channel.ts";
import { redactorOf } from "../../clients/secrets.ts";
import type { Environment } from "../../config/environment.ts";
import type { StdioServer } from "../../config/load.ts";
import type { Log } from "../../log.ts";
import { HeldServer } from "./held-server.ts";
import type { Port } from "./port.ts";

export interface Wish {
  server: StdioServer;
  /** The working directory of a server that names none. */
  cwd: string;
  /** What it is started with, if it has to be started. */
  env: Environment;
  capabilities: object;
  /** Who wants it: servers that are not shared are one for each. */
  session: string;
  /** The session is that of one process, and its servers end with it. */
  isShort: boolean;
}

/** What is told of one. */
export interface HeldFacts {
  server: string;
  pid: number | null;
  /** Milliseconds since 1970. */
  since: number;
  /** Connections to it. */
  users: number;
  /** Whether it is only of one session. */
  private: boolean;
}

export class HeldServers implements AsyncDisposable {
  readonly #log: Log;
  readonly #logs: ChannelOptions["logs"];
  readonly #held = new Map<string, HeldServer>();
  /** Those that have asked a host something: what they are asked and told is of one session. */
  readonly #asking = new Set<string>();
  readonly #ending = new Set<Promise<void>>();

  constructor(log: Log, logs: ChannelOptions["logs"]) {
    this.#log = log;
    this.#logs = logs;
  }

  /** Undefined where it would have to be started. */
  find(wish: Wish): HeldServer | undefined {
    return this.#held.get(this.#keyOf(wish));
  }

  /** Starts it where it does not run. */
  attach(wish: Wish, port: Port): HeldServer {
    const held = this.find(wish) ?? this.#start(wish);
    held.attach(port);
    return held;
  }

  facts(): HeldFacts[] {
    return [...this.#held].map(([key, { name, pid, since, users }]) => ({
      server: name,
      pid: pid ?? null,
      since,
      users,
      private: sessionIn(key) !== null,
    }));
  }

  /** Everybody is to go elsewhere, as soon as they wait for nothing. */
  moveAllOut(): void {
    for (const held of this.#held.values()) held.moveAllOut();
  }

  /** Ends all. Resolves when their processes have ended. */
  async close(): Promise<void> {
    for (const held of [...this.#held.values()]) this.#ending.add(held.close("claudikins is closing"));
    await Promise.all(this.#ending);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #start(wish: Wish): HeldServer {
    const { server, cwd, env, capabilities, isShort } = wish;
    const redact = redactorOf(server);
    const options: ChannelOptions = { env, cwd, log: this.#log, logs: this.#logs, redact };
    const isPrivate = server.session === "private";
    let key = this.#keyOf(wish);
    const held = new HeldServer({
      name: server.name,
      capabilities,
      idleMs: server.keepAlive ? Number.POSITIVE_INFINITY : server.idleTimeoutMs,
      isOfOne: isPrivate && isShort,
      log: this.#log,
      open: () => openChannel(server, options),
      onAsks: (owner) => {
        this.#asking.add(commonKey(wish));
        if (isPrivate) return;
        // Found from now on by its owner alone.
        this.#held.delete(key);
        key = this.#keyOf({ ...wish, session: owner });
        this.#held.set(key, held);
      },
      onEnd: () => {
        if (this.#held.get(key) === held) this.#held.delete(key);
        const ending = held.close("").finally(() => this.#ending.delete(ending));
        this.#ending.add(ending);
      },
    });
    this.#held.set(key, held);
    return held;
  }

  #keyOf(wish: Wish): string {
    const isPrivate = wish.server.session === "private" || this.#asking.has(commonKey(wish));
    return JSON.stringify([commonKey(wish), isPrivate ? wish.session : null]);
  }
}

/** The same for those who see the same of a server. */
function commonKey({ server, cwd, capabilities }: Wish): string {
  return JSON.stringify([server.name, server.cwd ?? cwd, capabilities]);
}

function sessionIn(key: string): string | null {
  return (JSON.parse(key) as [string, string | null])[1];
}

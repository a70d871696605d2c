/** What the servers list of one kind, as far as they have answered: all are asked at once, and none is waited for too long. */

import { listedAtOnce } from "../../catalog/listing-queue.ts";
import type { Offer } from "../../clients/connect.ts";
import { stateProblem } from "../../clients/state.ts";
import { messageOf } from "../../errors.ts";
import type { JsonObject } from "../../json-object.ts";
import type { Toolbox } from "../../toolbox/toolbox.ts";
import { Turns } from "../../turns.ts";
import type { Usable } from "./definitions.ts";

/** How long a host waits for servers that have to be started; they are told of when they come later. */
const patienceMs = 10_000;

export interface ListKind {
  offer: Offer;
  list: (server: string) => Promise<JsonObject[]>;
  usable: Usable;
  /** By which a server's own are told apart. */
  key: string;
}

export class KnownLists {
  readonly #toolbox: Toolbox;
  readonly #kind: ListKind;
  /** Told when a server has answered for which nobody waits any more. */
  readonly #onLate: () => void;
  readonly #turns = new Turns(listedAtOnce);
  readonly #known = new Map<string, JsonObject[]>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #late = new Set<string>();
  readonly #problems = new Map<string, string>();
  #isAsked = false;

  constructor(toolbox: Toolbox, kind: ListKind, onLate: () => void) {
    this.#toolbox = toolbox;
    this.#kind = kind;
    this.#onLate = onLate;
  }

  /** In the order of the config: those that have answered at some time. */
  get known(): ReadonlyMap<string, readonly JsonObject[]> {
    const names = this.#toolbox.config.servers.keys();
    return new Map([...names].flatMap((name) => (this.#known.has(name) ? [[name, this.#known.get(name)!]] : [])));
  }

  /** Why some have not, now. */
  get problems(): ReadonlyMap<string, string> {
    return this.#problems;
  }

  /** Asks them all anew. Never rejects: what a server has listed before still counts when it cannot answer. */
  async ask(signal: AbortSignal): Promise<void> {
    this.#isAsked = true;
    const { config, pool } = this.#toolbox;
    const names = [...config.servers.keys()].filter((name) => pool.offers(name, this.#kind.offer) !== false);
    const late = AbortSignal.any([AbortSignal.timeout(patienceMs), signal]);
    const isLate = new Promise<void>((resolve) => late.addEventListener("abort", () => resolve(), { once: true }));
    await Promise.race([Promise.all(names.map((name) => this.#askOne(name))), isLate]);
    for (const name of names) {
      if (!this.#running.has(name)) continue;
      this.#late.add(name);
      this.#problems.set(name, `no answer for ${patienceMs / 1_000} s`);
    }
  }

  /** `ask`, where that has not been done yet. */
  async askOnce(signal: AbortSignal): Promise<void> {
    if (!this.#isAsked) await this.ask(signal);
  }

  #askOne(name: string): Promise<void> {
    const running = this.#running.get(name) ?? this.#asked(name).finally(() => this.#running.delete(name));
    this.#running.set(name, running);
    return running;
  }

  async #asked(name: string): Promise<void> {
    await this.#turns.take(undefined);
    try {
      const listed = await this.#kind.list(name);
      const { usable, key } = this.#kind;
      const all = listed.map(usable).filter((each) => each !== undefined);
      this.#known.set(name, [...new Map(all.map((each) => [each[key], each])).values()]);
      this.#problems.delete(name);
    } catch (error) {
      const problem = stateProblem(this.#toolbox.pool.state(name)) ?? messageOf(error).split("\n")[0] ?? "";
      this.#problems.set(name, problem);
    } finally {
      this.#turns.giveBack();
    }
    // It runs now: whether its tools are those that the registry has costs little.
    this.#toolbox.catalog.refreshInBackground(name);
    if (this.#late.delete(name)) this.#onLate();
  }
}

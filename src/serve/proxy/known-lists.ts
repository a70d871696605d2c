/**
 * The entries of one kind that the servers list, as far as they have answered. All are asked concurrently; slow ones are not waited for.
 */

import type { App } from "../../app/app.ts";
import { durationText } from "../../base/duration.ts";
import { messageOf } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { unlessAborted } from "../../servers/abort.ts";
import type { ServerCapability } from "../../servers/connection/connect.ts";
import { Listings } from "../../servers/lists/listings.ts";
import { stateProblem } from "../../servers/state.ts";
import type { Usable } from "./definitions.ts";

/** How long an agent waits for servers that must start. Later answers are announced as a change. */
const listPatienceMs = 10_000;

interface ListKind {
  offer: ServerCapability;
  list: (server: string) => Promise<JsonObject[]>;
  usable: Usable;
  /** The field that identifies an entry within its server. */
  key: string;
}

export class KnownLists {
  readonly #app: App;
  readonly #kind: ListKind;
  /** Called when a server answers after the wait. */
  readonly #onLate: () => void;
  readonly #listings = new Listings<void>();
  readonly #known = new Map<string, JsonObject[]>();
  readonly #late = new Set<string>();
  /** Why servers are missing in the last list. */
  readonly problems = new Map<string, string>();
  #isAsked = false;

  constructor(app: App, kind: ListKind, onLate: () => void) {
    this.#app = app;
    this.#kind = kind;
    this.#onLate = onLate;
  }

  /** The lists of servers that have answered before, in the order of the config. */
  get known(): ReadonlyMap<string, readonly JsonObject[]> {
    const names = this.#app.config.servers.keys();
    return new Map([...names].flatMap((name) => (this.#known.has(name) ? [[name, this.#known.get(name)!]] : [])));
  }

  /** Asks all servers again. Never rejects: an earlier list counts if a server cannot answer. */
  async ask(signal: AbortSignal): Promise<void> {
    this.#isAsked = true;
    const { config, pool } = this.#app;
    const names = [...config.servers.keys()].filter((name) => pool.offers(name, this.#kind.offer) !== false);
    const late = AbortSignal.any([AbortSignal.timeout(listPatienceMs), signal]);
    const all = Promise.all(names.map((name) => this.#listings.join(name, () => this.#asked(name), { inTurn: true })));
    await unlessAborted(all, late, "waiting for the lists").catch(() => {});
    for (const name of names) {
      if (!this.#listings.isUnderWay(name)) continue;
      this.#late.add(name);
      this.problems.set(name, `no answer for ${durationText(listPatienceMs)}`);
    }
  }

  /** Asks unless that was done before. */
  async askOnce(signal: AbortSignal): Promise<void> {
    if (!this.#isAsked) await this.ask(signal);
  }

  async #asked(name: string): Promise<void> {
    try {
      const listed = await this.#kind.list(name);
      const { usable, key } = this.#kind;
      const all = listed.map(usable).filter((each) => each !== undefined);
      this.#known.set(name, [...new Map(all.map((each) => [each[key], each])).values()]);
      this.problems.delete(name);
    } catch (error) {
      const problem = stateProblem(this.#app.pool.state(name)) ?? messageOf(error).split("\n")[0] ?? "";
      this.problems.set(name, problem);
    }
    // The server runs now, so comparing its tools with the stored ones costs little.
    this.#app.catalog.listInBackground(name);
    if (this.#late.delete(name)) this.#onLate();
  }
}

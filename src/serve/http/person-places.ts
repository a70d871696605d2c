/** The view of the config that each person has. It is opened with the first request, and closed after a while without use. */
import type { App } from "../../app/app.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Person } from "../../config/oidc.ts";
import { maxSessionTendMs } from "../limits.ts";

interface PersonPlace {
  app: App;
  sessions: { readonly size: number };
  modern: { readonly size: number };
}

interface PersonPlacesOptions<Place> {
  open: (door: string | undefined, person: Person) => Promise<Place>;
  close: (place: Place) => Promise<void>;
  /** A place without sessions, clients and programs is closed after this time. */
  idleMs: number;
  log: Log;
}

interface Entry<Place> {
  opening: Promise<Place>;
  /** Requests that are being answered. */
  requests: number;
  usedAt: number;
}

/** It is not closed before it is disposed of. */
export interface PlaceInUse<Place> extends Disposable {
  opened: Place;
}

export class PersonPlaces<Place extends PersonPlace> {
  readonly #options: PersonPlacesOptions<Place>;
  readonly #entries = new Map<string, Entry<Place>>();
  readonly #closing = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: PersonPlacesOptions<Place>) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#tend(), Math.min(maxSessionTendMs, options.idleMs / 2)).unref();
  }

  /** Opens the place if it is closed. Throws what opening throws. */
  async of(person: Person, door: string | undefined): Promise<PlaceInUse<Place>> {
    const key = keyOf(person, door);
    const known = this.#entries.get(key);
    const entry = known ?? {
      opening: this.#options.open(door, { id: person.id, name: person.name }),
      requests: 0,
      usedAt: 0,
    };
    this.#entries.set(key, entry);
    entry.requests += 1;
    const release = () => {
      entry.requests -= 1;
      entry.usedAt = performance.now();
    };
    try {
      return { opened: await entry.opening, [Symbol.dispose]: release };
    } catch (error) {
      release();
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
  }

  /** The open sessions of a person at all doors, and the clients without sessions that are connected, or were lately. */
  async sessionsOf(id: string): Promise<number> {
    const own = [...this.#entries].filter(([key]) => key.startsWith(`${JSON.stringify([id]).slice(0, -1)},`));
    const places = await Promise.all(own.map(([, { opening }]) => opening.catch(() => undefined)));
    return places.reduce((sum, place) => sum + (place ? place.sessions.size + place.modern.size : 0), 0);
  }

  /** Closes a place that the person may no longer use. */
  async leave(person: Person, door: string | undefined): Promise<void> {
    const key = keyOf(person, door);
    const entry = this.#entries.get(key);
    if (entry) await this.#close(key, entry);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const [key, entry] of this.#entries) void this.#close(key, entry);
    await Promise.all(this.#closing);
  }

  async #tend(): Promise<void> {
    const before = performance.now() - this.#options.idleMs;
    for (const [key, entry] of this.#entries) {
      if (entry.requests > 0 || entry.usedAt > before) continue;
      const place = await entry.opening.catch(() => undefined);
      if (!place || place.sessions.size + place.modern.size > 0) continue;
      const executions = await place.app.executions();
      const isUsed = entry.requests > 0 || executions.size > 0 || place.sessions.size + place.modern.size > 0;
      if (!isUsed) void this.#close(key, entry);
    }
  }

  #close(key: string, entry: Entry<Place>): Promise<void> {
    if (this.#entries.get(key) !== entry) return Promise.resolve();
    this.#entries.delete(key);
    const closing = entry.opening
      .then((place) => this.#options.close(place))
      .catch((error) => this.#options.log.warn(`the part of a person did not close cleanly: ${messageOf(error)}`))
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
    return closing;
  }
}

function keyOf({ id }: Person, door: string | undefined): string {
  return JSON.stringify([id, door ?? null]);
}

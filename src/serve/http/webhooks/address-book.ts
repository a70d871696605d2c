/** The addresses of webhooks, and how much may come to each. */
import { minuteMs } from "../../../base/units.ts";
import { hasTriggers } from "../../../programs/events/places.ts";
import { type Trigger, Triggers, type WebhookSource } from "../../../programs/events/stored-triggers.ts";
import type { ScheduledPlace } from "../../../programs/saved/scheduler.ts";

/** How long a trigger that was added or removed may not be known yet. */
const addressesKnownMs = 1_000;

/** Requests to one address within a minute whose signatures are looked at. */
const maxRequestsPerMinute = 600;

/** Bodies that are read at once for one address. */
const maxBodiesAtOnce = 16;

export interface Webhook {
  trigger: Trigger & { on: WebhookSource };
  place: ScheduledPlace;
}

export class AddressBook {
  #webhooks: Promise<Map<string, Webhook> | undefined> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #minute = 0;
  /** Requests of this minute, and bodies that are being read, by address. Only addresses that exist are counted. */
  readonly #counts = new Map<string, number>();
  readonly #reading = new Map<string, number>();

  /** Undefined if there is none with this address. `unknown` while the database with the addresses was not reached yet. */
  async find(
    address: string,
    places: () => Promise<readonly ScheduledPlace[]>,
  ): Promise<Webhook | "unknown" | undefined> {
    const now = performance.now();
    if (!this.#webhooks || now > this.#readAt + addressesKnownMs) {
      this.#readAt = now;
      this.#webhooks = places().then(webhooksAt);
    }
    const all = await this.#webhooks;
    return all ? all.get(address) : "unknown";
  }

  /** Undefined if too much comes to the address. Otherwise dispose of the result when the body is read. */
  admit(address: string, now: number): Disposable | undefined {
    const minute = Math.floor(now / minuteMs);
    if (minute !== this.#minute) this.#counts.clear();
    this.#minute = minute;
    const count = this.#counts.get(address) ?? 0;
    const reading = this.#reading.get(address) ?? 0;
    if (count >= maxRequestsPerMinute || reading >= maxBodiesAtOnce) return undefined;
    this.#counts.set(address, count + 1);
    this.#reading.set(address, reading + 1);
    return {
      [Symbol.dispose]: () => {
        const left = this.#reading.get(address)! - 1;
        if (left > 0) this.#reading.set(address, left);
        else this.#reading.delete(address);
      },
    };
  }
}

function webhooksAt(places: readonly ScheduledPlace[]): Map<string, Webhook> | undefined {
  if (places.some(({ place }) => !place.documents.areKnown)) return undefined;
  const found = new Map<string, Webhook>();
  for (const place of places) {
    if (!hasTriggers(place.place)) continue;
    for (const trigger of new Triggers(place.place).all()) {
      const { on } = trigger;
      if (on.kind === "webhook") found.set(on.address, { trigger: { ...trigger, on }, place });
    }
  }
  return found;
}

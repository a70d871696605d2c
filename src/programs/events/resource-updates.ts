/** Updates of resources that servers announce, as events. The subscription is a request like every other: rules decide about it. */
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { minuteMs } from "../../base/units.ts";
import type { Pool } from "../../servers/pool.ts";
import type { OfferedEvent } from "./event-queue.ts";
import type { ResourceSource, Trigger } from "./stored-triggers.ts";

/** Time until a subscription that has failed is tried again. */
const subscribeAgainMs = minuteMs;

/** Updated resources of one trigger that wait for the next look. */
const maxUpdatedResources = 1_000;

export type ResourceTrigger = Trigger & { on: ResourceSource };

interface Subscribed {
  /** The resources that were updated since the last look: the one of the trigger, or some below it. */
  updated: Set<string>;
  /** When a failed subscription may be tried again. Undefined while it is open. */
  againAt: number | undefined;
}

export class ResourceUpdates {
  readonly #log: Log;
  readonly #closing = new AbortController();
  /** By the ids of triggers. */
  readonly #subscribed = new Map<string, Subscribed>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Gives the updates since the last look to `put`, several of one resource together. Subscribes if that was not done yet. */
  async look(
    trigger: ResourceTrigger,
    pool: Pick<Pool, "subscribe">,
    put: (event: OfferedEvent) => Promise<boolean>,
  ): Promise<void> {
    const found = this.#subscribed.getOrInsertComputed(trigger.id, () => ({ updated: new Set<string>(), againAt: 0 }));
    for (const uri of [...found.updated]) {
      found.updated.delete(uri);
      let isKept = false;
      try {
        isKept = await put(eventOf(uri, trigger));
      } finally {
        if (!isKept) found.updated.add(uri);
      }
    }
    if (found.againAt === undefined || Date.now() < found.againAt) return;
    found.againAt = Date.now() + subscribeAgainMs;
    void this.#subscribe(trigger, pool, found);
  }

  async #subscribe({ id, on }: ResourceTrigger, pool: Pick<Pool, "subscribe">, found: Subscribed): Promise<void> {
    const { signal } = this.#closing;
    const listener = (uri: string) => {
      if (found.updated.size < maxUpdatedResources) found.updated.add(uri);
    };
    try {
      const end = await pool.subscribe(on.server, on.uri, listener, { signal });
      found.againAt = undefined;
      signal.addEventListener("abort", end, { once: true });
      if (signal.aborted) end();
    } catch (error) {
      if (!signal.aborted) this.#log.warn(`The trigger ${id} cannot subscribe to ${on.uri}: ${messageOf(error)}`);
    }
  }

  close(): void {
    this.#closing.abort();
  }
}

function eventOf(uri: string, { on }: ResourceTrigger): OfferedEvent {
  return { name: `${uri} ${crypto.randomUUID()}`, content: { kind: "resource", server: on.server, uri } };
}

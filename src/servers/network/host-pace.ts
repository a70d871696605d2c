/** The pace of requests to one host: how many at once, and not before the time that it has asked for. */
import { setTimeout as sleep } from "node:timers/promises";
import { waitText } from "../../base/duration.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { NetworkFailure } from "../failures/network-failure.ts";

/** Requests to one host at once, of all entries. APIs such as GitHub's ask for few at once, and browsers use six connections. */
const maxRequestsAtOnce = 8;

/** Hosts whose limit is remembered. Unused ones are forgotten first. */
const maxHosts = 1_000;

/** The places of each host, for all entries. */
const hosts = new Map<string, Semaphore>();

function placesOf(origin: string): Semaphore {
  const known = hosts.get(origin);
  if (known) return known;
  const [oldest] = hosts.keys();
  // Requests that run keep the places that they have.
  if (hosts.size >= maxHosts && oldest !== undefined) hosts.delete(oldest);
  const places = new Semaphore(maxRequestsAtOnce);
  hosts.set(origin, places);
  return places;
}

/** For one entry: its pauses do not concern the accounts of others. */
export class HostPace {
  /** The longest wait for a host that asks for a pause. A program is told about longer ones. */
  static readonly longestWaitMs = 20_000;

  readonly #origin: string;
  readonly #places: Semaphore;
  /** By `performance.now()`. */
  #pausedUntil = 0;

  constructor(origin: string) {
    this.#origin = origin;
    this.#places = placesOf(origin);
  }

  /** The time that a response asks to wait. Undefined if it does not say. */
  static waitOf({ status, headers }: Response): number | undefined {
    const after = headers.get("retry-after");
    if (after !== null) {
      const ms = /^\s*\d+(?:\.\d+)?\s*$/.test(after) ? Number(after) * 1_000 : Date.parse(after) - Date.now();
      if (Number.isFinite(ms)) return Math.max(0, ms);
    }
    const left = headers.get("x-ratelimit-remaining") ?? headers.get("ratelimit-remaining");
    const isUsedUp = left !== null && Number(left) <= 0;
    if (!isUsedUp && status !== 429) return undefined;
    const reset = Number(headers.get("x-ratelimit-reset") ?? headers.get("ratelimit-reset") ?? Number.NaN);
    if (!Number.isFinite(reset)) return undefined;
    // Seconds from now, or a time in seconds or milliseconds since 1970.
    if (reset < 1e8) return Math.max(0, reset * 1_000);
    return Math.max(0, (reset < 1e11 ? reset * 1_000 : reset) - Date.now());
  }

  /** Resolves when a request may be sent. Throws if the host asks for a longer wait. Each beginning needs its `end`. */
  async begin(signal: AbortSignal): Promise<void> {
    if ((await this.#places.acquire(signal)) === false) signal.throwIfAborted();
    try {
      const waitMs = this.#pausedUntil - performance.now();
      if (waitMs > HostPace.longestWaitMs) throw paused(this.#origin, waitMs);
      if (waitMs > 0) await sleep(waitMs, undefined, { signal });
    } catch (error) {
      this.end();
      throw error;
    }
  }

  end(): void {
    this.#places.release();
  }

  /** Only `Retry-After` speaks for the whole host: other limits are often for one kind of request. */
  heard(response: Response): void {
    const isAsked = [429, 503].includes(response.status) && response.headers.has("retry-after");
    const waitMs = isAsked ? HostPace.waitOf(response) : undefined;
    if (waitMs !== undefined) this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + waitMs);
  }
}

function paused(host: string, waitMs: number): NetworkFailure {
  return new NetworkFailure(`${host} accepts no more requests for ${waitText(waitMs)}`, {
    hint: "Call again after that time, or ask for less.",
    retryAfterMs: waitMs,
  });
}

/**
 * Knows which listing of which server is running, so that callers join it instead of asking the server twice. Of many servers, only a
 * few are asked concurrently: a thousand servers are never a thousand processes.
 */
import { availableParallelism } from "node:os";
import { ClaudikinsError } from "../../base/errors.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { unlessAborted } from "../abort.ts";

/** Servers that are asked for a list at the same time, at least. Starting programs mostly wait: for a download, for an answer. */
const minListedAtOnce = 8;

/** The same for each core. */
const listedPerCore = 4;

/** Servers that are asked concurrently. */
export const listedAtOnce = Math.max(minListedAtOnce, listedPerCore * availableParallelism());

/** A server that takes longer gives its turn to the next one, and is still waited for. */
const listingTurnMs = 3_000;

/** With slow servers, at most this many times as many requests are open. */
const slowListingFactor = 4;

/** Listings after changes of one server that may follow each other within the time below. After that, they are further apart. */
const changeBurst = 5;

/** The time for these listings. */
const changeBurstMs = 60_000;

/** The time between further ones. */
const changeGapMs = 10_000;

export interface JoinOptions {
  /** Do not join a listing that has begun already: the server may have changed since. */
  isNew?: boolean | undefined;
  /** The listing fails if the server is not connected. Callers that may start the server do not join such a listing. */
  startsNothing?: boolean | undefined;
  /** Wait for the server's turn among many, instead of asking it at once. */
  inTurn?: boolean | undefined;
  /** Ends the wait of this caller. The listing continues. */
  signal?: AbortSignal | undefined;
  /** Maximum wait in milliseconds, counted from when the first caller wanted the listing. */
  waitMs?: number | undefined;
}

/** A request for a server's list, which callers share. */
interface SharedListing<Answer> {
  /** Sends the request. */
  ask: () => Promise<Answer>;
  startsNothing: boolean;
  inTurn: boolean;
  /** When it was first wanted, by `performance.now()`. */
  since: number;
  /** When the server was asked. Undefined before that. */
  askedAt?: number;
  answer: Promise<Answer>;
  /** Aborted if the server must be asked at once, although it is not its turn. */
  hurry: AbortController;
}

interface UnderWay<Answer> {
  running?: SharedListing<Answer> | undefined;
  /** Waits for its turn, or for the end of the running one. */
  next?: SharedListing<Answer> | undefined;
}

/** The listings of one server after changes that it announced. */
interface ChangeListings {
  /** The server has announced a change since the last of them began. */
  isDue: boolean;
  running?: Promise<void> | undefined;
  timer?: ReturnType<typeof setTimeout> | undefined;
  /** When they began. */
  begun: number[];
}

export class Listings<Answer> implements Disposable {
  readonly #underWay = new Map<string, UnderWay<Answer>>();
  readonly #changes = new Map<string, ChangeListings>();
  readonly #turns = new Semaphore(listedAtOnce);
  readonly #open = new Semaphore(slowListingFactor * listedAtOnce);
  readonly #gapMs: number;
  #isClosed = false;

  constructor({ gapMs = changeGapMs }: { gapMs?: number | undefined } = {}) {
    this.#gapMs = gapMs;
  }

  /** Servers that are being asked, or that wait for their turn. */
  get size(): number {
    return this.#underWay.size;
  }

  isUnderWay(server: string): boolean {
    return this.#underWay.has(server);
  }

  /** Resolves when the listings that are under way have ended. Never rejects. */
  async ended(server: string): Promise<void> {
    const { running, next } = this.#underWay.get(server) ?? {};
    await Promise.allSettled([running?.answer, next?.answer]);
  }

  /** How long the server has been asked by now, in milliseconds. 0 if it is not being asked. */
  askedMs(server: string): number {
    const askedAt = this.#underWay.get(server)?.running?.askedAt;
    return askedAt === undefined ? 0 : performance.now() - askedAt;
  }

  /**
   * Joins the server's running listing, or calls `ask` for one. There is one listing of a server at a time, and at most one
   * that follows it, so the list that was asked for last is the one that stays. Throws what `ask` throws, and CANCELLED.
   */
  join(server: string, ask: () => Promise<Answer>, options: JoinOptions = {}): Promise<Answer> {
    const { since, answer } = this.#shared(server, ask, options);
    const { signal, waitMs } = options;
    if (waitMs === undefined) return unlessAborted(answer, signal, listingOf(server));
    const late = AbortSignal.timeout(Math.max(0, since + waitMs - performance.now()));
    return unlessAborted(answer, signal ? AbortSignal.any([late, signal]) : late, listingOf(server));
  }

  /**
   * Call this when the server announces a change. It is asked in the background, soon, but rarely if it never stops changing. However
   * many changes are announced, one listing runs and at most one more follows.
   */
  changed(server: string, ask: () => Promise<Answer>): void {
    const changes = this.#changes.get(server) ?? { isDue: false, begun: [] };
    this.#changes.set(server, changes);
    changes.isDue = true;
    this.#askAgain(server, ask, changes);
  }

  /** Whether the server is being asked because it announced a change. */
  isChanging(server: string): boolean {
    return this.#changes.get(server)?.running !== undefined;
  }

  /** Resolves when the server has been asked after its changes. A listing that is put off until later is not awaited. */
  async changesListed(server: string): Promise<void> {
    const changes = this.#changes.get(server);
    while (changes?.running) await changes.running;
  }

  /** Servers that wait for their turn, or have announced changes, are not asked. Running listings continue. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#turns.close();
    this.#open.close();
    for (const { timer } of this.#changes.values()) clearTimeout(timer);
  }

  #shared(server: string, ask: () => Promise<Answer>, options: JoinOptions): SharedListing<Answer> {
    const { isNew = false, startsNothing = false, inTurn = false } = options;
    const underWay = this.#underWay.get(server) ?? {};
    this.#underWay.set(server, underWay);
    const { running, next } = underWay;
    if (running && !isNew && (startsNothing || !running.startsNothing)) return running;
    if (next) {
      // It has not begun, so it can still become what the most demanding caller asks for.
      const isMore = !startsNothing && (next.startsNothing || (next.inTurn && !inTurn));
      if (isMore) Object.assign(next, { ask, startsNothing, inTurn });
      if (!inTurn && !running && !next.hurry.signal.aborted) {
        next.since = performance.now();
        next.hurry.abort();
      }
      return next;
    }
    const hurry = new AbortController();
    const listing = { ask, startsNothing, inTurn, since: performance.now(), hurry } as SharedListing<Answer>;
    if (running || inTurn) underWay.next = listing;
    if (running) listing.answer = running.answer.catch(() => {}).then(() => this.#ask(server, listing));
    else listing.answer = inTurn ? this.#askInTurn(server, listing) : this.#ask(server, listing);
    return listing;
  }

  #ask(server: string, listing: SharedListing<Answer>): Promise<Answer> {
    const underWay = this.#underWay.get(server)!;
    underWay.running = listing;
    if (underWay.next === listing) underWay.next = undefined;
    listing.askedAt = performance.now();
    return listing.ask().finally(() => {
      if (underWay.running === listing) underWay.running = undefined;
      this.#forget(server, underWay);
    });
  }

  async #askInTurn(server: string, listing: SharedListing<Answer>): Promise<Answer> {
    const { signal } = listing.hurry;
    let isOpen = false;
    let isTurn = false;
    try {
      this.#refuseIfClosed(server);
      isOpen = (await this.#open.acquire(signal)) !== false;
      isTurn = isOpen && (await this.#turns.acquire(signal)) !== false;
      this.#refuseIfClosed(server);
      const answer = this.#ask(server, listing);
      if (isTurn) void this.#giveTurn(answer);
      return await answer;
    } finally {
      if (isOpen) this.#open.release();
      this.#drop(server, listing);
    }
  }

  #refuseIfClosed(server: string): void {
    if (this.#isClosed) throw new ClaudikinsError("CANCELLED", `${listingOf(server)} was cancelled`);
  }

  /** The next server's turn comes after the answer, or when it takes long. */
  async #giveTurn(answer: Promise<Answer>): Promise<void> {
    const late = new Promise<void>((resolve) => setTimeout(resolve, listingTurnMs).unref());
    await Promise.race([answer, late]).catch(() => {});
    this.#turns.release();
  }

  #askAgain(server: string, ask: () => Promise<Answer>, changes: ChangeListings): void {
    if (this.#isClosed || !changes.isDue || changes.running || changes.timer) return;
    const now = performance.now();
    changes.begun = changes.begun.filter((at) => now - at < changeBurstMs);
    const run = () => {
      changes.timer = undefined;
      changes.isDue = false;
      changes.begun.push(performance.now());
      const settle = () => {
        changes.running = undefined;
        this.#askAgain(server, ask, changes);
      };
      changes.running = this.join(server, ask, { isNew: true, startsNothing: true }).then(settle, settle);
    };
    if (changes.begun.length < changeBurst || now - (changes.begun.at(-1) ?? 0) >= this.#gapMs) run();
    else changes.timer = setTimeout(run, this.#gapMs).unref();
  }

  /** Forgets a listing that never began. */
  #drop(server: string, listing: SharedListing<Answer>): void {
    const underWay = this.#underWay.get(server);
    if (underWay?.next === listing) underWay.next = undefined;
    if (underWay) this.#forget(server, underWay);
  }

  #forget(server: string, { running, next }: UnderWay<Answer>): void {
    if (!running && !next) this.#underWay.delete(server);
  }
}

const listingOf = (server: string) => `tools/list of ${server}`;

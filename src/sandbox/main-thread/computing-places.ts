/** The places of programs that compute. Programs that only wait give theirs to others. */
import { availableParallelism } from "node:os";
import { FairQueue } from "../../base/fair-queue.ts";
import type { Caller } from "./time-shares.ts";

/** The share of the places that is reserved for owners that have none. The rest is enough for a single owner. */
const reservedShare = 0.5;

/** A program is new until it has held its place for this time. Most programs end before. */
const newForMs = 20;

/**
 * Programs that are new at the same time: one for each core. Short programs finish sooner one after another than side by side, and fewer
 * workers run them, whose code is compiled already. With twenty programs at once on two cores, this saves a third of the CPU.
 */
const maxNew = Math.max(2, availableParallelism());

/**
 * Time between two searches for programs that only wait, while others need their places. A program that waits for a quick call keeps its
 * place: with 5 ms in place of 10, twenty programs at once ran on nearly twice as many workers.
 */
const lookMs = 10;

/** A program with a place. */
export interface PlaceHolder {
  owner: string;
  /** Releases the place if the program only waits. */
  giveUpIfIdle(): void;
}

interface Waiting {
  holder: PlaceHolder;
  resolve: (acquired: boolean) => void;
}

export class ComputingPlaces {
  readonly #count: number;
  /** The last free places, for owners that have none. */
  readonly #reserve: number;
  /** Programs that have a place, and when they got it. */
  readonly #holders = new Map<PlaceHolder, number>();
  readonly #waiting = new FairQueue<Waiting>();
  #look: Timer | undefined;
  #isClosed = false;

  constructor(count: number) {
    this.#count = count;
    this.#reserve = Math.floor(count * reservedShare);
  }

  /**
   * Undefined if the program may compute at once. Otherwise, resolves with true when it may, and with false if `signal` or `close` ended the
   * wait. Owners get places in turn.
   */
  acquire(
    holder: PlaceHolder,
    signal: AbortSignal | undefined,
    { key = "", owner = "" }: Caller,
  ): Promise<boolean> | undefined {
    if (signal?.aborted) return Promise.resolve(false);
    if (this.#waiting.isEmpty && this.#hasRoomFor(owner)) {
      this.#holders.set(holder, performance.now());
      return undefined;
    }
    if (this.#isClosed) return Promise.resolve(false);
    const turn = this.#waiting.wait((resolve) => ({ holder, resolve }), signal, key, owner);
    this.#serve();
    this.#lookSoon();
    return turn;
  }

  release(holder: PlaceHolder): void {
    if (this.#holders.delete(holder)) this.#serve();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#look);
    for (const { resolve } of this.#waiting.clear()) resolve(false);
  }

  #serve(): void {
    let next = this.#waiting.next((owner) => this.#hasRoomFor(owner));
    while (next) {
      const { holder, resolve } = next.caller;
      this.#holders.set(holder, performance.now());
      resolve(true);
      next = this.#waiting.next((owner) => this.#hasRoomFor(owner));
    }
  }

  /** An owner that has a place does not get one of the reserved places. Callers without an owner get all. */
  #hasRoomFor(owner: string): boolean {
    const free = this.#count - this.#holders.size;
    if (free <= 0) return false;
    const newSince = performance.now() - newForMs;
    let newHolders = 0;
    let hasPlace = false;
    for (const [holder, since] of this.#holders) {
      if (since > newSince) newHolders += 1;
      if (holder.owner === owner) hasPlace = true;
    }
    return newHolders < maxNew && (free > this.#reserve || owner === "" || !hasPlace);
  }

  /**
   * Programs do not report when they begin to wait, because that would slow down every call. They are checked while others need their
   * places.
   */
  #lookSoon(): void {
    if (this.#waiting.isEmpty) return;
    this.#look ??= setTimeout(() => {
      this.#look = undefined;
      for (const holder of this.#holders.keys()) {
        if (this.#waiting.isEmpty) return;
        holder.giveUpIfIdle();
      }
      // Programs that were new may be so no more.
      this.#serve();
      this.#lookSoon();
    }, lookMs);
  }
}

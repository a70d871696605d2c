/**
 * The places of programs, which limit how many programs are in memory and how many of them compute. A program has a place in memory from
 * its start to its end. To compute, it also needs a place to compute, and there are fewer of these. While a program only waits for calls or
 * timers, it gives up its place to compute to another program that needs it. While it waits for a person, it may give up its place in
 * memory too. Owners get places in turn, and some places are reserved for owners that have none.
 */
import { takenMemory } from "../../base/machine-memory.ts";
import { Semaphore } from "../../base/semaphore.ts";
import type { Clock } from "../../base/time-limit.ts";
import { megabyte } from "../../base/units.ts";
import { firstMemoryBytes } from "../limits.ts";
import { computing, stateOfPlace } from "../messages.ts";
import { ComputingPlaces, type PlaceHolder } from "./computing-places.ts";
import type { Caller, CallerShares } from "./time-shares.ts";

/** Maximum number of programs that give up their place in memory while they wait for a person. Further programs keep it. */
const maxProgramsWithoutPlace = 100;

/**
 * CPU time of a program on its worker's thread, beside the time of its own code. A measured value. The time on the main thread does not
 * count, because the shared cores leave out the main thread.
 */
const programOverheadMs = 1;

/** Until programs have ended, a program counts with this much memory, unless its limit is lower. In bytes. */
const firstUsualBytes = 64 * megabyte;

/** Memory of a worker, beside that of its program. In bytes. */
const workerBytes = 8 * megabyte;

/** For this time, what a program usually takes is counted in addition to the memory that is taken: its worker may not have started yet. */
const newcomerMs = 1_000;

/** The share of each program that ends in what a program usually takes. */
const usualShare = 1 / 8;

/** How a program waits for its turn. */
export interface Turn extends Caller {
  /** Further limits of concurrent programs. */
  others?: readonly Semaphore[] | undefined;
  /** The program's memory limit in bytes. */
  memoryBytes?: number | undefined;
  /** 1 for a program that no other program called, 2 for a program that it calls, and so on. */
  depth?: number | undefined;
}

interface PlacesOptions {
  /** Programs that compute at the same time. */
  computing: number;
  /** Maximum of programs in memory. */
  inMemory: number;
  /**
   * Maximum of the memory that is taken, for more programs to get into memory than may compute. See `takenMemory`. In bytes. One program gets
   * into memory in any case.
   */
  fullBytes: number;
  /** The same for as many programs as may compute. When more is taken, programs do not grow. In bytes. */
  growBelowBytes: number;
  /** Maximum of the memories that the programs in memory begin with, unless there is one only. In bytes. */
  limitBytes: number;
  /** Frees memory that no program uses. */
  freeMemory: () => void;
  shares: CallerShares;
  /** A program that waits for a person is parked after this time. */
  parkAfterMs: number;
}

export class Places {
  readonly #options: PlacesOptions;
  /** By depth, because a program that waits for a program that it called must not hold the place that the called one needs. */
  readonly #inMemory = new Map<number, Semaphore>();
  /** The places to compute, which programs take and give up. */
  readonly computing: ComputingPlaces;
  /** Number of programs that have given up their place in memory. */
  #withoutPlace = 0;
  /** The memory that a program usually takes: an average in which the last programs count most. In bytes. */
  #usualBytes = firstUsualBytes;
  /** When the last programs got into memory because there was enough, as `performance.now()`. */
  #newcomers: number[] = [];
  /** Runs while programs wait for memory. */
  #again: Timer | undefined;
  /** The memory that was taken before the first program. In bytes. */
  #idleBytes: number | undefined;
  /** The largest memory limit of a program so far. */
  #largestBytes = 0;
  #isClosed = false;

  constructor(options: PlacesOptions) {
    this.#options = options;
    this.computing = new ComputingPlaces(options.computing);
  }

  /** Waits for a place, and gives it to `run`. Undefined if `signal` or `close` ended the wait. */
  async inTurn<T>(
    signal: AbortSignal | undefined,
    turn: Turn,
    run: (place: ProgramPlace) => Promise<T>,
  ): Promise<T | undefined> {
    const { key, owner, others = [], depth = 1, memoryBytes = 0 } = turn;
    this.#largestBytes = Math.max(this.#largestBytes, memoryBytes);
    const inMemory = this.#inMemory.getOrInsertComputed(depth, () =>
      Semaphore.shared(this.#options.inMemory, this.#hasMemory),
    );
    const held: Semaphore[] = [];
    const place = new ProgramPlace(this, turn, held);
    try {
      // The narrower limits come first, so that no place is held by a program that waits for them.
      for (const each of [...others, inMemory]) {
        if (this.#isClosed || (await each.acquire(signal, key, owner)) === false) return undefined;
        held.push(each);
      }
      const share = this.#options.shares.take(turn, programOverheadMs, signal);
      if (share) await share;
      if ((await place.compute(signal)) === false) return undefined;
      return await run(place);
    } finally {
      place.end();
      if (place.usedBytes !== undefined) this.#usualBytes += (place.usedBytes - this.#usualBytes) * usualShare;
      for (const each of held) each.release(owner);
    }
  }

  /** Whether one more program may get into memory. */
  readonly #hasMemory = (taken: number): boolean => {
    const { computing, fullBytes, growBelowBytes, limitBytes, freeMemory } = this.#options;
    if (taken === 0) {
      this.#idleBytes ??= takenMemory();
      return true;
    }
    if ((taken + 1) * firstMemoryBytes > limitBytes) return false;
    const mostBytes = taken < computing ? growBelowBytes : fullBytes;
    // The programs in memory may not have taken yet what they will take.
    const usualBytes = Math.min(this.#largestBytes, this.#usualBytes) + workerBytes;
    const now = performance.now();
    this.#newcomers = this.#newcomers.filter((at) => now - at < newcomerMs);
    const nowBytes = takenMemory() + this.#newcomers.length * usualBytes;
    if (nowBytes + usualBytes > mostBytes) freeMemory();
    if (Math.max((this.#idleBytes ?? 0) + taken * usualBytes, nowBytes) + usualBytes > mostBytes) {
      this.#askAgain();
      return false;
    }
    this.#newcomers.push(now);
    return true;
  };

  /** Memory becomes free without the end of a program, too: newcomers count only once after a while, and servers end. */
  #askAgain(): void {
    this.#again ??= setTimeout(() => {
      this.#again = undefined;
      for (const each of this.#inMemory.values()) each.serve();
    }, newcomerMs);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#again);
    for (const each of [...this.#inMemory.values(), this.computing]) each.close();
  }

  get parkAfterMs(): number {
    return this.#options.parkAfterMs;
  }

  /** Counts a program that gives up its place in memory. Returns false if too many have done so. */
  leave(): boolean {
    if (this.#withoutPlace >= maxProgramsWithoutPlace) return false;
    this.#withoutPlace += 1;
    return true;
  }

  comeBack(): void {
    this.#withoutPlace -= 1;
  }
}

/** The place of one program. */
export class ProgramPlace implements Clock, PlaceHolder {
  readonly #places: Places;
  readonly #turn: Turn;
  /** Its places in memory, and its places within further limits. */
  readonly #held: readonly Semaphore[];
  /** The memory that the program has taken, once it has ended. */
  usedBytes: number | undefined;
  /** See `RunMessage`. */
  #state: Int32Array | undefined;
  #park: () => void = () => {};
  readonly #ending = new AbortController();
  #computes = false;
  #holds = 0;
  #hasLeft = false;
  #timer: Timer | undefined;

  constructor(places: Places, turn: Turn, held: readonly Semaphore[]) {
    this.#places = places;
    this.#turn = turn;
    this.#held = held;
  }

  /** `state` is the program's `state`. `park` is called after the program has waited for a person for a while. */
  begin(state: Int32Array, park: () => void): void {
    this.#state = state;
    this.#park = park;
  }

  get owner(): string {
    return this.#turn.owner ?? "";
  }

  /**
   * Takes a place to compute. Undefined if the program has one at once. Otherwise, resolves with true when it has one, and with false if
   * `signal` or the end of the program ended the wait.
   */
  compute(signal: AbortSignal | undefined = this.#ending.signal): Promise<boolean> | undefined {
    const turn = this.#places.computing.acquire(this, signal, this.#turn);
    if (!turn) this.#mayCompute();
    return turn?.then((acquired) => {
      if (acquired) this.#mayCompute();
      return acquired;
    });
  }

  #mayCompute(): void {
    this.#computes = true;
    if (this.#state) Atomics.store(this.#state, stateOfPlace, computing.runs);
    if (this.#ending.signal.aborted) this.#stopComputing();
  }

  giveUpIfIdle(): void {
    if (!this.#state || !this.#computes) return;
    const { waits, lacksPlace } = computing;
    if (Atomics.compareExchange(this.#state, stateOfPlace, waits, lacksPlace) === waits) this.#stopComputing();
  }

  #stopComputing(): void {
    if (!this.#computes) return;
    this.#computes = false;
    this.#places.computing.release(this);
  }

  /** Call this when the program begins to wait for a person. */
  hold(): void {
    this.#holds += 1;
    if (this.#holds > 1 || this.#ending.signal.aborted) return;
    this.parkLater();
    if (!this.#places.leave()) return;
    this.#hasLeft = true;
    for (const each of this.#held) each.release(this.#turn.owner);
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds === 0) this.#comeBack();
  }

  /** Parks the program after a while, if it still waits. */
  parkLater(): void {
    clearTimeout(this.#timer);
    if (this.#holds > 0 && !this.#ending.signal.aborted) this.#timer = setTimeout(this.#park, this.#places.parkAfterMs);
  }

  end(): void {
    this.#ending.abort();
    this.#comeBack();
    this.#stopComputing();
  }

  #comeBack(): void {
    clearTimeout(this.#timer);
    if (!this.#hasLeft) return;
    this.#hasLeft = false;
    this.#places.comeBack();
    for (const each of this.#held) each.take(this.#turn.owner);
  }
}

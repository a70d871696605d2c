/**
 * Remembered states of an engine's memory. All workers of a process share one copy of the memory in which the guest is ready. Each worker
 * keeps only the differences in its own memory, because a full copy would take megabytes for each waiting program.
 */
import { changedRuns, type Run, restoreRuns, writeRuns } from "./memory-runs.ts";

/** Memory is saved and compared in pages of this size. */
export const pageBytes = 32_768;

/** A page of the system. A page that stays untouched takes no memory. */
const systemPageBytes = 4_096;

const zeros = new Uint8Array(pageBytes);

/** The memory of an engine in which the guest is ready. */
export interface ReadyMemory {
  /** The `allocationMark` of an engine that it fits. */
  mark: number;
  endAddress: number;
  statics: SharedPart;
  heap: SharedPart;
}

/** A copy of a part of the memory, which all threads can read. */
export interface SharedPart {
  /** The address of the part. */
  from: number;
  copy: Uint8Array;
  /** The system's pages that are not zero, by their places in the copy. */
  filled: Run[];
}

/** Copies the memory between two addresses, which are multiples of `pageBytes`. */
export function sharedPart(memory: Uint8Array, from: number, to: number): SharedPart {
  const copy = new Uint8Array(new SharedArrayBuffer(to - from));
  const filled: Run[] = [];
  for (let start = 0; start < copy.length; start += systemPageBytes) {
    const page = memory.subarray(from + start, from + start + systemPageBytes);
    if (isZero(page)) continue;
    copy.set(page, start);
    const last = filled.at(-1);
    if (last && last.start + last.length === start) last.length += systemPageBytes;
    else filled.push({ start, length: systemPageBytes });
  }
  return { from, copy, filled };
}

/** Makes the memory like the copy. Pages that are zero in both stay untouched. */
export function restorePart(memory: Uint8Array, { from, copy, filled }: SharedPart): void {
  let done = 0;
  for (const { start, length } of filled) {
    clearChanged(memory, from + done, from + start);
    done = start + length;
    memory.set(copy.subarray(start, done), from + start);
  }
  clearChanged(memory, from + done, from + copy.length);
}

function clearChanged(memory: Uint8Array, from: number, to: number): void {
  for (let start = from; start < to; start += pageBytes) {
    const page = memory.subarray(start, Math.min(start + pageBytes, to));
    if (!isZero(page)) page.fill(0);
  }
}

/** At most `pageBytes`. */
function isZero(page: Uint8Array): boolean {
  return Buffer.compare(page, zeros.subarray(0, page.length)) === 0;
}

/** The state of a part of the memory: a shared copy, and the differences from it in this worker. */
export class Remembered {
  readonly #part: SharedPart;
  /** The differences by the address of their page, as runs from the beginning of the page. */
  readonly #own = new Map<number, Uint8Array>();

  /**
   * Remembers the memory from the beginning of `part` to `to`, which may be beyond the part. The memory should differ little from the part.
   */
  constructor(memory: Uint8Array, part: SharedPart, to: number) {
    this.#part = part;
    for (let address = part.from; address < to; address += pageBytes) {
      const page = memory.subarray(address, address + pageBytes);
      const shared = this.#shared(address);
      if (Buffer.compare(page, shared) === 0) continue;
      const runs = changedRuns(shared, page);
      this.#own.set(address, writeRuns([runs.length], runs, page));
    }
  }

  /** Memory from this address on must be zero before `restore`. */
  get zerosFrom(): number {
    return this.#part.from + this.#part.copy.length;
  }

  restore(memory: Uint8Array): void {
    restorePart(memory, this.#part);
    for (const [address, runs] of this.#own) restoreRuns(runs, 1, memory.subarray(address));
  }

  page(address: number): Uint8Array {
    const own = this.#own.get(address);
    const shared = this.#shared(address);
    if (!own) return shared;
    const page = shared.slice();
    restoreRuns(own, 1, page);
    return page;
  }

  /** Memory beyond the part was zero. */
  #shared(address: number): Uint8Array {
    const start = address - this.#part.from;
    return start < this.#part.copy.length ? this.#part.copy.subarray(start, start + pageBytes) : zeros;
  }
}

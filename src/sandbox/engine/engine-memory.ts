/** The memory of an engine: it begins small, and grows up to the memory limit of the program. */
import { firstMemoryBytes } from "../limits.ts";

/** A page of WebAssembly's memories. */
const wasmPageBytes = 65_536;

/**
 * The engine asks for a fifth more than it needs, and gets nothing if that is more than the limit. So a memory that would grow beyond
 * this share of its limit gets all of it.
 */
const lastGrowthShare = 0.8;

/** The JavaScript engine of this process has no memory for another program. */
export class NoMemoryError extends Error {}

export interface MemoryOptions {
  /** The size in bytes at first. */
  firstBytes?: number | undefined;
  /** Whether there is memory for more. */
  mayGrow?: () => boolean;
}

/**
 * A shared memory, because that grows in place: its addresses stay valid, and nothing is copied. The engine of Bun counts the present size of
 * each memory and limits their sum. Untouched pages cost nothing else.
 */
export class EngineMemory {
  readonly wasm: WebAssembly.Memory;
  readonly maxBytes: number;
  /** The whole memory. Growing replaces both views, and the old ones end where the memory ended. */
  bytes: Uint8Array;
  view: DataView;
  /** How large it can be: `maxBytes`, or the present size if this process had no memory when the program last needed more. */
  limitBytes: number;

  /** Throws NoMemoryError if this process has no memory of `firstBytes`. */
  constructor(
    maxBytes: number,
    { firstBytes = Math.min(maxBytes, firstMemoryBytes), mayGrow = () => true }: MemoryOptions = {},
  ) {
    const maximum = Math.ceil(maxBytes / wasmPageBytes);
    this.maxBytes = maximum * wasmPageBytes;
    this.limitBytes = this.maxBytes;
    try {
      this.wasm = new WebAssembly.Memory({ initial: Math.ceil(firstBytes / wasmPageBytes), maximum, shared: true });
    } catch (error) {
      throw new NoMemoryError("there is no memory for another engine", { cause: error });
    }
    this.bytes = new Uint8Array(this.wasm.buffer);
    this.view = new DataView(this.wasm.buffer);
    const grow = this.wasm.grow.bind(this.wasm);
    this.wasm.grow = (pages) =>
      this.#grow(pages, (more) => {
        if (!mayGrow()) throw new RangeError("too much memory is taken");
        grow(more);
      });
  }

  /** The engine calls this when a program needs more memory. The program runs out of memory if it throws. */
  #grow(pages: number, grow: (pages: number) => void): number {
    const before = this.bytes.length / wasmPageBytes;
    const maximum = this.maxBytes / wasmPageBytes;
    const wanted = before + pages;
    if (wanted > maximum) throw new RangeError("the memory is at its limit");
    try {
      grow((wanted > maximum * lastGrowthShare ? maximum : wanted) - before);
      this.limitBytes = this.maxBytes;
    } catch (error) {
      this.limitBytes = this.bytes.length;
      throw error;
    }
    this.bytes = new Uint8Array(this.wasm.buffer);
    this.view = new DataView(this.wasm.buffer);
    return before;
  }
}

/**
 * The image of a waiting program: its memory and the host's state for it, in pages. An image contains only the pages that have changed
 * since the last one, so that a program with a large memory can be saved before each of its calls. It is plain data, which is transferred
 * between threads without copies.
 */

import { megabyte } from "../base/units.ts";

/** Larger parts of the host's state are split in an image. */
const imagePartBytes = megabyte;

/** Bytes of one batch of pages of an image. Batches are written one at a time, so that other writers get a turn between two of them. */
const imageBatchBytes = megabyte;

/** The pages of an image, in columns. */
export interface Manifest {
  /** The number of the image. Each image of a program has a higher one than those before it. */
  version: number;
  /** The random seed of the page hashes, so that no program can produce two pages with the same hash. */
  seed: bigint;
  /** Memory pages by their address; the parts of the host's state below zero. */
  pages: Float64Array;
  /** The version of the image in which each page was stored. 0 for a page that equals the page of a fresh engine and has no bytes. */
  versions: Float64Array;
  /** Compressed bytes. */
  sizes: Float64Array;
  hashes: BigUint64Array;
}

/** Compressed pages, one after the other. */
export interface PageBatch {
  pages: Float64Array;
  sizes: Float64Array;
  bytes: ArrayBuffer;
}

export interface ProgramImage {
  manifest: Manifest;
  /** The pages of this version, or all pages. */
  batches: PageBatch[];
  isWhole: boolean;
  /** The program's own time in milliseconds. */
  now: number;
  /** The time of saving in milliseconds since 1970. */
  at: number;
  /** Whether it waits for a timer that fires late, and for nothing else. */
  isAsleep: boolean;
}

interface PageEntry {
  version: number;
  size: number;
  hash: bigint;
}

/** The pages of the images of one program, as its worker remembers them. */
export class Pages {
  #entries = new Map<number, PageEntry>();
  readonly #seed: bigint;
  #version = 0;

  /** `last` is the image that the program was loaded from. */
  constructor(last?: Manifest) {
    this.#seed = last?.seed ?? crypto.getRandomValues(new BigUint64Array(1))[0]!;
    if (!last) return;
    this.#version = last.version;
    for (const [at, page] of last.pages.entries()) {
      this.#entries.set(page, { version: last.versions[at]!, size: last.sizes[at]!, hash: last.hashes[at]! });
    }
  }

  /** Begins the next image. A whole image has all pages: use it if earlier images are not stored. */
  next(isWhole: boolean): NextImage {
    this.#version += 1;
    const before = isWhole ? new Map<number, PageEntry>() : this.#entries;
    this.#entries = new Map();
    return new NextImage(before, this.#entries, this.#version, this.#seed);
  }
}

export class NextImage {
  readonly #before: ReadonlyMap<number, PageEntry>;
  readonly #entries: Map<number, PageEntry>;
  readonly #version: number;
  readonly #seed: bigint;
  readonly #batches: PageBatch[] = [];
  #open: { page: number; bytes: Uint8Array }[] = [];
  #openBytes = 0;

  constructor(before: ReadonlyMap<number, PageEntry>, entries: Map<number, PageEntry>, version: number, seed: bigint) {
    this.#before = before;
    this.#entries = entries;
    this.#version = version;
    this.#seed = seed;
  }

  /** Adds a page. If the page has changed, `encode` returns its stored form, or undefined if it equals the page of a fresh engine. */
  add(page: number, content: Uint8Array, encode: () => Uint8Array | undefined): void {
    const hash = Bun.hash.xxHash64(content, this.#seed);
    const known = this.#before.get(page);
    if (known?.hash === hash) {
      this.#entries.set(page, known);
      return;
    }
    const encoded = encode();
    if (!encoded) {
      this.#entries.set(page, { version: 0, size: 0, hash });
      return;
    }
    const bytes = Bun.zstdCompressSync(encoded, { level: 1 });
    this.#entries.set(page, { version: this.#version, size: bytes.length, hash });
    if (this.#openBytes + bytes.length > imageBatchBytes) this.#close();
    this.#open.push({ page, bytes });
    this.#openBytes += bytes.length;
  }

  /** Adds a part of the host's state. `part` is less than 8. */
  addPart(part: number, content: Uint8Array): void {
    for (let slice = 0; slice === 0 || slice * imagePartBytes < content.length; slice++) {
      const bytes = content.subarray(slice * imagePartBytes, (slice + 1) * imagePartBytes);
      this.add(-1 - (slice * 8 + part), bytes, () => bytes);
    }
  }

  end(): Pick<ProgramImage, "manifest" | "batches"> {
    this.#close();
    const entries = [...this.#entries.values()];
    const manifest = {
      version: this.#version,
      seed: this.#seed,
      pages: Float64Array.from(this.#entries.keys()),
      versions: Float64Array.from(entries, ({ version }) => version),
      sizes: Float64Array.from(entries, ({ size }) => size),
      hashes: BigUint64Array.from(entries, ({ hash }) => hash),
    };
    return { manifest, batches: this.#batches };
  }

  #close(): void {
    if (this.#open.length === 0) return;
    const bytes = new Uint8Array(this.#openBytes);
    let at = 0;
    for (const each of this.#open) {
      bytes.set(each.bytes, at);
      at += each.bytes.length;
    }
    this.#batches.push({
      pages: Float64Array.from(this.#open, ({ page }) => page),
      sizes: Float64Array.from(this.#open, (each) => each.bytes.length),
      bytes: bytes.buffer,
    });
    this.#open = [];
    this.#openBytes = 0;
  }
}

/** Decompresses the pages of batches, one at a time. */
export function* pagesOf(batches: readonly PageBatch[]): Generator<{ page: number; content: Uint8Array }> {
  for (const { pages, sizes, bytes } of batches) {
    let at = 0;
    for (const [index, page] of pages.entries()) {
      const size = sizes[index]!;
      yield { page, content: Bun.zstdDecompressSync(new Uint8Array(bytes, at, size)) };
      at += size;
    }
  }
}

/** The parts of the host's state among the pages, by their number. */
export class StateParts {
  readonly #slices = new Map<number, Uint8Array[]>();

  add(page: number, content: Uint8Array): void {
    const [part, slice] = [(-1 - page) % 8, Math.floor((-1 - page) / 8)];
    this.#slices.getOrInsertComputed(part, () => [])[slice] = content;
  }

  get(part: number): Uint8Array {
    return Buffer.concat(this.#slices.get(part) ?? []);
  }
}

/** Bytes of all pages together. */
export function bytesOf({ sizes }: Pick<Manifest, "sizes">): number {
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The buffers of an image, which are moved to another thread instead of copied. */
export function buffersOf({ batches }: Pick<ProgramImage, "batches">): ArrayBuffer[] {
  return batches.map(({ bytes }) => bytes);
}

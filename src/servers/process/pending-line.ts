/** Collects the chunks of one line. Long lines are joined block by block, so that no step takes long. */

import { byteOrderMark } from "../../base/byte-order-mark.ts";
import { megabyte } from "../../base/units.ts";
import { release } from "../decoding/release.ts";

/** Chunks of a line are joined in blocks of this size, so that no step takes long. */
const joinedBlockBytes = megabyte;

const space = 32;
const markBytes: readonly number[] = byteOrderMark;

export class PendingLine {
  /** Blocks of joined chunks. */
  #blocks: Uint8Array<ArrayBuffer>[] = [];
  /** Chunks after the last block, as they arrived. */
  #chunks: Uint8Array[] = [];
  /** Those among them whose memory nobody else uses. */
  readonly #own = new Set<Uint8Array>();
  #chunkBytes = 0;
  #blocksBytes = 0;

  /** In bytes. */
  get size(): number {
    return this.#blocksBytes + this.#chunkBytes;
  }

  /** Keeps the chunk without a copy, so its bytes must not change. The memory of an own chunk is freed as soon as it is joined. */
  add(chunk: Uint8Array, isOwn = false): void {
    this.#chunks.push(chunk);
    if (isOwn && chunk.length === chunk.buffer.byteLength) this.#own.add(chunk);
    this.#chunkBytes += chunk.length;
    if (this.#chunkBytes >= joinedBlockBytes) this.#join();
  }

  /** The first byte that is neither white space nor of a byte order mark. */
  first(): number | undefined {
    for (const part of [...this.#blocks, ...this.#chunks]) {
      const byte = part.find((each) => each > space && !markBytes.includes(each));
      if (byte !== undefined) return byte;
    }
    return undefined;
  }

  /** A copy of the first bytes, up to the end of their block. */
  beginning(maxBytes: number): Uint8Array {
    const [first] = [...this.#blocks, ...this.#chunks];
    return first?.slice(0, maxBytes) ?? new Uint8Array();
  }

  /** The whole line. */
  bytes(): Uint8Array {
    const parts = [...this.#blocks, ...this.#chunks];
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  /** The line in parts that may be moved to another thread. */
  take(): Uint8Array<ArrayBuffer>[] {
    this.#join();
    const blocks = this.#blocks;
    this.clear();
    return blocks;
  }

  clear(): void {
    this.#blocks = [];
    this.#chunks = [];
    this.#own.clear();
    this.#chunkBytes = 0;
    this.#blocksBytes = 0;
  }

  #join(): void {
    if (this.#chunkBytes === 0) return;
    const block = new Uint8Array(this.#chunkBytes);
    let at = 0;
    for (const chunk of this.#chunks) {
      block.set(chunk, at);
      at += chunk.length;
      if (this.#own.has(chunk)) release(chunk);
    }
    this.#blocks.push(block);
    this.#blocksBytes += block.length;
    this.#chunks = [];
    this.#own.clear();
    this.#chunkBytes = 0;
  }
}

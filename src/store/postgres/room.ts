/** The room that stored programs may take together. */
import { storeIsFull } from "../execution-table.ts";
import type { Connections } from "./connections.ts";

/** Time for which the size of the stored pages is remembered. */
const roomKnownMs = 3_000;

/** Sizes of values are known without reading them. */
const sum = `SELECT ((SELECT coalesce(sum(octet_length(bytes)), 0) FROM claudikins.pages)
  + (SELECT coalesce(sum(octet_length(message) + coalesce(octet_length(message_text), 0) + coalesce(octet_length(answer_text), 0)), 0) FROM claudikins.calls)
  + (SELECT coalesce(sum(octet_length(request) + coalesce(octet_length(outcome), 0) + coalesce(octet_length(value), 0)), 0) FROM claudikins.executions)
  )::double precision AS bytes`;

export class Room {
  readonly #connections: Connections;
  #bytes = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Throws FILE_NOT_WRITABLE if as much is stored, and otherwise expects `bytes` more. */
  async require(roomBytes: number, bytes: number): Promise<void> {
    if (!(await this.has(roomBytes, bytes))) throw storeIsFull(roomBytes);
  }

  /** What others have written lately may be missing. Looks again before it says no. */
  async has(roomBytes: number, bytes: number): Promise<boolean> {
    const isOld = performance.now() > this.#lookedAt + roomKnownMs;
    if (isOld || this.#bytes >= roomBytes) await this.#look();
    if (this.#bytes >= roomBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  async #look(): Promise<void> {
    const row = await this.#connections.each((querying) => querying.get<{ bytes: number }>(sum));
    this.#bytes = row?.bytes ?? 0;
    this.#lookedAt = performance.now();
  }
}

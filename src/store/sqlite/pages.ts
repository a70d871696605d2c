/**
 * The pages of stored executions: the images of their programs, what they have recorded, and large answers. All of it may be large, so it
 * is written and deleted in small steps, between which other processes can write.
 */
import type { Database } from "bun:sqlite";
import { type Batch, batchOf, firstRecord, type PageRow, pageOfRecord } from "../jobs.ts";
import { answerSliceBytes } from "../limits.ts";

/** Rows that are deleted in one step. Deleting overwrites them. */
const maxDeletedAtOnce = 16;

/** The numbers of the slices of large answers begin here. */
const firstAnswer = 2 ** 32;
const slicesOfAnswer = 4_096;

export const pageOfAnswer = (call: number, slice: number): number => firstAnswer + call * slicesOfAnswer + slice;

export class PageStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Bytes of everything in the database. */
  get usedBytes(): number {
    const of = (name: string) => Object.values(this.#database.query<object, []>(`PRAGMA ${name}`).get() ?? {})[0] ?? 0;
    return (of("page_count") - of("freelist_count")) * of("page_size");
  }

  write(execution: string, page: number, version: number, bytes: Uint8Array): void {
    this.#database
      .query("INSERT OR REPLACE INTO pages (execution, page, version, bytes) VALUES (?, ?, ?, ?)")
      .run(execution, page, version, bytes);
  }

  writeBatch(execution: string, version: number, { pages, sizes, bytes }: Batch): void {
    let at = 0;
    for (const [index, page] of pages.entries()) {
      const size = sizes[index]!;
      this.write(execution, page, version, new Uint8Array(bytes, at, size));
      at += size;
    }
  }

  read(execution: string, page: number, version: number): Uint8Array | undefined {
    return this.#database
      .query<{ bytes: Uint8Array }, [string, number, number]>(
        "SELECT bytes FROM pages WHERE execution = ? AND page = ? AND version = ?",
      )
      .get(execution, page, version)?.bytes;
  }

  /** Reads pages into batches, whose buffers are of limited size. Throws if one is missing. */
  readBatches(execution: string, { pages, versions }: { pages: Float64Array; versions: Float64Array }): Batch[] {
    const batches: Batch[] = [];
    let open: PageRow[] = [];
    let openBytes = 0;
    const close = () => {
      if (open.length > 0) batches.push(batchOf(open));
      [open, openBytes] = [[], 0];
    };
    for (const [index, page] of pages.entries()) {
      const version = versions[index]!;
      if (version === 0) continue;
      const bytes = this.read(execution, page, version);
      if (!bytes) throw new Error("a page of the program is missing");
      open.push({ page, bytes });
      openBytes += bytes.length;
      if (openBytes > answerSliceBytes) close();
    }
    close();
    return batches;
  }

  answer(execution: string, call: number, slices: number): Buffer {
    const all = Array.from({ length: slices }, (_, slice) => this.read(execution, pageOfAnswer(call, slice), 1));
    if (all.some((bytes) => !bytes)) throw new Error("a part of an answer is missing");
    return Buffer.concat(all as Uint8Array[]);
  }

  has(execution: string): boolean {
    return this.#database.query("SELECT 1 FROM pages WHERE execution = ? LIMIT 1").get(execution) !== null;
  }

  /** Each step deletes some earlier versions of pages of an image: of these, or of all. */
  *deleteOlder(execution: string, version: number, pages: Float64Array | undefined): Generator<void> {
    if (!pages) {
      const where = `page < ${firstRecord} AND version < ?`;
      yield* this.#deleteWhere(execution, where, version);
      return;
    }
    const query = this.#database.query("DELETE FROM pages WHERE execution = ? AND page = ? AND version < ?");
    for (const [index, page] of pages.entries()) {
      query.run(execution, page, version);
      if (index % maxDeletedAtOnce === maxDeletedAtOnce - 1) yield;
    }
  }

  /** Each step deletes some pages that a program does not need: pages of its image with another version, and further records. */
  *deleteUnneeded(execution: string, versions: ReadonlyMap<number, number>, records: number): Generator<void> {
    const rows = this.#database
      .query<{ page: number; version: number }, [string, number]>(
        "SELECT page, version FROM pages WHERE execution = ? AND page < ?",
      )
      .all(execution, firstAnswer);
    const isNeeded = (page: number, version: number) =>
      page < firstRecord ? versions.get(page) === version : page < pageOfRecord(records);
    const query = this.#database.query("DELETE FROM pages WHERE execution = ? AND page = ? AND version = ?");
    let deleted = 0;
    for (const { page, version } of rows) {
      if (isNeeded(page, version)) continue;
      query.run(execution, page, version);
      deleted += 1;
      if (deleted % maxDeletedAtOnce === 0) yield;
    }
  }

  /** Each step deletes some of the large answers to calls that are not open any more. */
  *deleteAnswersBut(execution: string, open: readonly number[]): Generator<void> {
    const pages = this.#database
      .query<{ page: number }, [string]>(`SELECT page FROM pages WHERE execution = ? AND page >= ${firstAnswer}`)
      .all(execution);
    const answered = new Set(pages.map(({ page }) => Math.floor((page - firstAnswer) / slicesOfAnswer)));
    for (const call of answered) {
      if (open.includes(call)) continue;
      yield* this.#deleteWhere(execution, "page >= ? AND page < ?", pageOfAnswer(call, 0), pageOfAnswer(call + 1, 0));
    }
  }

  /** Each step deletes some pages of an image and its records, or of everything. */
  *deleteAll(execution: string, what: "program" | "everything"): Generator<void> {
    yield* this.#deleteWhere(execution, what === "program" ? `page < ${firstAnswer}` : "true");
  }

  *#deleteWhere(execution: string, where: string, ...values: number[]): Generator<void> {
    const query = this.#database.query<unknown, (string | number)[]>(
      `DELETE FROM pages WHERE rowid IN
         (SELECT rowid FROM pages WHERE execution = ? AND ${where} LIMIT ${maxDeletedAtOnce})`,
    );
    while (query.run(execution, ...values).changes > 0) yield;
  }

  /** Executions that have pages but no row, or have ended, with the process that may be saving them for the first time. */
  orphans(): { execution: string; owner: string | null }[] {
    return this.#database
      .query<{ execution: string; owner: string | null }, []>(
        `SELECT DISTINCT pages.execution, saving.owner FROM pages LEFT JOIN saving USING (execution)
         WHERE NOT EXISTS (SELECT 1 FROM executions WHERE id = pages.execution AND state = 'open')`,
      )
      .all();
  }
}

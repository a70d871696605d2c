/** The lines of the audit log, as rows that are only added: triggers refuse every other change. */
import type { Database } from "bun:sqlite";
import { chained, cutEndOf, logNotWritable } from "../audit/chain.ts";
import type { AuditEvent, Decider } from "../audit/event.ts";
import type { CutEnd, StoredLine } from "../audit/log.ts";
import { maxCutLines } from "../limits.ts";
import { auditIsNotCut } from "./database.ts";

export class AuditTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  add(line: string, sha256: string): void {
    this.#database.query("INSERT INTO audit (line, sha256) VALUES (?, ?)").run(line, sha256);
  }

  /** The last line that is there. */
  last(): StoredLine | undefined {
    return (
      this.#database.query<StoredLine, []>("SELECT place, line, sha256 FROM audit ORDER BY place DESC LIMIT 1").get() ??
      undefined
    );
  }

  /** The place of the last line that was ever written. SQLite keeps it apart from the lines. */
  get lastPlace(): number {
    const query = this.#database.query<{ seq: number }, []>("SELECT seq FROM sqlite_sequence WHERE name = 'audit'");
    return query.get()?.seq ?? 0;
  }

  oldest(count: number): StoredLine[] {
    return this.#database
      .query<StoredLine, [number]>("SELECT place, line, sha256 FROM audit ORDER BY place LIMIT ?")
      .all(count);
  }

  /** Removes the lines up to a place. Without a transaction, others could remove lines meanwhile. */
  cut(place: number): void {
    this.#database.run("DROP TRIGGER auditIsNotCut");
    this.#database.query("DELETE FROM audit WHERE place <= ?").run(place);
    this.#database.run(auditIsNotCut);
  }

  /** All lines, read one by one. */
  lines(order: "oldest first" | "newest first" = "oldest first"): IterableIterator<StoredLine> {
    const direction = order === "oldest first" ? "ASC" : "DESC";
    return this.#database
      .query<StoredLine, []>(`SELECT place, line, sha256 FROM audit ORDER BY place ${direction}`)
      .iterate();
  }
}

/** Removes the oldest lines, as a part of the caller's transaction. Undefined if none is. Throws FILE_NOT_WRITABLE. */
export function cutLog(database: Database, before: number, by: Decider, why?: string): CutEnd | undefined {
  const table = new AuditTable(database);
  const end = cutEndOf(table.oldest(maxCutLines), before, why);
  if (!end) return undefined;
  addEvents(database, [end.event], by);
  table.cut(end.place);
  return end;
}

/** Adds events to the log, one line for each, as a part of the caller's transaction. Throws FILE_NOT_WRITABLE. */
export function addEvents(
  database: Database,
  events: readonly AuditEvent[],
  by: Decider,
  at: number = Date.now(),
): void {
  if (events.length === 0) return;
  try {
    const table = new AuditTable(database);
    const end = { newest: table.lines("newest first"), lastPlace: table.lastPlace };
    for (const { line, sha256 } of chained(events, by, at, end)) table.add(line, sha256);
  } catch (cause) {
    throw logNotWritable(cause);
  }
}

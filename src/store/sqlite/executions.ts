/**
 * Executions that outlive their process, and the journal of their calls. A call leaves only after the journal says so: a process that
 * takes an execution over knows which calls may have been made.
 */
import type { Database } from "bun:sqlite";
import type { BriefExecution, CallPlace, StartedExecution, StoredExecution, WaitingPrograms } from "../executions.ts";

/** A call as a row. */
export interface StoredCall {
  call: number;
  /** JSON. */
  message: string;
  state: CallPlace["state"];
  /** Whether it may be sent again. */
  repeatable: boolean;
  /** JSON: the answer, or the number of slices of a large one. */
  answer: string | null;
}

interface SavedProgram {
  /** What its pages are, see pages.ts. */
  program: Uint8Array | undefined;
  unsaved: string | undefined;
  wakeAt: number | undefined;
  engine: string;
  /** The calls that the program waits for. Default: `calls`. */
  open?: readonly number[];
  /** The calls that are not stored yet. Stored calls stay as they are. */
  calls: readonly StoredCall[];
}

/** Without the request, which has the whole source of the program. */
const briefColumns =
  "id, config, state, owner, startedAt, changedAt, wakeAt, isCancelled, isWanted, engine, program IS NOT NULL AS isSaved, unsaved, ok AS isOk, " +
  "CASE WHEN ok = 0 THEN substr(outcome, 1, 60) END AS ending";
const columns = `${briefColumns}, request`;

type Flag = "isCancelled" | "isWanted" | "isSaved" | "isOk";
type Flagged<Execution> = Omit<Execution, Flag | "reason"> & Record<Flag, number> & { ending: string | null };
type ExecutionRow = Flagged<StoredExecution>;

export class ExecutionStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Makes all changes of `work`, or none. */
  atomically(work: () => void): void {
    this.#database.transaction(work).immediate();
  }

  add(execution: Pick<StoredExecution, "id" | "config" | "startedAt" | "request"> & { owner: string }): void {
    const { id, config, owner, startedAt, request } = execution;
    this.#run(
      `INSERT INTO executions (id, config, state, owner, startedAt, changedAt, request) VALUES (?, ?, 'open', ?, ?, ?, ?)`,
      [id, config, owner, startedAt, Date.now(), request],
    );
  }

  /** Replaces the program, and the calls that it waits for. */
  save(
    id: string,
    { program, unsaved, wakeAt, engine, calls, open = calls.map(({ call }) => call) }: SavedProgram,
  ): void {
    this.#database
      .transaction(() => {
        this.#run(
          "UPDATE executions SET program = ?, unsaved = ?, wakeAt = ?, engine = ?, changedAt = ? WHERE id = ?",
          [program ?? null, unsaved ?? null, wakeAt ?? null, engine, Date.now(), id],
        );
        const isOpen = new Set(open);
        for (const call of this.callNumbers(id)) {
          if (!isOpen.has(call)) this.#run("DELETE FROM calls WHERE execution = ? AND call = ?", [id, call]);
        }
        for (const { call, message, state, repeatable, answer } of calls) {
          this.#run(
            `INSERT INTO calls (execution, call, message, state, repeatable, answer) VALUES (?, ?, ?, ?, ?, ?)
             ON CONFLICT DO NOTHING`,
            [id, call, message, state, repeatable ? 1 : 0, answer],
          );
        }
      })
      .immediate();
  }

  /** Call this before the call leaves. */
  sent(id: string, call: number, repeatable: boolean): void {
    this.#run("UPDATE calls SET state = 'sent', repeatable = ? WHERE execution = ? AND call = ?", [
      repeatable ? 1 : 0,
      id,
      call,
    ]);
  }

  /** `answer` is JSON. */
  answered(id: string, call: number, answer: string): void {
    this.#run("UPDATE calls SET state = 'answered', answer = ? WHERE execution = ? AND call = ?", [answer, id, call]);
  }

  /** `outcome` is JSON. */
  ended(id: string, outcome: string, isOk: boolean): void {
    this.#database
      .transaction(() => {
        this.#run("DELETE FROM calls WHERE execution = ?", [id]);
        this.#run(
          `UPDATE executions SET state = 'ended', owner = NULL, program = NULL, unsaved = NULL, wakeAt = NULL, outcome = ?, ok = ?,
             changedAt = ?
           WHERE id = ?`,
          [outcome, isOk ? 1 : 0, Date.now(), id],
        );
      })
      .immediate();
  }

  /** Marks an execution whose pages are being deleted. */
  forget(id: string): void {
    this.#run("UPDATE executions SET program = NULL, unsaved = 'it is being removed' WHERE id = ? AND state = 'open'", [
      id,
    ]);
  }

  remove(id: string): void {
    this.#run("DELETE FROM executions WHERE id = ?", [id]);
  }

  get(id: string): StoredExecution | undefined {
    const row = this.#database.query<ExecutionRow, [string]>(`SELECT ${columns} FROM executions WHERE id = ?`).get(id);
    return row ? executionOf(row) : undefined;
  }

  /** The outcome of an ended one, as JSON. */
  outcome(id: string): string | undefined {
    const row = this.#database
      .query<{ outcome: string | null }, [string]>("SELECT outcome FROM executions WHERE id = ?")
      .get(id);
    return row?.outcome ?? undefined;
  }

  /** The executions that have not ended and whose program is not lost. */
  open(config: string | null): StoredExecution[] {
    return this.#database
      .query<ExecutionRow, [string | null]>(
        `SELECT ${columns} FROM executions WHERE config IS ? AND state = 'open' AND unsaved IS NULL`,
      )
      .all(config)
      .map(executionOf);
  }

  /** The executions of all configs by clients whose names begin like this: those that have not ended, or all. */
  startedBy(client: string, which: "open" | "all" = "open"): StartedExecution[] {
    const isOpen = which === "open" ? "state = 'open' AND" : "";
    return this.#database
      .query<StartedExecution, [number, string]>(
        `SELECT id, config, owner, startedAt, changedAt FROM executions
         WHERE ${isOpen} substr(json_extract(request, '$.starter.client'), 1, ?) = ?`,
      )
      .all(client.length, client);
  }

  /** The saved programs of all configs that have not ended. */
  waiting(): WaitingPrograms[] {
    return this.#database
      .query<Omit<WaitingPrograms, "isWanted"> & { isWanted: number }, []>(
        `SELECT config, engine, isWanted, count(*) AS count FROM executions
         WHERE state = 'open' AND program IS NOT NULL GROUP BY config, engine, isWanted`,
      )
      .all()
      .map((row) => ({ ...row, isWanted: row.isWanted === 1 }));
  }

  /** Newest first. Without a config, the executions of all configs. */
  list(config?: string | null): StoredExecution[] {
    const where = config === undefined ? "" : "WHERE config IS ?";
    return this.#database
      .query<ExecutionRow, (string | null)[]>(`SELECT ${columns} FROM executions ${where} ORDER BY startedAt DESC`)
      .all(...(config === undefined ? [] : [config]))
      .map(executionOf);
  }

  /** Newest first, at most `count`. */
  newest(config: string | null, count: number): BriefExecution[] {
    return this.#database
      .query<Flagged<BriefExecution>, [string | null, number]>(
        `SELECT ${briefColumns} FROM executions WHERE config IS ? ORDER BY startedAt DESC LIMIT ?`,
      )
      .all(config, count)
      .map(executionOf);
  }

  /** What the pages of its program are. */
  program(id: string): Uint8Array | undefined {
    const row = this.#database
      .query<{ program: Uint8Array | null }, [string]>("SELECT program FROM executions WHERE id = ?")
      .get(id);
    return row?.program ?? undefined;
  }

  /** The calls without their texts, which may be large. */
  callStates(id: string): { call: number; isSent: boolean; repeatable: boolean; isAnswered: boolean }[] {
    return this.#database
      .query<{ call: number; state: string; repeatable: number; isAnswered: number }, [string]>(
        "SELECT call, state, repeatable, answer IS NOT NULL AS isAnswered FROM calls WHERE execution = ? ORDER BY call",
      )
      .all(id)
      .map(({ call, state, repeatable, isAnswered }) => {
        return { call, isSent: state === "sent", repeatable: repeatable === 1, isAnswered: isAnswered === 1 };
      });
  }

  callPlaces(id: string): CallPlace[] {
    const of = (name: string) => `json_extract(message, '$.${name}') AS "${name}"`;
    return this.#database
      .query<CallPlace, [string]>(
        `SELECT call, state, ${["namespace", "group", "name", "line"].map(of).join(", ")} FROM calls WHERE execution = ? ORDER BY call`,
      )
      .all(id);
  }

  /** JSON. */
  message(id: string, call: number): string | undefined {
    return this.#text(id, call, "message");
  }

  /** JSON: the answer, or the number of slices of a large one. */
  answer(id: string, call: number): string | undefined {
    return this.#text(id, call, "answer");
  }

  #text(id: string, call: number, column: "message" | "answer"): string | undefined {
    const row = this.#database
      .query<{ text: string | null }, [string, number]>(
        `SELECT ${column} AS text FROM calls WHERE execution = ? AND call = ?`,
      )
      .get(id, call);
    return row?.text ?? undefined;
  }

  callNumbers(id: string): number[] {
    return this.#database
      .query<{ call: number }, [string]>("SELECT call FROM calls WHERE execution = ? ORDER BY call")
      .all(id)
      .map(({ call }) => call);
  }

  calls(id: string): StoredCall[] {
    return this.#database
      .query<Omit<StoredCall, "repeatable"> & { repeatable: number }, [string]>(
        "SELECT call, message, state, repeatable, answer FROM calls WHERE execution = ? ORDER BY call",
      )
      .all(id)
      .map((row) => ({ ...row, repeatable: row.repeatable === 1 }));
  }

  /** Takes an open execution from its dead owner. False if another process was first. */
  claim(id: string, owner: string, from: string | null): boolean {
    const { changes } = this.#run(
      "UPDATE executions SET owner = ?, changedAt = ? WHERE id = ? AND owner IS ? AND state = 'open'",
      [owner, Date.now(), id, from],
    );
    return changes === 1;
  }

  /** Gives an execution up, so that another process can continue it. */
  release(id: string, owner: string): void {
    this.#run("UPDATE executions SET owner = NULL, changedAt = ? WHERE id = ? AND owner = ?", [Date.now(), id, owner]);
  }

  /** Notes that a caller has the id. */
  want(id: string): void {
    this.#run("UPDATE executions SET isWanted = 1 WHERE id = ?", [id]);
  }

  /** Asks the owner to cancel the execution. */
  askToCancel(id: string): void {
    this.#run("UPDATE executions SET isCancelled = 1 WHERE id = ? AND state = 'open'", [id]);
  }

  /** The executions of the owner that another process wants to be cancelled. */
  cancelled(owner: string): string[] {
    return this.#database
      .query<{ id: string }, [string]>(
        "SELECT id FROM executions WHERE owner = ? AND isCancelled = 1 AND state = 'open'",
      )
      .all(owner)
      .map(({ id }) => id);
  }

  /** The executions that have not changed since, and wait neither for a timer nor for an approval. In milliseconds since 1970. */
  old(before: number): StoredExecution[] {
    return this.#database
      .query<ExecutionRow, [number, number]>(
        `SELECT ${columns} FROM executions WHERE changedAt < ? AND coalesce(wakeAt, 0) < ?
         AND id NOT IN (SELECT execution FROM approvals WHERE state = 'open')`,
      )
      .all(before, before)
      .map(executionOf);
  }

  #run(sql: string, values: (string | number | null | Uint8Array)[]) {
    return this.#database.query(sql).run(...values);
  }
}

function executionOf<Execution extends Flagged<object>>(
  row: Execution,
): Omit<Execution, Flag | "ending"> & Record<Flag, boolean> & Pick<StoredExecution, "reason"> {
  const { ending, ...rest } = row;
  const { isCancelled, isWanted, isSaved, isOk } = row;
  const flags = { isCancelled: isCancelled === 1, isWanted: isWanted === 1, isSaved: isSaved === 1, isOk: isOk === 1 };
  return { ...rest, ...flags, reason: reasonIn(ending) };
}

/** The reason in the beginning of a failed outcome. The rest may be long, because it has the logs. */
function reasonIn(ending: string | null): string | undefined {
  const [, reason] = /^\{"ok":false,"reason":"([a-z]+)"/.exec(ending ?? "") ?? [];
  return reason;
}

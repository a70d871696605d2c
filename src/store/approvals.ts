/** Approvals in the database: calls that wait for a person's decision, and decisions. Every change is one atomic statement. */
import type { Database } from "bun:sqlite";
import type { JsonObject } from "../json-object.ts";

/**
 * `open` waits for a person. `withdrawn`: nobody needs to decide any more, or what was asked about has changed since. A row leaves
 * `open` once, and only an approved one can be withdrawn later.
 */
type ApprovalState = "open" | "approved" | "denied" | "expired" | "withdrawn";

/** Whether an approval counts for the call alone, or for the tool until the session ends. */
export type ApprovalScope = "once" | "session";

/** Where a decision was made: in the agent, at the terminal of the program, on the local page, or with `claudikins approvals`. */
export type DecisionPlace = "agent" | "terminal" | "page" | "command";

/** A call that needs a person's permission. */
export interface Approval {
  id: string;
  /** The config file; null for the demo. */
  config: string | null;
  execution: string;
  /** The number of the call in its execution. */
  call: number;
  /** The process that waits for it, see owner.ts. */
  owner: string;
  /** The line of the code that makes the call: its number and its text. */
  line: number | null;
  code: string | null;
  server: string;
  /** The tool's original name. */
  tool: string;
  /** All arguments, without the secrets of the config. */
  args: JsonObject;
  /** The end of "You are asked because …". */
  why: string;
  /** The parts that have changed since an earlier permission. Null if there was none. */
  changed: string[] | null;
  /** Digests of everything that the approval is bound to, by names that a person understands. */
  bound: Record<string, string>;
  state: ApprovalState;
  /** Null unless approved. */
  scope: ApprovalScope | null;
  /** Milliseconds since 1970. */
  askedAt: number;
  expiresAt: number;
  /** When the row left `open`. */
  decidedAt: number | null;
  /** Null unless a person decided. */
  decidedBy: DecisionPlace | null;
}

/** An approval that is about to be asked for. */
export type Asking = Omit<Approval, "id" | "state" | "scope" | "decidedAt" | "decidedBy">;

/**
 * A person's decision. A no counts for the tool until the execution ends, so that nobody is asked again in a loop; `all` extends it
 * to everything that the execution asks.
 */
export type Decision =
  | { state: "approved"; scope: ApprovalScope; by: DecisionPlace }
  | { state: "denied"; by: DecisionPlace; all?: boolean | undefined };

export interface ApprovalFilter {
  state?: ApprovalState | undefined;
  /** Null for the demo. */
  config?: string | null | undefined;
  execution?: string | undefined;
  /** Only rows that left `open` after this time. */
  decidedAfter?: number | undefined;
}

/** A row as SQLite has it: `args`, `changed` and `bound` are JSON. */
type Row = Omit<Approval, "args" | "changed" | "bound"> & { args: string; changed: string | null; bound: string };

type Values = Record<string, string | number | null>;

/** Days that decided approvals are kept for lists. */
export const keptDays = 30;

const dayMs = 86_400_000;

export class ApprovalStore {
  readonly #database: Database;
  #version: number;

  /** The database is that of `openDatabase`. */
  constructor(database: Database) {
    this.#database = database;
    this.#version = this.#versionNow();
  }

  /** Writes an open row. */
  add(asking: Asking): Approval {
    const { args, changed, bound, ...rest } = asking;
    const row = { ...rest, args: JSON.stringify(args), changed: changed && JSON.stringify(changed) };
    const [added] = this.#rows(
      `INSERT INTO approvals (id, config, execution, call, owner, line, code, server, tool, args, why, changed, bound, state, askedAt, expiresAt)
       VALUES ($id, $config, $execution, $call, $owner, $line, $code, $server, $tool, $args, $why, $changed, $bound, 'open', $askedAt, $expiresAt)
       RETURNING *`,
      { ...row, bound: JSON.stringify(bound), id: newApprovalId() },
    );
    return added!;
  }

  get(id: string): Approval | undefined {
    return this.#rows("SELECT * FROM approvals WHERE id = $id", { id })[0];
  }

  /** The oldest first. */
  list({ state, config, execution, decidedAfter }: ApprovalFilter = {}): Approval[] {
    return this.#rows(
      `SELECT * FROM approvals WHERE ($state IS NULL OR state = $state) AND ($execution IS NULL OR execution = $execution)
       AND ($anyConfig OR config IS $config) AND ($after IS NULL OR decidedAt > $after) ORDER BY askedAt, rowid`,
      {
        after: decidedAfter ?? null,
        state: state ?? null,
        execution: execution ?? null,
        anyConfig: config === undefined ? 1 : 0,
        config: config ?? null,
      },
    );
  }

  /** The number of open rows, of all configs. */
  countOpen(): number {
    const count = "SELECT count(*) AS count FROM approvals WHERE state = 'open'";
    return this.#database.query<{ count: number }, []>(count).get()?.count ?? 0;
  }

  /** The last row of a call. A call has several if something changed while a person was asked. */
  ofCall(execution: string, call: number): Approval | undefined {
    return this.#rows(
      "SELECT * FROM approvals WHERE execution = $execution AND call = $call ORDER BY rowid DESC LIMIT 1",
      { execution, call },
    )[0];
  }

  /** The permission for further calls of a tool that a person gave an execution. */
  sessionApproval(execution: string, server: string, tool: string): Approval | undefined {
    return this.#rows(
      `SELECT * FROM approvals WHERE execution = $execution AND server = $server AND tool = $tool
       AND state = 'approved' AND scope = 'session' ORDER BY rowid DESC LIMIT 1`,
      { execution, server, tool },
    )[0];
  }

  /**
   * Decides an open row that has not expired. Returns the rows that it decided: none if another decision was first. A denial also
   * decides the other open rows of the tool, or of everything, in the same execution; the row itself is the first.
   */
  decide(id: string, decision: Decision, now: number): Approval[] {
    const { state, by } = decision;
    const values = { state, scope: state === "approved" ? decision.scope : null, by, now };
    const set = `UPDATE approvals SET state = $state, scope = $scope, decidedAt = $now, decidedBy = $by
      WHERE state = 'open' AND expiresAt > $now`;
    const work = this.#database.transaction(() => {
      const [decided] = this.#rows(`${set} AND id = $id RETURNING *`, { ...values, id });
      if (!decided || state === "approved") return decided ? [decided] : [];
      const { execution, server, tool } = decided;
      const others = decision.all
        ? this.#rows(`${set} AND execution = $execution RETURNING *`, { ...values, execution })
        : this.#rows(`${set} AND execution = $execution AND server = $server AND tool = $tool RETURNING *`, {
            ...values,
            execution,
            server,
            tool,
          });
      return [decided, ...others];
    });
    return work.immediate();
  }

  /** Another process waits for an open row from now on. */
  adopt(id: string, owner: string): void {
    this.#database.query("UPDATE approvals SET owner = $owner WHERE id = $id").run({ id, owner });
  }

  /** The open rows whose executions end with their process: no program is stored that another process could continue. */
  unsaved(): Approval[] {
    return this.#rows(
      `SELECT * FROM approvals WHERE state = 'open' AND NOT EXISTS
         (SELECT 1 FROM executions WHERE id = approvals.execution AND state = 'open' AND program IS NOT NULL)`,
      {},
    );
  }

  /** Whether the time of an open row is over. */
  isDue(now: number): boolean {
    const due = "SELECT 1 FROM approvals WHERE state = 'open' AND expiresAt <= $now LIMIT 1";
    return this.#database.query<object, [Values]>(due).get({ now }) !== null;
  }

  /** Runs the work as one transaction: if it throws, nothing has changed. */
  atomically<T>(work: () => T): T {
    return this.#database.transaction(work).immediate();
  }

  /** Marks open rows whose time is over. Returns them. */
  expire(now: number): Approval[] {
    return this.#rows(
      "UPDATE approvals SET state = 'expired', decidedAt = $now WHERE state = 'open' AND expiresAt <= $now RETURNING *",
      { now },
    );
  }

  /** Withdraws an open or approved row. Undefined if it was neither. */
  withdraw(id: string, now: number): Approval | undefined {
    return this.#rows(
      "UPDATE approvals SET state = 'withdrawn', decidedAt = $now WHERE id = $id AND state IN ('open', 'approved') RETURNING *",
      { id, now },
    )[0];
  }

  /** Deletes rows that were decided long ago. */
  prune(now: number): void {
    this.#database
      .query("DELETE FROM approvals WHERE state <> 'open' AND decidedAt < $before")
      .run({ before: now - keptDays * dayMs });
  }

  /** Whether another connection has changed the database since the last call. */
  hasChanged(): boolean {
    const before = this.#version;
    this.#version = this.#versionNow();
    return this.#version !== before;
  }

  close(): void {
    this.#database.close();
  }

  #versionNow(): number {
    return this.#database.query<{ data_version: number }, []>("PRAGMA data_version").get()?.data_version ?? 0;
  }

  #rows(sql: string, values: Values): Approval[] {
    return this.#database.query<Row, [Values]>(sql).all(values).map(approvalOf);
  }
}

function approvalOf({ args, changed, bound, ...row }: Row): Approval {
  return {
    ...row,
    args: JSON.parse(args),
    changed: changed === null ? null : JSON.parse(changed),
    bound: JSON.parse(bound),
  };
}

/** Without letters that are easily confused. */
const letters = "0123456789abcdefghjkmnpqrstvwxyz";
const idLetters = 8;

/** A short id that a person can type. */
function newApprovalId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(idLetters)), (byte) => letters[byte % 32]).join("");
}

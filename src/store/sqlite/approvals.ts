/** Approvals in the database: calls that wait for a person's decision, and decisions. Every change is one atomic statement. */
import type { Database } from "bun:sqlite";
import { dayMs } from "../../base/units.ts";
import { type Approval, type ApprovalFilter, type Asking, type Decision, newApproval } from "../approval.ts";
import { approvalKeptDays, maxDecidedApprovals } from "../limits.ts";
import type { OpenSum } from "../open-approvals.ts";

/** A row as SQLite has it: `changed` and `bound` are JSON. */
type Row = Omit<Approval, "changed" | "bound"> & { changed: string | null; bound: string };

/** The columns of a row, with what has a table of its own. */
const columns =
  "*, (SELECT told FROM approvalReasons WHERE approval = approvals.id) AS told, (SELECT door FROM approvalDoors WHERE approval = approvals.id) AS door, " +
  "(SELECT person FROM approvalPeople WHERE approval = approvals.id) AS person, " +
  "(SELECT name FROM approvalPeople WHERE approval = approvals.id) AS personName";

type Values = Record<string, string | number | null>;

export class ApprovalStore {
  readonly #database: Database;

  /** The database is opened by `openDatabase`. */
  constructor(database: Database) {
    this.#database = database;
  }

  /** Writes an open row. */
  add(asking: Asking): Approval {
    const { args } = asking;
    const { changed, bound, door, person, personName, told, ...rest } = newApproval(asking);
    const row = { ...rest, changed: changed && JSON.stringify(changed), bound: JSON.stringify(bound) };
    return this.atomically(() => {
      const [added] = this.#rows(
        `INSERT INTO approvals (id, config, execution, call, owner, line, code, server, tool, excerpt, argsChars, argsBytes, why, changed, bound, state, askedAt, expiresAt)
         VALUES ($id, $config, $execution, $call, $owner, $line, $code, $server, $tool, $excerpt, $argsChars, $argsBytes, $why, $changed, $bound, 'open', $askedAt, $expiresAt)
         RETURNING ${columns}`,
        row,
      );
      const { id } = row;
      this.#database.query("INSERT INTO approvalArguments VALUES ($id, $args)").run({ id, args });
      if (told !== null) this.#database.query("INSERT INTO approvalReasons VALUES ($id, $told)").run({ id, told });
      if (door !== null) this.#database.query("INSERT INTO approvalDoors VALUES ($id, $door)").run({ id, door });
      if (person !== null) {
        const asks = { id, person, name: personName ?? person };
        this.#database.query("INSERT INTO approvalPeople VALUES ($id, $person, $name)").run(asks);
      }
      return { ...added!, door, person, personName, told };
    });
  }

  /** Counts the open approvals of one config, and of all configs. */
  openSums(config: string | null): { ofConfig: OpenSum; ofAll: OpenSum } {
    const sums = "SELECT count(*) AS rows, coalesce(sum(argsBytes), 0) AS bytes FROM approvals WHERE state = 'open'";
    const ofAll = this.#database.query<OpenSum, []>(sums).get()!;
    const ofConfig = this.#database.query<OpenSum, [Values]>(`${sums} AND config IS $config`).get({ config })!;
    return { ofConfig, ofAll };
  }

  get(id: string): Approval | undefined {
    return this.#rows(`SELECT ${columns} FROM approvals WHERE id = $id`, { id })[0];
  }

  /** All arguments of an open row, as JSON. Undefined if the row is not open. */
  argumentsOf(id: string): string | undefined {
    const args = "SELECT args FROM approvalArguments WHERE approval = $id";
    return this.#database.query<{ args: string }, [Values]>(args).get({ id })?.args;
  }

  /** The oldest first. */
  list(filter: ApprovalFilter = {}): Approval[] {
    const { where, values } = conditions(filter);
    return this.#rows(`SELECT ${columns} FROM approvals ${where} ORDER BY askedAt, rowid`, values);
  }

  /** The newest rows that were decided or expired after a time, at most `count`, newest first. */
  decided(after: number, count: number): Approval[] {
    return this.#rows(
      `SELECT ${columns} FROM approvals WHERE decidedAt > $after AND (decidedBy IS NOT NULL OR state = 'expired')
       ORDER BY decidedAt DESC, rowid DESC LIMIT $count`,
      { after, count },
    );
  }

  /** Whether a call of the execution waits, or of a saved program that it runs. */
  isWaiting(execution: string): boolean {
    const open = `SELECT 1 FROM approvals WHERE ${ofExecution} AND state = 'open' LIMIT 1`;
    return this.#database.query<object, [Values]>(open).get({ execution }) !== null;
  }

  /** The ids whose rows are open. */
  openAmong(ids: readonly string[]): Set<string> {
    const open = "SELECT id FROM approvals WHERE state = 'open' AND id IN (SELECT value FROM json_each($ids))";
    const rows = this.#database.query<{ id: string }, [Values]>(open).all({ ids: JSON.stringify(ids) });
    return new Set(rows.map(({ id }) => id));
  }

  /** The last row of a call. A call has several if something changed while a person was asked. */
  ofCall(execution: string, call: number): Approval | undefined {
    return this.#rows(
      `SELECT ${columns} FROM approvals WHERE execution = $execution AND call = $call ORDER BY rowid DESC LIMIT 1`,
      { execution, call },
    )[0];
  }

  /** The permission for further calls of a tool that a person gave an execution. */
  sessionApproval(execution: string, server: string, tool: string): Approval | undefined {
    return this.#rows(
      `SELECT ${columns} FROM approvals WHERE execution = $execution AND server = $server AND tool = $tool
       AND state = 'approved' AND scope = 'session' ORDER BY rowid DESC LIMIT 1`,
      { execution, server, tool },
    )[0];
  }

  /**
   * Decides an open row that has not expired. Returns the rows that it decided: none if the call was already decided. A denial also
   * decides the other open rows of the tool, or of everything, in the same execution; the row itself is the first.
   */
  decide(id: string, decision: Decision, now: number): Approval[] {
    const { state, by } = decision;
    const values = { state, scope: state === "approved" ? decision.scope : null, by, now };
    const set = `UPDATE approvals SET state = $state, scope = $scope, decidedAt = $now, decidedBy = $by
      WHERE state = 'open' AND expiresAt > $now`;
    const work = this.#database.transaction(() => {
      const [decided] = this.#rows(`${set} AND id = $id RETURNING ${columns}`, { ...values, id });
      if (!decided || state === "approved") return decided ? [decided] : [];
      const { execution, server, tool } = decided;
      const others = decision.all
        ? this.#rows(`${set} AND execution = $execution RETURNING ${columns}`, { ...values, execution })
        : this.#rows(`${set} AND execution = $execution AND server = $server AND tool = $tool RETURNING ${columns}`, {
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
  unsaved(filter: Pick<ApprovalFilter, "config" | "execution"> = {}): Approval[] {
    const { where, values } = conditions({ config: filter.config, execution: filter.execution, state: "open" });
    return this.#rows(
      `SELECT ${columns} FROM approvals ${where} AND NOT EXISTS
         (SELECT 1 FROM executions WHERE id = approvals.execution AND state = 'open' AND program IS NOT NULL)`,
      values,
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
      `UPDATE approvals SET state = 'expired', decidedAt = $now WHERE state = 'open' AND expiresAt <= $now RETURNING ${columns}`,
      { now },
    );
  }

  /** Withdraws an open or approved row. Undefined if it was neither. */
  withdraw(id: string, now: number): Approval | undefined {
    return this.#rows(
      `UPDATE approvals SET state = 'withdrawn', decidedAt = $now WHERE id = $id AND state IN ('open', 'approved') RETURNING ${columns}`,
      { id, now },
    )[0];
  }

  /** Whether rows were decided long ago. */
  hasOld(now: number): boolean {
    const old = "SELECT 1 FROM approvals WHERE state <> 'open' AND decidedAt < $before LIMIT 1";
    return this.#database.query<object, [Values]>(old).get({ before: beforeKept(now) }) !== null;
  }

  /** Deletes rows that were decided long ago, and the oldest if a config has many. */
  prune(now: number): void {
    this.#database
      .query("DELETE FROM approvals WHERE state <> 'open' AND decidedAt < $before")
      .run({ before: beforeKept(now) });
    this.#database
      .query(
        `DELETE FROM approvals WHERE rowid IN (SELECT rowid FROM
           (SELECT rowid, row_number() OVER (PARTITION BY config ORDER BY decidedAt DESC) AS place FROM approvals WHERE state <> 'open')
         WHERE place > $kept)`,
      )
      .run({ kept: maxDecidedApprovals });
  }

  /** Deletes rows that are not open. */
  remove(ids: readonly string[]): void {
    const remove = this.#database.query("DELETE FROM approvals WHERE id = $id AND state <> 'open'");
    for (const id of ids) remove.run({ id });
  }

  close(): void {
    this.#database.close();
  }

  #rows(sql: string, values: Values): Approval[] {
    return this.#database.query<Row, [Values]>(sql).all(values).map(approvalOf);
  }
}

function beforeKept(now: number): number {
  return now - approvalKeptDays * dayMs;
}

/** The ids of the saved programs that an execution runs begin with its own, see `idWithin`. */
const ofExecution = "(execution = $execution OR substr(execution, 1, length($execution) + 1) = $execution || '-')";

/** The filter as SQL with its values. Only the given conditions are named, so that SQLite can use its indexes. */
function conditions({ state, config, execution }: ApprovalFilter): { where: string; values: Values } {
  const values: Values = {};
  const parts: string[] = [];
  const add = (name: string, value: string | number | null | undefined, condition: string) => {
    if (value === undefined) return;
    parts.push(condition);
    values[name] = value;
  };
  add("state", state, "state = $state");
  add("config", config, "config IS $config");
  add("execution", execution, ofExecution);
  return { where: parts.length === 0 ? "" : `WHERE ${parts.join(" AND ")}`, values };
}

function approvalOf({ changed, bound, ...row }: Row): Approval {
  return {
    ...row,
    changed: changed === null ? null : JSON.parse(changed),
    bound: JSON.parse(bound),
  };
}

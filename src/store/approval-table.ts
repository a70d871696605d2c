/** The approvals of both databases. */
import { dayMs } from "../base/units.ts";
import {
  type Approval,
  type ApprovalChange,
  type ApprovalFilter,
  type ApprovalRows,
  type Asking,
  type Decision,
  eventsOf,
  newApproval,
  type OpenSum,
  requireRoom,
} from "./approval.ts";
import type { AuditEvent, Decider } from "./audit/event.ts";
import { addEvents } from "./audit/table.ts";
import { approvalKeptDays, maxDecidedApprovals } from "./limits.ts";
import { all, type Database, first, run, tell, type Values, type Work } from "./work.ts";

/** All but the arguments, which may be long. */
const columns =
  "id, config, door, person, person_name, execution, call, owner, line, code, server, tool, excerpt, args_chars, args_bytes, why, told, changed, bound, " +
  "state, scope, asked_at, expires_at, decided_at, decided_by, " +
  "(SELECT reason FROM claudikins.denials WHERE approval = approvals.id) AS reason";

/** `changed` and `bound` are JSON. */
type Row = Omit<Approval, "changed" | "bound"> & { changed: string | null; bound: string };

/** The rows of a statement that returns `columns`. */
function* approvalsIn(statement: string, values: Values): Work<Approval[]> {
  const rows = yield* all<Row>(statement, values);
  return rows.map(({ changed, bound, ...row }) => ({
    ...row,
    changed: changed === null ? null : JSON.parse(changed),
    bound: JSON.parse(bound),
  }));
}

/** The oldest first. */
function where(condition: string, values: Values): Work<Approval[]> {
  return approvalsIn(`SELECT ${columns} FROM claudikins.approvals WHERE ${condition} ORDER BY asked_at, place`, values);
}

export function approvalRows(database: Database, change: ApprovalRows["change"]): ApprovalRows {
  const rows = (condition: string, values: Values) => database.read(() => where(condition, values));
  const isAny = async (statement: string, values: Values) =>
    (await database.read(() => first(`${statement} LIMIT 1`, values))) !== undefined;
  return {
    change,
    get: async (id) => (await rows("id = $id", { id }))[0],
    argumentsOf: (id) => database.read(() => argumentsOf(id)),
    list: (filter) => database.read(() => listed(filter)),
    decided(after, count) {
      const statement = `SELECT ${columns} FROM claudikins.approvals WHERE decided_at > $after AND (decided_by IS NOT NULL OR state = 'expired')
        ORDER BY decided_at DESC, place DESC LIMIT CAST($count AS INTEGER)`;
      return database.read(() => approvalsIn(statement, { after, count }));
    },
    isWaiting: (execution) =>
      isAny(`SELECT 1 AS one FROM claudikins.approvals WHERE ${ofExecution} AND state = 'open'`, { execution }),
    async openAmong(ids) {
      const open = "SELECT id FROM claudikins.approvals WHERE state = 'open' AND id IN (SELECT value FROM texts($ids))";
      return new Set((await database.read(() => all<{ id: string }>(open, { ids }))).map(({ id }) => id));
    },
    ofCall: async (execution, call) =>
      (await rows("execution = $execution AND call = $call", { execution, call })).at(-1),
    async sessionApproval(execution, server, tool) {
      const condition =
        "execution = $execution AND server = $server AND tool = $tool AND state = 'approved' AND scope IN ('program', 'session')";
      return (await rows(condition, { execution, server, tool })).at(-1);
    },
    async lastApproved({ config, door, person, server, tool, decidedAt }) {
      const condition = `config IS NOT DISTINCT FROM $config AND door IS NOT DISTINCT FROM $door
        AND person IS NOT DISTINCT FROM $person AND server = $server AND tool = $tool AND state = 'approved' AND decided_at < $before
        ORDER BY decided_at DESC, place DESC LIMIT 1`;
      const statement = `SELECT ${columns} FROM claudikins.approvals WHERE ${condition}`;
      const values = { config, door, person, server, tool, before: decidedAt ?? Number.MAX_SAFE_INTEGER };
      return (await database.read(() => approvalsIn(statement, values)))[0];
    },
    unsaved({ config, execution } = {}) {
      const { condition, values } = conditions({ config, execution, state: "open" });
      return rows(
        `${condition} AND NOT EXISTS (SELECT 1 FROM claudikins.executions
           WHERE id = approvals.execution AND state = 'open' AND program IS NOT NULL)`,
        values,
      );
    },
    isDue: (now) =>
      isAny("SELECT 1 AS one FROM claudikins.approvals WHERE state = 'open' AND expires_at <= $now", { now }),
    hasOld(now) {
      const old = "SELECT 1 AS one FROM claudikins.approvals WHERE state <> 'open' AND decided_at < $before";
      return isAny(old, { before: now - approvalKeptDays * dayMs });
    },
  };
}

export function* argumentsOf(id: string): Work<string | undefined> {
  const statement = "SELECT args FROM claudikins.approvals WHERE id = $id";
  return (yield* first<{ args: string | null }>(statement, { id }))?.args ?? undefined;
}

export function listed(filter: ApprovalFilter = {}): Work<Approval[]> {
  const { condition, values } = conditions(filter);
  return where(condition, values);
}

/** The ids of the saved programs that an execution runs begin with its own, see `isOfExecution`. */
const ofExecution = "(execution = $execution OR substr(execution, 1, length($execution) + 1) = $execution || '-')";

/** Only the given conditions are named, so that indexes can be used. */
function conditions({ state, config, execution }: ApprovalFilter): { condition: string; values: Values } {
  const given: readonly [value: unknown, condition: string][] = [
    [state, "state = $state"],
    [config, "config IS NOT DISTINCT FROM $config"],
    [execution, ofExecution],
  ];
  const parts = given.flatMap(([value, condition]) => (value === undefined ? [] : [condition]));
  return { condition: parts.join(" AND ") || "TRUE", values: { state, config, execution } };
}

/** The events of a change, with the rows that it has changed. */
export function eventsIn(change: ApprovalChange, rows: readonly Approval[]): AuditEvent[] {
  return change.type === "note" ? [change.event] : eventsOf(rows);
}

/** Makes the change, as one transaction with its lines in the audit log. Returns the changed rows. */
export function* changeApprovals(change: ApprovalChange, by: Decider, now: number): Work<Approval[]> {
  const rows = yield* changedRows(change, now);
  yield* addEvents(eventsIn(change, rows), by, Date.now());
  if (change.type !== "prune") yield* tell();
  return rows;
}

function* changedRows(change: ApprovalChange, now: number): Work<Approval[]> {
  switch (change.type) {
    case "ask": {
      const { asking, tool } = change;
      yield* prune(now);
      requireRoom(yield* openSums(asking.config), Buffer.byteLength(asking.args), tool);
      return [yield* add(asking)];
    }
    case "decide":
      return yield* decide(change.id, change.decision, now);
    case "withdraw":
      return yield* withdraw(change.ids, now);
    case "expire":
      return yield* expire(now);
    case "adopt": {
      const { id, owner } = change;
      yield* run("UPDATE claudikins.approvals SET owner = $owner WHERE id = $id", { id, owner });
      return [];
    }
    case "prune":
      yield* prune(now);
      return [];
    case "remove": {
      const { ids } = change;
      const closed = "DELETE FROM claudikins.approvals WHERE id IN (SELECT value FROM texts($ids)) AND state <> 'open'";
      yield* run(closed, { ids });
      yield* pruneReasons();
      return [];
    }
    case "note":
      return [];
  }
}

/** Writes an open row. */
export function* add(asking: Asking): Work<Approval> {
  const { changed, bound, ...row } = newApproval(asking);
  const [added] = yield* approvalsIn(
    `INSERT INTO claudikins.approvals (id, config, door, person, person_name, execution, call, owner, line, code, server, tool, excerpt,
       args_chars, args_bytes, args, why, told, changed, bound, state, asked_at, expires_at)
     VALUES ($id, $config, $door, $person, $personName, $execution, $call, $owner, $line, $code, $server, $tool, $excerpt,
       $argsChars, $argsBytes, $args, $why, $told, $changed, $bound, 'open', $askedAt, $expiresAt)
     RETURNING ${columns}`,
    { ...row, args: asking.args, changed: changed && JSON.stringify(changed), bound: JSON.stringify(bound) },
  );
  return added!;
}

/** Counts the open approvals of one config, and those of all configs. */
export function* openSums(config: string | null): Work<{ ofConfig: OpenSum; ofAll: OpenSum }> {
  const sums = `SELECT CAST(count(*) AS INTEGER) AS rows, CAST(coalesce(sum(args_bytes), 0) AS DOUBLE PRECISION) AS bytes
    FROM claudikins.approvals WHERE state = 'open'`;
  const ofAll = yield* first<OpenSum>(sums);
  const ofConfig = yield* first<OpenSum>(`${sums} AND config IS NOT DISTINCT FROM $config`, { config });
  return { ofConfig: ofConfig!, ofAll: ofAll! };
}

/** No decision needs the arguments any more. */
const closed = "args = NULL, decided_at = $now";

/** Two who decide about a row at once get its lock one after the other, and the second one finds that it is not open. */
export function* decide(id: string, decision: Decision, now: number): Work<Approval[]> {
  const { state, by } = decision;
  const isApproved = state === "approved";
  const reason = isApproved ? null : (decision.reason ?? null);
  const values = { state, scope: isApproved ? decision.scope : null, by, now };
  const set = `UPDATE claudikins.approvals SET state = $state, scope = $scope, decided_by = $by, ${closed}
    WHERE state = 'open' AND expires_at > $now`;
  const [decided] = yield* approvalsIn(`${set} AND id = $id RETURNING ${columns}`, { ...values, id });
  if (!decided || decision.state === "approved") return decided ? [decided] : [];
  const { execution, server, tool } = decided;
  const ofTool = decision.all ? "" : "AND server = $server AND tool = $tool";
  const others = yield* approvalsIn(`${set} AND execution = $execution ${ofTool} RETURNING ${columns}`, {
    ...values,
    execution,
    server,
    tool,
  });
  const rows = [decided, ...others.sort(byAge)];
  if (reason === null) return rows;
  const ids = rows.map((row) => row.id);
  const statement = "INSERT INTO claudikins.denials (approval, reason) SELECT value, $reason FROM texts($ids)";
  yield* run(statement, { ids, reason });
  return rows.map((row) => ({ ...row, reason }));
}

/** In the order of the ids. */
export function* withdraw(ids: readonly string[], now: number): Work<Approval[]> {
  const rows = yield* approvalsIn(
    `UPDATE claudikins.approvals SET state = 'withdrawn', ${closed}
     WHERE id IN (SELECT value FROM texts($ids)) AND state IN ('open', 'approved') RETURNING ${columns}`,
    { ids, now },
  );
  return rows.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
}

export function* expire(now: number): Work<Approval[]> {
  const rows = yield* approvalsIn(
    `UPDATE claudikins.approvals SET state = 'expired', ${closed} WHERE state = 'open' AND expires_at <= $now RETURNING ${columns}`,
    { now },
  );
  return rows.sort(byAge);
}

function byAge(a: Approval, b: Approval): number {
  return a.askedAt - b.askedAt;
}

/** Deletes rows that were decided long ago, and the oldest if a config has many. */
export function* prune(now: number): Work<number> {
  const count = yield* run(
    `DELETE FROM claudikins.approvals WHERE state <> 'open' AND (decided_at < $before OR place IN (SELECT place FROM
       (SELECT place, row_number() OVER (PARTITION BY config ORDER BY decided_at DESC) AS number
        FROM claudikins.approvals WHERE state <> 'open') AS decided
     WHERE number > $kept))`,
    { before: now - approvalKeptDays * dayMs, kept: maxDecidedApprovals },
  );
  if (count > 0) yield* pruneReasons();
  return count;
}

function pruneReasons(): Work<number> {
  return run("DELETE FROM claudikins.denials WHERE approval NOT IN (SELECT id FROM claudikins.approvals)");
}

/** Finds the executions that are due and that no process runs. The time for it does not depend on the number of those that wait. */
import { maxDueAtOnce } from "../limits.ts";
import { isAliveIn } from "./owners.ts";
import type { Querying } from "./querying.ts";

/** The condition of the index `due_executions`. */
const ofConfig = "coalesce(config, '') = $config AND state = 'open' AND unsaved IS NULL";

/** A process has it only if its name is the owner; without an owner, the name is empty. */
const owner = "coalesce(owner, '')";

/**
 * Nobody waits for an execution whose caller has not got its id before its process died. If a person has decided about one of its calls since
 * it was saved, the person waits. The ids of saved programs that it runs are its own, a dash and more; a dot follows the dash.
 */
const isWaitedFor = `(is_wanted OR EXISTS (SELECT FROM claudikins.approvals AS decided
  WHERE (decided.execution = executions.id
      OR decided.execution >= executions.id || '-' AND decided.execution < executions.id || '.')
    AND decided.state IN ('approved', 'denied') AND decided.decided_at >= executions.changed_at))`;

/** A build continues what was saved in its format, and what has not begun. */
const isFit = "(program IS NULL OR substring(engine FROM '[0-9a-f]+$') = $format)";

const isBehindDoor = "($door::text IS NULL OR request::json ->> 'door' = $door)";

/** The first condition is that of the index which pg-boss has for queues with one job for each key. The other queue is short. */
const hasNoJob = `NOT EXISTS (SELECT FROM claudikins_jobs.job
    WHERE name = $queue AND coalesce(singleton_key, '') = executions.id AND state <= 'active' AND policy = 'exclusive')
  AND NOT EXISTS (SELECT FROM claudikins_jobs.job
    WHERE name = $deadQueue AND singleton_key = executions.id AND state <= 'active')`;

const due = (when: string) =>
  `(SELECT id FROM claudikins.executions WHERE ${ofConfig} AND ${owner} = gone.name AND ${when}
     AND ${isWaitedFor} AND ${isFit} AND ${isBehindDoor} AND ${hasNoJob} LIMIT ${maxDueAtOnce})`;

/** The same throughout the statement, so that the index can be used. */
const now = "(extract(epoch FROM statement_timestamp()) * 1000)::double precision";

/** Takes the owners one after the other from the index: there are few, and very many executions may have the same one. */
const statement = `
WITH RECURSIVE holders (name) AS (
  (SELECT ${owner} FROM claudikins.executions WHERE ${ofConfig} ORDER BY ${owner} LIMIT 1)
  UNION ALL
  SELECT (SELECT ${owner} FROM claudikins.executions WHERE ${ofConfig} AND ${owner} > holders.name ORDER BY ${owner} LIMIT 1)
  FROM holders WHERE holders.name IS NOT NULL
),
gone AS (SELECT name FROM holders WHERE holders.name IS NOT NULL AND NOT ${isAliveIn("holders.name")})
SELECT found.id FROM gone CROSS JOIN LATERAL (${due("wake_at IS NULL")} UNION ALL ${due(`wake_at <= ${now}`)}) AS found
LIMIT ${maxDueAtOnce}`;

/** The executions that are looked for, and the queues with their jobs. */
export interface DueFilter {
  config: string | null;
  door: string | undefined;
  format: string;
  queue: string;
  deadQueue: string;
}

/** The ids of executions without a job. */
export async function dueExecutions(filter: DueFilter, querying: Querying): Promise<string[]> {
  const config = filter.config ?? "";
  const rows = await querying.all<{ id: string }>(statement, { ...filter, config });
  return rows.map(({ id }) => id);
}

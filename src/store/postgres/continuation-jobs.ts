/**
 * The jobs to continue executions, in pg-boss. One process at a time looks for executions that are due and makes a job for each. Every process
 * works on jobs of its config; pg-boss repeats a job that failed or whose process has died, and gives up after the last attempt.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { fromBunSql, type Job, type JobWithMetadata, PgBoss } from "pg-boss";
import { messageOf } from "../../base/errors.ts";
import { sha256 } from "../../base/sha256.ts";
import type { ContinuationHandlers, Continuing } from "../executions.ts";
import type { Changes } from "./changes.ts";
import type { Connections } from "./connections.ts";
import { databaseError } from "./errors.ts";
import type { Objects } from "./objects.ts";
import { isAliveIn } from "./owners.ts";
import type { Querying } from "./querying.ts";
import { tryLock } from "./schema.ts";

/** The schema of pg-boss. It brings it up to date itself. */
const schema = "claudikins_jobs";

/** Executions that a process begins to continue at the same time. */
const maxContinuedAtOnce = 4;

/** How often the executions are looked for that no process runs, if nothing says that there are new ones. */
const dueLookMs = 3_000;

/** The shortest time between two looks. */
const dueLookPauseMs = 300;

/** Executions that one look finds. The next one finds others. */
const maxDueAtOnce = 500;

/** How often a process asks for jobs, if it does not know of new ones. */
const jobLookSeconds = 2;

/** How often a process looks for jobs of processes that have died. */
const jobTendSeconds = 3;

/** A job whose process shows no sign of life for this long is given to another one. pg-boss allows no less. */
const jobLifeSeconds = 10;

/** Time for one attempt. */
const jobSeconds = 120;

/** Time that jobs are kept after their end. */
const jobKeptSeconds = 600;

/** Connections for jobs. */
const maxJobConnections = 2;

/** Attempts to continue an execution after the first one, and the shortest and the longest time between them. */
const continuationRetries = { retryLimit: 6, retryDelay: 5, retryDelayMax: 120 };

interface JobData {
  execution: string;
}

export class ContinuationJobs implements Continuing {
  readonly #handlers: ContinuationHandlers;
  readonly #connections: Connections;
  readonly #sql: Bun.SQL;
  readonly #boss: PgBoss;
  readonly #filter: DueFilter;
  readonly #stopping = new AbortController();
  /** The workers of this process, by the ids that pg-boss gives them. */
  readonly #workers: string[] = [];
  readonly #ends: (() => void)[] = [];
  #looking: Promise<void> | undefined;
  #isAsked = false;

  private constructor(
    handlers: ContinuationHandlers,
    connections: Connections,
    { createSchema, hasBucket }: { createSchema: boolean; hasBucket: boolean },
  ) {
    const { config, door, format } = handlers;
    const mark = sha256(JSON.stringify([config, door ?? null, format])).slice(0, 32);
    this.#handlers = handlers;
    this.#connections = connections;
    this.#filter = { config, door, format, hasBucket, queue: `continue-${mark}`, deadQueue: `give-up-${mark}` };
    this.#sql = connections.foreign(maxJobConnections);
    this.#boss = new PgBoss({
      db: fromBunSql(this.#sql),
      schema,
      createSchema,
      schedule: false,
      registerInstance: false,
      superviseIntervalSeconds: jobTendSeconds,
      monitorIntervalSeconds: jobTendSeconds,
      maintenanceIntervalSeconds: jobKeptSeconds,
      monitorVacuum: false,
      openTelemetry: { enabled: false },
    });
    this.#boss.on("error", (error) => handlers.onProblem(messageOf(databaseError(error))));
    this.#boss.on("warning", ({ message }) => handlers.onProblem(message));
  }

  /** Any number of processes may start at once: one creates the schema of pg-boss, and the others wait for it. */
  static async start(
    handlers: ContinuationHandlers,
    { connections, changes, objects }: { connections: Connections; changes: Changes; objects: Objects },
  ): Promise<ContinuationJobs> {
    // An administrator may have made it for a user who may not.
    const named = "SELECT 1 AS one FROM pg_namespace WHERE nspname = $schema";
    const isMade = await connections.each((querying) => querying.get(named, { schema }));
    const jobs = new ContinuationJobs(handlers, connections, { createSchema: !isMade, hasBucket: objects.areHere });
    try {
      await jobs.#start();
    } catch (error) {
      await jobs[Symbol.asyncDispose]();
      throw databaseError(error);
    }
    const looking = setInterval(() => jobs.#lookSoon(), dueLookMs);
    jobs.#ends.push(
      () => clearInterval(looking),
      changes.listen(() => jobs.#lookSoon()),
    );
    jobs.#lookSoon();
    return jobs;
  }

  async #start(): Promise<void> {
    const { queue, deadQueue } = this.#filter;
    const boss = this.#boss;
    await boss.start();
    const kept = { policy: "exclusive", deleteAfterSeconds: jobKeptSeconds, heartbeatSeconds: jobLifeSeconds };
    await boss.createQueue(deadQueue, { ...kept, ...continuationRetries, retryBackoff: true });
    const expireInSeconds = jobSeconds;
    const attempts = { ...continuationRetries, retryBackoff: true, expireInSeconds, deadLetter: deadQueue };
    await boss.createQueue(queue, { ...kept, ...attempts });
    const polled = { pollingIntervalSeconds: jobLookSeconds };
    // One worker for each execution, so that a slow one keeps no other waiting.
    for (let count = 0; count < maxContinuedAtOnce; count += 1) {
      const worker: string = await boss.work<JobData>(queue, polled, ([job]) => this.#continue(job!, worker));
      this.#workers.push(worker);
    }
    const withAttempts = { ...polled, includeMetadata: true as const };
    await boss.work<JobData, void, typeof withAttempts>(deadQueue, withAttempts, ([job]) => this.#giveUp(job!));
  }

  async #continue({ data }: Job<JobData>, worker: string): Promise<void> {
    try {
      await this.#handlers.continueHere(data.execution, this.#stopping.signal);
    } catch (error) {
      throw storedError(error);
    } finally {
      // The next job may wait already.
      this.#boss.notifyWorker(worker);
    }
  }

  async #giveUp({ data, sourceRetryCount, sourceOutput }: JobWithMetadata<JobData>): Promise<void> {
    const attempts = (sourceRetryCount ?? 0) + 1;
    try {
      await this.#handlers.giveUp(data.execution, { attempts, problem: problemIn(sourceOutput) });
    } catch (error) {
      throw storedError(error);
    }
  }

  /** Looks now, or after the pause that follows the last look. */
  #lookSoon(): void {
    this.#isAsked = true;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
  }

  async #look(): Promise<void> {
    while (this.#isAsked && !this.#stopping.signal.aborted) {
      this.#isAsked = false;
      try {
        if (await this.#makeJobs()) for (const worker of this.#workers) this.#boss.notifyWorker(worker);
      } catch (error) {
        this.#handlers.onProblem(messageOf(error));
      }
      await sleep(dueLookPauseMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
    }
  }

  /** Whether there are new jobs. Another process that makes some at this moment finds what this one would. */
  async #makeJobs(): Promise<boolean> {
    const { queue } = this.#filter;
    const found = await this.#connections.once((querying) => dueExecutions(this.#filter, querying));
    if (found.length === 0) return false;
    return this.#connections.transaction(async (querying) => {
      if (!(await tryLock(queue, querying))) return false;
      const due = await dueExecutions(this.#filter, querying);
      if (due.length === 0) return false;
      const jobs = due.map((execution) => ({ singletonKey: execution, data: { execution } }));
      await this.#boss.insert(queue, jobs, { db: { executeSql: querying.foreign } });
      return true;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    for (const end of this.#ends) end();
    await this.#looking;
    await this.#boss.stop({ timeout: jobLifeSeconds * 1000 }).catch(() => {});
    await this.#sql.close({ timeout: 0 }).catch(() => {});
  }
}

/** pg-boss stores all of an error. The stack is of no use to anyone. */
function storedError(error: unknown): Error {
  const stored = new Error(messageOf(error));
  stored.stack = "";
  return stored;
}

/** The message in what pg-boss stores of a failure. It puts a message of its own into `value`. */
function problemIn(output: unknown): string {
  const { message, value } = (output ?? {}) as { message?: unknown; value?: { message?: unknown } };
  if (typeof message === "string") return message;
  return value?.message === undefined ? "unknown" : "the process that continued it has ended";
}

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
const isFit = "(program IS NULL OR substring(engine FROM '[0-9]+$') = $format)";

const isBehindDoor = "($door::text IS NULL OR request::json ->> 'door' = $door)";

const isReadable = `($hasBucket::boolean OR NOT EXISTS (SELECT FROM claudikins.object_pages WHERE execution = executions.id))`;

/** The first condition is the one of pg-boss's index for queues with one job for each key. The other queue is short. */
const hasNoJob = `NOT EXISTS (SELECT FROM claudikins_jobs.job
    WHERE name = $queue AND coalesce(singleton_key, '') = executions.id AND state <= 'active' AND policy = 'exclusive')
  AND NOT EXISTS (SELECT FROM claudikins_jobs.job
    WHERE name = $deadQueue AND singleton_key = executions.id AND state <= 'active')`;

const due = (when: string) =>
  `(SELECT id FROM claudikins.executions WHERE ${ofConfig} AND ${owner} = gone.name AND ${when}
     AND ${isWaitedFor} AND ${isFit} AND ${isBehindDoor} AND ${isReadable} AND ${hasNoJob} LIMIT ${maxDueAtOnce})`;

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
interface DueFilter {
  config: string | null;
  door: string | undefined;
  format: string;
  /** Otherwise, programs in the bucket are left to other processes. */
  hasBucket: boolean;
  queue: string;
  deadQueue: string;
}

/**
 * Finds the executions that are due and that no process runs. The time for it does not depend on the number of those that wait. The ids of
 * executions without a job.
 */
async function dueExecutions(filter: DueFilter, querying: Querying): Promise<string[]> {
  const config = filter.config ?? "";
  const rows = await querying.all<{ id: string }>(statement, { ...filter, config });
  return rows.map(({ id }) => id);
}

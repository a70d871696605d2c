/**
 * The connections of a process to the Postgres of its team. A connection that is lost is replaced, and what was asked for is done again:
 * callers notice it only if the database stays away for longer than a few seconds.
 */

import { Semaphore } from "../../base/semaphore.ts";
import { defaultDatabaseConnections } from "../../config/database.ts";
import { databaseRetryMs } from "../limits.ts";
import type { Database, Work } from "../work.ts";
import { BlockedStatements } from "./blocked-statements.ts";
import { databaseError, isConflict, isLost, isSlow, noAnswer } from "./errors.ts";
import { type Querying, queryingOf } from "./querying.ts";

/** Time for a statement or a transaction. After that, its connection counts as lost. */
const databaseAnswerMs = 15_000;

/** Time for the renewal of a lease: a connection that is lost must be replaced before the lease ends. */
const leaseAnswerMs = 4_000;

/** Time after which work fails that has been tried again, or has waited for a connection. */
const givenUpMs = 20_000;

/** Time that the last attempt gets, at least. */
const lastAttemptMs = 5_000;

/** Time in which a statement waits for locks of others. The server gives it up, so that it does not keep a connection from other work. */
const lockWaitMs = 5_000;

/** Time for a statement on the server, which ends it even if its process is gone. Shorter than the time for an answer. */
const statementMs = 12_000;

/** Time in which a transaction waits for its process. Shorter than others wait for its locks. */
const transactionIdleMs = 4_000;

/** Time for a new connection. */
const databaseConnectSeconds = 5;

/** The same for what stores programs. */
const patientRetryMs = 30_000;

/** Connections of one process that do no other work: one renews leases, two wait for changes, two are for jobs, and two for documents. */
const reservedConnections = 7;

/** Connections of one process for everything else, if a setting says how many it may have in all. */
export function workConnections(all: number = defaultDatabaseConnections): number {
  return all - reservedConnections;
}

/**
 * Tells the number of the transaction. The locks of a process that stands still are given back: the server ends its connection, and what it
 * did has no effect.
 */
const beginning = `SELECT pg_current_xact_id()::text AS number,
  set_config('idle_in_transaction_session_timeout', '${transactionIdleMs}', true)`;

export class Connections implements Database, AsyncDisposable {
  readonly #url: string;
  readonly #prepare: (connections: Connections) => Promise<void>;
  #sql: Bun.SQL | undefined;
  #prepared: Promise<void> | undefined;
  #closings = 0;
  /** One for each connection. Work waits here and not for a connection, so that it is known how long it has had one. */
  readonly #places: Semaphore;
  readonly #blocked = new BlockedStatements();
  readonly #max: number;
  readonly #answerMs: number;

  /** `prepare` brings the schema up to date. It is called before everything else. `max` connections are opened. */
  constructor(
    url: string,
    prepare: (connections: Connections) => Promise<void>,
    max: number = workConnections(),
    answerMs: number = databaseAnswerMs,
  ) {
    this.#url = url;
    this.#prepare = prepare;
    this.#max = max;
    this.#places = new Semaphore(max);
    this.#answerMs = answerMs;
  }

  /** One more connection, which renews leases. */
  forLeases(): Connections {
    return new Connections(this.#url, () => this.#isPrepared(), 1, leaseAnswerMs);
  }

  /**
   * Runs statements that are no transaction together, and that may run twice. Throws DATABASE_UNAVAILABLE, and VERSION_TOO_OLD if a newer
   * claudikins has changed the schema.
   */
  async each<T>(work: (querying: Querying) => Promise<T>): Promise<T> {
    await this.#isPrepared();
    return this.unprepared(work);
  }

  /** The same as `each`, for statements that may fail: they are not tried again. */
  async once<T>(work: (querying: Querying) => Promise<T>): Promise<T> {
    await this.#isPrepared();
    try {
      return await this.#answered((sql) => work(queryingOf(sql, this.#blocked)));
    } catch (error) {
      throw databaseError(error);
    }
  }

  /**
   * Runs `work` as one transaction, which sees what others have committed before each of its statements. Takes effect once or never: if the
   * connection is lost while the transaction is committed, the number of the transaction tells the next connection whether it was. `work`
   * runs again after an attempt without effect. Throws what `each` throws.
   */
  async transaction<T>(work: (querying: Querying) => Promise<T>): Promise<T> {
    await this.#isPrepared();
    return this.unpreparedTransaction(work);
  }

  read<T>(work: () => Work<T>): Promise<T> {
    return this.each((querying) => querying.do(work()));
  }

  write<T>(work: () => Work<T>): Promise<T> {
    return this.transaction((querying) => querying.do(work()));
  }

  /** The same as `read` and `write`, for work without which a program is lost: it is tried again for longer, while a database starts. */
  get patient(): Database {
    return {
      read: async (work) => {
        await this.#isPrepared();
        return this.unprepared((querying) => querying.do(work()), patientRetryMs);
      },
      write: async (work) => {
        await this.#isPrepared();
        return this.unpreparedTransaction((querying) => querying.do(work()), patientRetryMs);
      },
    };
  }

  /** The same as `each`, before the schema is up to date. Work whose connection is lost begins again within `retryMs`. */
  unprepared<T>(work: (querying: Querying) => Promise<T>, retryMs?: number): Promise<T> {
    return this.#again((sql) => work(queryingOf(sql, this.#blocked)), retryMs);
  }

  /** The same as `transaction`, before the schema is up to date. */
  unpreparedTransaction<T>(work: (querying: Querying) => Promise<T>, retryMs?: number): Promise<T> {
    let attempt: { number?: string; done?: { output: T } } = {};
    return this.#again(async (sql) => {
      const { number, done } = attempt;
      if (number !== undefined && done && (await isCommitted(number, sql))) return done.output;
      attempt = {};
      const current = attempt;
      return sql.begin("ISOLATION LEVEL READ COMMITTED", async (transaction) => {
        const querying = queryingOf(transaction, this.#blocked);
        // Sent together with the first statement of the work.
        const numbering = querying.get<{ number: string }>(beginning);
        numbering.catch(() => {});
        const output = await work(querying);
        current.number = (await numbering)?.number ?? "";
        current.done = { output };
        return output;
      });
    }, retryMs);
  }

  /** A connection for a listener. `lost` is called when it ends. */
  listening(lost: () => void): Bun.SQL {
    return this.#pool(1, { onclose: lost });
  }

  /** Another pool, for a library with statements of its own. */
  foreign(max: number): Bun.SQL {
    return this.#pool(max, { transform: undefined });
  }

  /** A later call connects again. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closings += 1;
    this.#prepared = undefined;
    await this.#drop();
  }

  #isPrepared(): Promise<void> {
    this.#prepared ??= this.#prepare(this).catch((error: unknown) => {
      // The next caller tries again.
      this.#prepared = undefined;
      throw error;
    });
    return this.#prepared;
  }

  async #again<T>(attempt: (sql: Bun.SQL) => Promise<T>, retryMs = databaseRetryMs): Promise<T> {
    const begunAt = performance.now();
    const deadline = begunAt + retryMs;
    const giveUpAt = begunAt + Math.max(retryMs, givenUpMs);
    const closings = this.#closings;
    let attempts = 0;
    for (let pauseMs = 20; ; pauseMs = Math.min(2 * pauseMs, 500)) {
      attempts += 1;
      try {
        return await this.#answered(attempt, Math.max(giveUpAt - performance.now(), lastAttemptMs));
      } catch (error) {
        const mayPass = isLost(error) || isConflict(error) || isSlow(error);
        // A process that stood still for longer has tried only once.
        const isLate = performance.now() > deadline && (attempts > 1 || isSlow(error));
        if (!mayPass || isLate) throw databaseError(error);
        await Bun.sleep(pauseMs * (0.5 + Math.random()));
        // Nobody would close another connection.
        if (closings !== this.#closings) throw databaseError(error);
      }
    }
  }

  /**
   * Waits for a connection that no other work uses, and for the answer. A connection to a computer that is gone may never answer. Then all
   * connections are replaced.
   */
  async #answered<T>(attempt: (sql: Bun.SQL) => Promise<T>, restMs = this.#answerMs): Promise<T> {
    const until = performance.now() + Math.min(restMs, this.#answerMs);
    // Work of others that takes long shows nothing about the connections.
    if ((await this.#places.acquire(AbortSignal.timeout(until - performance.now()))) === false) throw noAnswer();
    try {
      this.#sql ??= this.#pool(this.#max);
      return await this.#answeredBy(this.#sql, attempt, until - performance.now());
    } finally {
      this.#places.release();
    }
  }

  async #answeredBy<T>(sql: Bun.SQL, attempt: (sql: Bun.SQL) => Promise<T>, restMs: number): Promise<T> {
    const { promise: silence, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => {
        reject(noAnswer());
        if (sql === this.#sql) void this.#drop();
      },
      Math.max(restMs, Math.min(lastAttemptMs, this.#answerMs)),
    );
    try {
      return await Promise.race([attempt(sql), silence]);
    } finally {
      clearTimeout(timer);
    }
  }

  #pool(max: number, options: { transform?: undefined; onclose?: () => void } = {}): Bun.SQL {
    return new Bun.SQL(this.#url, {
      adapter: "postgres",
      // Otherwise PGDATABASE would have precedence.
      database: decodeURIComponent(new URL(this.#url).pathname.slice(1)),
      max,
      connectionTimeout: databaseConnectSeconds,
      connection: {
        application_name: "claudikins",
        lock_timeout: String(lockWaitMs),
        statement_timeout: String(statementMs),
      },
      transform: Bun.SQL.toCamel,
      ...options,
    });
  }

  async #drop(): Promise<void> {
    const sql = this.#sql;
    this.#sql = undefined;
    await sql?.close({ timeout: 0 }).catch(() => {});
  }
}

/** The server may still be busy with the transaction of a lost connection. */
async function isCommitted(number: string, sql: Bun.SQL): Promise<boolean> {
  const deadline = performance.now() + databaseRetryMs;
  for (;;) {
    const [row] = await sql.unsafe("SELECT pg_xact_status($1::text::xid8) AS status", [number]);
    const { status } = row as { status: string | null };
    if (status === "committed") return true;
    if (status === "aborted") return false;
    if (performance.now() > deadline) throw noAnswer();
    await Bun.sleep(50);
  }
}

/** Does the jobs of one process for stored executions. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Batch, ExecutionWriter, JobName, StoreJobs } from "../jobs.ts";
import { databaseRetryMs } from "../limits.ts";
import { callJobs, type NewCalls } from "./call-jobs.ts";
import { Claims, keepClaim, lostClaim } from "./claims.ts";
import { executionJobs } from "./execution-jobs.ts";
import type { JobParts, Jobs, StoreParts } from "./job-parts.ts";
import { deletePages, deleteUnneeded, pageOfRecord, readPages, readRecords, writePages } from "./pages.ts";
import type { Querying } from "./querying.ts";

/** Nothing refers to what they write until they are done, so that they wait for no other job and none waits for them. */
const unordered: ReadonlySet<JobName> = new Set<JobName>(["pages", "record"]);

interface Orphan {
  execution: string;
  owner: string | null;
}

export class PostgresWriter implements ExecutionWriter {
  readonly #parts: StoreParts;
  readonly #jobs: Jobs<JobName>;
  /** The last job of each execution. */
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #running = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(parts: StoreParts) {
    const jobParts = { ...parts, connections: parts.connections.patient, claims: new Claims() };
    const calls: NewCalls = new Map();
    this.#parts = parts;
    this.#jobs = { ...callJobs(jobParts, calls), ...pageJobs(jobParts), ...executionJobs(jobParts, calls) };
  }

  do<Name extends JobName>(
    job: Name,
    execution: string,
    input: StoreJobs[Name]["input"],
  ): Promise<StoreJobs[Name]["output"]> {
    if (this.#isClosed) return Promise.reject(new Error("the database is closed"));
    const run = () => this.#jobs[job](execution, input);
    return this.#counted(unordered.has(job) ? run() : this.#inOrder(execution, run));
  }

  #inOrder<T>(execution: string, run: () => Promise<T>): Promise<T> {
    const done = (this.#last.get(execution) ?? Promise.resolve()).then(run, run);
    this.#last.set(execution, done);
    const forget = () => {
      if (this.#last.get(execution) === done) this.#last.delete(execution);
    };
    done.then(forget, forget);
    return done;
  }

  #counted<T>(job: Promise<T>): Promise<T> {
    this.#running.add(job);
    const forget = () => void this.#running.delete(job);
    job.then(forget, forget);
    return job;
  }

  async deleteOrphans(isAlive: (owner: string) => Promise<boolean>): Promise<void> {
    const { connections } = this.#parts;
    const orphans = await connections.each((querying) =>
      querying.all<Orphan>(
        `SELECT execution, owner FROM claudikins.saving
         UNION SELECT execution, NULL FROM claudikins.pages
           WHERE NOT EXISTS (SELECT FROM claudikins.executions WHERE id = pages.execution AND state = 'open')
             AND NOT EXISTS (SELECT FROM claudikins.saving WHERE execution = pages.execution)`,
      ),
    );
    for (const { execution, owner } of orphans) {
      if (owner === null || !(await isAlive(owner))) await this.#deleteOrphan(execution, owner);
    }
  }

  /** The row of `saving` goes first: the process that has made it, if it is alive after all, cannot use the pages any more. */
  async #deleteOrphan(execution: string, owner: string | null): Promise<void> {
    await this.#parts.connections.transaction(async (querying) => {
      if (owner !== null) {
        const saving = "DELETE FROM claudikins.saving WHERE execution = $execution AND owner = $owner";
        if ((await querying.run(saving, { execution, owner })) === 0) return;
      }
      const open = "SELECT 1 AS one FROM claudikins.executions WHERE id = $execution AND state = 'open'";
      if (!(await querying.get(open, { execution }))) await deletePages(execution, querying);
    });
  }

  /** Work that waits for a database which is away is given up. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.race([Promise.allSettled(this.#running), sleep(databaseRetryMs, undefined, { ref: false })]);
  }
}

/** The jobs for the pages of a program. Nothing refers to what they write until the program is saved. */
function pageJobs({ connections, claims, room }: JobParts): Jobs<"begin" | "pages" | "record" | "image" | "records"> {
  /** Nobody else takes the execution, or counts its first save as given up, before the end of the transaction. */
  const keep = async (execution: string, querying: Querying): Promise<void> => {
    const claim = claims.of(execution);
    if (claim) return keepClaim(execution, claim, querying);
    const owner = claims.savingOwner(execution);
    // It has ended meanwhile.
    if (owner === undefined) throw lostClaim(execution);
    const saving = "SELECT 1 AS one FROM claudikins.saving WHERE execution = $execution AND owner = $owner FOR SHARE";
    if (!(await querying.get(saving, { execution, owner }))) throw lostClaim(execution);
  };

  const write = async (
    execution: string,
    version: number,
    batch: Omit<Batch, "bytes"> & { bytes: Uint8Array },
    roomBytes: number,
  ): Promise<undefined> => {
    await room.require(roomBytes, batch.bytes.length);
    await connections.transaction(async (querying) => {
      await keep(execution, querying);
      await writePages(execution, version, batch, querying);
    });
    return undefined;
  };

  return {
    begin: async (execution, { owner }) => {
      await connections.each((querying) =>
        querying.run(
          `INSERT INTO claudikins.saving (execution, owner) VALUES ($execution, $owner)
           ON CONFLICT (execution) DO UPDATE SET owner = excluded.owner`,
          { execution, owner },
        ),
      );
      claims.saving(execution, owner);
      return undefined;
    },

    pages: (execution, { version, roomBytes, pages, sizes, bytes }) =>
      write(execution, version, { pages, sizes, bytes: new Uint8Array(bytes) }, roomBytes),

    record: (execution, { record, bytes, roomBytes }) => {
      const pages = Float64Array.of(pageOfRecord(record));
      return write(execution, 1, { pages, sizes: Float64Array.of(bytes.length), bytes }, roomBytes);
    },

    image: (execution, wanted) => connections.each((querying) => readPages(execution, wanted, querying)),

    records: async (execution, wanted) => {
      const claim = claims.of(execution);
      if (claim) {
        await connections.transaction(async (querying) => {
          await keepClaim(execution, claim, querying);
          await deleteUnneeded(execution, wanted, querying);
        });
      }
      return connections.each((querying) => readRecords(execution, wanted.records, querying));
    },
  };
}

/** Does the jobs of one process for stored executions. */
import { setTimeout as sleep } from "node:timers/promises";
import { beginSaving } from "../execution-table.ts";
import { type Batch, type ExecutionWriter, type JobName, pageOfRecord, recordPages, type StoreJobs } from "../jobs.ts";
import { databaseRetryMs } from "../limits.ts";
import { all, first, run, type Work } from "../work.ts";
import { Claims, keepClaim, lostClaim } from "./claims.ts";
import { executionJobs, type JobParts, type Jobs, type StoreParts } from "./execution-jobs.ts";
import { writeObjectPages } from "./objects.ts";
import { deletePages, deleteUnneeded, readPages, writePages } from "./pages.ts";

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
    this.#parts = parts;
    this.#jobs = { ...pageJobs(jobParts), ...executionJobs(jobParts) };
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
    const orphans = await connections.read(() =>
      all<Orphan>(
        `SELECT execution, owner FROM claudikins.saving
         UNION SELECT execution, NULL FROM claudikins.pages
           WHERE NOT EXISTS (SELECT FROM claudikins.executions WHERE id = pages.execution AND state = 'open')
             AND NOT EXISTS (SELECT FROM claudikins.saving WHERE execution = pages.execution)
         UNION SELECT execution, NULL FROM claudikins.object_pages
           WHERE NOT EXISTS (SELECT FROM claudikins.executions WHERE id = object_pages.execution AND state = 'open')
             AND NOT EXISTS (SELECT FROM claudikins.saving WHERE execution = object_pages.execution)`,
      ),
    );
    for (const { execution, owner } of orphans) {
      if (owner === null || !(await isAlive(owner))) {
        await this.#parts.objects.remove(await this.#deleteOrphan(execution, owner));
      }
    }
  }

  /**
   * The row of `saving` goes first: the process that has made it, if it is alive after all, cannot use the pages any more. Returns the objects to
   * remove.
   */
  async #deleteOrphan(execution: string, owner: string | null): Promise<string[]> {
    return await this.#parts.connections.write(function* () {
      if (owner !== null) {
        const saving = "DELETE FROM claudikins.saving WHERE execution = $execution AND owner = $owner";
        if ((yield* run(saving, { execution, owner })) === 0) return [];
      }
      const open = "SELECT 1 AS one FROM claudikins.executions WHERE id = $execution AND state = 'open'";
      return (yield* first(open, { execution })) ? [] : yield* deletePages(execution);
    });
  }

  /** Work that waits for a database which is away is given up. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.race([Promise.allSettled(this.#running), sleep(databaseRetryMs, undefined, { ref: false })]);
  }
}

/** The jobs for the pages of a program. Nothing refers to what they write until the program is saved. */
function pageJobs({
  connections,
  claims,
  room,
  objects,
  warn,
}: JobParts): Jobs<"begin" | "pages" | "record" | "image" | "records"> {
  /** Nobody else takes the execution, or counts its first save as given up, before the end of the transaction. */
  function* keep(execution: string): Work<void> {
    const claim = claims.of(execution);
    if (claim) return yield* keepClaim(execution, claim);
    const owner = claims.savingOwner(execution);
    // It has ended meanwhile.
    if (owner === undefined) throw lostClaim(execution);
    const saving = "SELECT 1 AS one FROM claudikins.saving WHERE execution = $execution AND owner = $owner FOR SHARE";
    if (!(yield* first(saving, { execution, owner }))) throw lostClaim(execution);
  }

  const write = async (
    execution: string,
    version: number,
    batch: Omit<Batch, "bytes"> & { bytes: Uint8Array },
    { roomBytes, isImage }: { roomBytes: number; isImage: boolean },
  ): Promise<undefined> => {
    await room.require(roomBytes, batch.bytes.length);
    const object = isImage ? await objects.addImage(batch.bytes, warn) : undefined;
    await connections.write(function* () {
      yield* keep(execution);
      if (object === undefined) yield* writePages(execution, version, batch);
      else yield* writeObjectPages(execution, version, batch, object);
    });
    return undefined;
  };

  return {
    begin: async (execution, { owner }) => {
      await connections.read(() => beginSaving(execution, owner));
      claims.saving(execution, owner);
      return undefined;
    },

    pages: (execution, { version, roomBytes, pages, sizes, bytes }) =>
      write(execution, version, { pages, sizes, bytes: new Uint8Array(bytes) }, { roomBytes, isImage: true }),

    record: (execution, { record, bytes, roomBytes }) => {
      const pages = Float64Array.of(pageOfRecord(record));
      return write(execution, 1, { pages, sizes: Float64Array.of(bytes.length), bytes }, { roomBytes, isImage: false });
    },

    image: async (execution, wanted) => {
      const { batches, objectPages } = await connections.read(() => readPages(execution, wanted));
      return [...batches, ...(await objects.pages(objectPages))];
    },

    records: async (execution, wanted) => {
      const claim = claims.of(execution);
      if (claim) {
        const left = await connections.write(function* () {
          yield* keepClaim(execution, claim);
          return yield* deleteUnneeded(execution, wanted);
        });
        objects.removeSoon(left);
      }
      return (await connections.read(() => readPages(execution, recordPages(wanted.records)))).batches;
    },
  };
}

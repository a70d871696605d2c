/**
 * The store's own thread: the only one of its process that writes large data. Changes that others wait for are collected, and written in one
 * transaction. Pages are written and deleted between them, in short transactions, so that no other process waits for long either.
 */

import type { Database } from "bun:sqlite";
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { largeJsonChars } from "../../base/limits.ts";
import type { ThrownError } from "../../base/off-thread.ts";
import {
  askToCancel,
  beginSaving,
  byId,
  callAnswered,
  callSent,
  callStates,
  callText,
  claimExecution,
  endExecution,
  endSaving,
  insertExecution,
  messageOf as messageIn,
  type NewCalls,
  outcomeOf,
  releaseExecution,
  removeLabels,
  replaceCalls,
  type StoredText,
  saveExecution,
  storeIsFull,
  textOf,
  wantExecution,
} from "../execution-table.ts";
import { type JobName, pageOfRecord, recordPages, type StoreJobs } from "../jobs.ts";
import { answerSliceBytes } from "../limits.ts";
import { run, type Work } from "../work.ts";
import { openDatabase, workIn } from "./database.ts";
import { PageStore, pageOfAnswer } from "./pages.ts";

export type Job<Name extends JobName = JobName> = {
  [Each in Name]: { id: number; job: Each; execution: string } & StoreJobs[Each]["input"];
}[Name];

/** `open` comes first, and `close` last. `orphans` are asked for to delete the pages of executions that no process is saving. */
export type ToStore =
  | Job
  | { id: number; job: "open"; file: string }
  | { id: number; job: "orphans" }
  | { id: number; job: "purge"; execution: string }
  | { id: number; job: "close" };

/** The answer to a job: its output, or the properties of its output beside `isFlat`. */
export type FromStore = { id: number } & ({ value: unknown } | { isFlat: true } | { thrown: ThrownError });

/** Free pages that are given back in one step. */
const maxPagesGivenBack = 500;

type Reply = (answer: FromStore, transfer?: ArrayBuffer[]) => void;

/** Work in steps, each of which is a transaction of its own. */
interface Slow {
  steps: Iterator<void>;
  done: (error?: unknown) => void;
}

class StoreThread {
  readonly #reply: Reply;
  #database: Database | undefined;
  #pages!: PageStore;
  #changes: Job[] = [];
  readonly #slow: Slow[] = [];
  /** New calls of executions by their numbers, until they are saved. */
  readonly #calls: NewCalls = new Map();
  #working: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #isPurging = false;

  constructor(reply: Reply) {
    this.#reply = reply;
  }

  async take(message: ToStore): Promise<void> {
    const { id } = message;
    try {
      switch (message.job) {
        case "open":
          await this.#open(message.file);
          this.#reply({ id, value: undefined });
          break;
        case "orphans":
          this.#reply({ id, value: this.#pages.orphans() });
          break;
        case "purge":
          this.#purge(message.execution, "everything");
          this.#reply({ id, value: undefined });
          break;
        case "close":
          await this.#close();
          this.#reply({ id, value: undefined });
          break;
        default:
          this.#takeJob(message);
      }
    } catch (error) {
      this.#reply({ id, thrown: thrownBy(error) });
    }
  }

  async #open(file: string): Promise<void> {
    this.#database = await openDatabase(file);
    this.#pages = new PageStore(this.#database);
    this.#giveBackLater();
  }

  async #close(): Promise<void> {
    await this.#working;
    const database = this.#database;
    this.#database = undefined;
    try {
      database?.run("PRAGMA busy_timeout = 0");
      database?.run("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Another process reads, and does it when it ends.
    }
    database?.close();
  }

  #takeJob(job: Job): void {
    if (job.job === "pages" || job.job === "record")
      this.#later(
        once(() => this.#write(job)),
        (error) => this.#answer(job, error),
      );
    else if (job.job === "answered" && isLarge(job)) {
      this.#later(this.#writeAnswer(job), (error) => this.#answer(job, error));
    } else if (job.job === "records") {
      const versions = new Map(job.pages.entries().map(([index, page]) => [page, job.versions[index]!]));
      const done = (error?: unknown) => (error ? this.#answer(job, error) : this.#now(job));
      this.#later(this.#pages.deleteUnneeded(job.execution, versions, job.records), done);
    } else this.#now(job);
  }

  #now(job: Job): void {
    this.#changes.push(job);
    this.#run();
  }

  #later(steps: Iterator<void>, done: Slow["done"] = () => {}): void {
    this.#slow.push({ steps, done });
    this.#run();
  }

  #run(): void {
    this.#wake?.();
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
      // More may have come in the same moment.
      if (this.#changes.length + this.#slow.length > 0) this.#run();
    });
  }

  async #work(): Promise<void> {
    // The messages of this turn arrive first.
    await nextTurn();
    while (this.#changes.length > 0 || this.#slow.length > 0) {
      const startedAt = performance.now();
      const isSlow = this.#changes.length === 0;
      if (isSlow) this.#step(this.#slow[0]!);
      else this.#change(this.#changes.splice(0));
      await nextTurn();
      // Others who want to write at this moment look again in a few milliseconds.
      if (isSlow && this.#changes.length === 0) await this.#pause(performance.now() - startedAt);
    }
  }

  async #pause(ms: number): Promise<void> {
    const woken = Promise.withResolvers<void>();
    this.#wake = woken.resolve;
    await Promise.race([Bun.sleep(Math.max(1, ms)), woken.promise]);
    this.#wake = undefined;
  }

  /** What a step has written need not survive a loss of power before the change that refers to it is written. */
  #step(slow: Slow): void {
    const database = this.#database!;
    let isDone = false;
    try {
      database.run("PRAGMA synchronous = NORMAL");
      database
        .transaction(() => {
          isDone = slow.steps.next().done === true;
        })
        .immediate();
    } catch (error) {
      this.#slow.splice(this.#slow.indexOf(slow), 1);
      slow.done(error);
      return;
    }
    if (!isDone) return;
    this.#slow.splice(this.#slow.indexOf(slow), 1);
    slow.done();
  }

  #change(jobs: readonly Job[]): void {
    const database = this.#database!;
    let outputs: unknown[] = [];
    try {
      database.run("PRAGMA synchronous = FULL");
      database
        .transaction(() => {
          outputs = jobs.map((job) => this.#do(job));
        })
        .immediate();
    } catch (error) {
      // One that fails must not take the others with it.
      if (jobs.length > 1) for (const job of jobs) this.#change([job]);
      else this.#answer(jobs[0]!, error);
      return;
    }
    for (const [index, job] of jobs.entries()) {
      this.#after(job);
      this.#answer(job, undefined, outputs[index]);
    }
  }

  #answer({ id, job }: Job, error?: unknown, output?: unknown): void {
    if (error !== undefined) this.#reply({ id, thrown: thrownBy(error) });
    else if (job === "message" || job === "answer" || job === "outcome")
      this.#reply({ ...(output as object), id, isFlat: true });
    else if (job === "image" || job === "records") {
      const batches = output as StoreJobs["image"]["output"];
      this.#reply(
        { id, value: batches },
        batches.map(({ bytes }) => bytes),
      );
    } else this.#reply({ id, value: output });
  }

  #do(job: Job): unknown {
    return workIn(this.#database!, this.#workOf(job));
  }

  *#workOf(job: Job): Work<unknown> {
    const { execution } = job;
    switch (job.job) {
      case "add":
        this.#checkRoom(job.roomBytes);
        return yield* insertExecution(execution, job.owner, job);
      case "begin":
        return yield* beginSaving(execution, job.owner);
      case "call": {
        const { id: _, job: __, execution: ___, ...call } = job;
        return void this.#calls.getOrInsertComputed(execution, () => new Map()).set(job.call, call);
      }
      case "save":
        if (job.request !== undefined) yield* insertExecution(execution, job.owner, job);
        yield* saveExecution(byId(execution), job);
        yield* replaceCalls(execution, { fresh: this.#calls.get(execution)?.values() ?? [], open: job.open });
        return yield* endSaving(execution);
      case "sent":
        return yield* this.#changeCall(callSent, execution, job.call, { repeatable: job.repeatable });
      case "answered": {
        const { id: _, job: __, execution: ___, roomBytes: ____, ...answer } = job;
        return yield* this.#changeCall(callAnswered, execution, job.call, textOf(answer));
      }
      case "ended":
        if (job.owner !== undefined) yield* insertExecution(execution, job.owner, job);
        yield* run("DELETE FROM claudikins.calls WHERE execution = $execution", { execution });
        return yield* endExecution(byId(execution), job);
      case "remove":
        yield* endSaving(execution);
        return yield* this.#pages.has(execution) ? forget(execution) : remove(execution);
      case "claim":
        return (yield* claimExecution(execution, job, "TRUE")) !== undefined;
      case "release": {
        const { owner } = job;
        const values = { execution, owner };
        return yield* releaseExecution({ condition: "id = $execution AND owner = $owner", values });
      }
      case "want":
        return yield* wantExecution(execution);
      case "askToCancel":
        return yield* askToCancel(execution);
      case "image":
        return this.#pages.readBatches(execution, job);
      case "records":
        return this.#pages.readBatches(execution, recordPages(job.records));
      case "calls":
        return yield* callStates(execution);
      case "message":
        return messageIn(yield* callText(execution, job.call, "message"));
      case "answer": {
        const stored = yield* callText(execution, job.call, "answer");
        const slices = Number(stored.json);
        return slices > 0 ? JSON.parse(this.#pages.answer(execution, job.call, slices).toString()) : messageIn(stored);
      }
      case "outcome":
        return yield* outcomeOf(execution);
      case "pages":
      case "record":
        return;
    }
  }

  #changeCall(
    set: string,
    execution: string,
    call: number,
    values: StoredText | { repeatable: boolean },
  ): Work<number> {
    const statement = `UPDATE claudikins.calls SET ${set} WHERE execution = $execution AND call = $call`;
    return run(statement, { ...values, execution, call });
  }

  /** What a change makes superfluous is deleted in steps. */
  #after(job: Job): void {
    const { execution } = job;
    if (job.job === "ended" || job.job === "remove" || job.job === "save") this.#calls.delete(execution);
    if (job.job === "ended") this.#purge(execution, "everything");
    if (job.job === "remove" && this.#pages.has(execution)) {
      this.#purge(execution, "everything", () => void workIn(this.#database!, remove(execution)));
    }
    if (job.job !== "save") return;
    this.#later(this.#pages.deleteAnswersBut(execution, job.open));
    if (job.program === undefined) this.#purge(execution, "program");
    else this.#later(this.#pages.deleteOlder(execution, job.version, job.pages));
  }

  /** Deletes pages, and what is left of them in the files. */
  #purge(execution: string, what: "program" | "everything", then = () => {}): void {
    const pages = this.#pages;
    const purge = function* () {
      yield* pages.deleteAll(execution, what);
      then();
    };
    this.#later(purge());
    this.#giveBackLater();
  }

  #write(job: Extract<Job, { job: "pages" | "record" }>): void {
    this.#checkRoom(job.roomBytes);
    if (job.job === "pages") this.#pages.writeBatch(job.execution, job.version, job);
    else this.#pages.write(job.execution, pageOfRecord(job.record), 1, job.bytes);
  }

  *#writeAnswer({
    id: _,
    job: __,
    execution,
    roomBytes,
    ...answer
  }: Extract<Job, { job: "answered" }>): Generator<void> {
    const { call } = answer;
    if (this.#pages.usedBytes > roomBytes) return;
    const bytes = Buffer.from(JSON.stringify(answer));
    const slices = Math.ceil(bytes.length / answerSliceBytes);
    for (let slice = 0; slice < slices; slice++) {
      yield this.#pages.write(
        execution,
        pageOfAnswer(call, slice),
        1,
        bytes.subarray(slice * answerSliceBytes, (slice + 1) * answerSliceBytes),
      );
    }
    const stored = { json: String(slices), textName: null, text: null };
    workIn(this.#database!, this.#changeCall(callAnswered, execution, call, stored));
  }

  #checkRoom(roomBytes: number): void {
    if (this.#pages.usedBytes > roomBytes) throw storeIsFull(roomBytes);
  }

  /** Makes the file smaller, and leaves nothing of what was deleted in the log. */
  #giveBackLater(): void {
    if (this.#isPurging) return;
    this.#isPurging = true;
    const done = () => {
      this.#isPurging = false;
    };
    this.#later(this.#giveBack(), () => {
      done();
      this.#truncateLog();
    });
  }

  *#giveBack(): Generator<void> {
    yield;
    const database = this.#database!;
    const free = () => this.#number("freelist_count");
    for (let left = free(); left > 0; left = free()) {
      database.run(`PRAGMA incremental_vacuum(${maxPagesGivenBack})`);
      yield;
    }
  }

  #truncateLog(): void {
    const database = this.#database!;
    try {
      database.run("PRAGMA busy_timeout = 100");
      database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Another process reads or writes. The next purge tries again.
    } finally {
      database.run("PRAGMA busy_timeout = 10000");
    }
  }

  #number(pragma: string): number {
    return Object.values(this.#database!.query<Record<string, number>, []>(`PRAGMA ${pragma}`).get() ?? {})[0] ?? 0;
  }
}

function once(step: () => void): Iterator<void> {
  return {
    next() {
      step();
      return { done: true, value: undefined };
    },
  };
}

/** Lets messages arrive. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function isLarge(answer: object): boolean {
  return Object.values(answer).some((each) => typeof each === "string" && each.length > largeJsonChars);
}

/** Marks an execution whose pages are being deleted. */
function forget(execution: string): Work<number> {
  const forgotten = "UPDATE claudikins.executions SET program = NULL, unsaved = 'it is being removed'";
  return run(`${forgotten} WHERE id = $execution AND state = 'open'`, { execution });
}

function* remove(execution: string): Work<void> {
  yield* run("DELETE FROM claudikins.executions WHERE id = $execution", { execution });
  yield* removeLabels(execution);
}

function thrownBy(error: unknown): ThrownError {
  if (error instanceof ClaudikinsError) return { code: error.code, message: error.message, hint: error.hint };
  return { message: messageOf(error) };
}

declare const self: Worker;

const thread = new StoreThread((answer, transfer = []) => self.postMessage(answer, transfer));
/** Opening is asynchronous, and everything else comes after it. */
let before: Promise<void> = Promise.resolve();

self.onmessage = ({ data }: MessageEvent<ToStore>) => {
  before = before.then(() => thread.take(data));
};

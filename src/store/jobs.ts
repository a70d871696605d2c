/**
 * The changes of stored executions and their programs, as jobs for one execution each. What they have may be large, and must not keep the
 * thread of the caller busy. Jobs are flat objects: Bun moves their strings to another thread without copying them.
 */

/** Pages of an image by their numbers, or records. Their bytes are one after the other. */
export interface Batch {
  pages: Float64Array;
  sizes: Float64Array;
  bytes: ArrayBuffer;
}

/** A page of an image, or a record. */
export interface PageRow {
  page: number;
  bytes: Uint8Array;
}

/** The numbers of records begin here. Below are the pages of an image. */
export const firstRecord = 2 ** 24;

export const pageOfRecord = (record: number): number => firstRecord + record;

export function batchOf(rows: readonly PageRow[]): Batch {
  const sizes = Float64Array.from(rows, (row) => row.bytes.length);
  const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  for (const row of rows) {
    bytes.set(row.bytes, at);
    at += row.bytes.length;
  }
  return { pages: Float64Array.from(rows, ({ page }) => page), sizes, bytes: bytes.buffer };
}

/** What reads the records of an execution, in order. */
export function recordPages(count: number): { pages: Float64Array; versions: Float64Array } {
  const pages = Float64Array.from({ length: count }, (_, record) => pageOfRecord(record));
  return { pages, versions: new Float64Array(count).fill(1) };
}

/** The stored fields of a new execution. */
export interface NewExecution {
  config: string | null;
  startedAt: number;
  /** JSON. */
  request: string;
  isWanted: boolean;
}

interface NewCall {
  call: number;
  isSent: boolean;
  repeatable: boolean;
}

/** A job for one execution, by its name, with its answer. */
export interface StoreJobs {
  /** Stores a new execution. Throws FILE_NOT_WRITABLE if more than `roomBytes` are stored. */
  add: { input: NewExecution & { owner: string; roomBytes: number }; output: undefined };
  /** Begins to save an execution that may be new. */
  begin: { input: { owner: string }; output: undefined };
  /** Writes pages of an image. Throws FILE_NOT_WRITABLE if more than `roomBytes` are stored. */
  pages: { input: Batch & { version: number; roomBytes: number }; output: undefined };
  /** Writes a record, by its number. */
  record: { input: { record: number; bytes: Uint8Array<ArrayBuffer>; roomBytes: number }; output: undefined };
  /** A call that the program has made. Further properties are the message. It is stored with the next `save`. */
  call: { input: NewCall; output: undefined };
  /**
   * Makes the pages and records that were written the program. Earlier versions of `pages` are deleted; without it, all other versions.
   * Without a program, all of its pages are deleted. `open` are the calls that the program waits for: stored calls that are open stay as they
   * are, all others are deleted with their answers. Properties of a new execution say that it is not stored yet.
   */
  save: {
    input: Partial<NewExecution> & {
      owner: string;
      program: Uint8Array | undefined;
      unsaved: string | undefined;
      wakeAt: number | undefined;
      engine: string;
      open: readonly number[];
      version: number;
      pages: Float64Array | undefined;
    };
    output: undefined;
  };
  /** Call this before the call leaves. */
  sent: { input: { call: number; repeatable: boolean }; output: undefined };
  /** Further properties are the answer. A large one is not stored if more than `roomBytes` are. */
  answered: { input: { call: number; roomBytes: number }; output: undefined };
  /**
   * Stores the outcome, and deletes the program, its calls and its pages. `outcome` is JSON of an object without its value, which is JSON too.
   * With the properties of a new execution and its owner, it is stored for the first time.
   */
  ended: {
    input: Partial<NewExecution> & { owner?: string; outcome: string; value: string | undefined; isOk: boolean };
    output: undefined;
  };
  /** Deletes the execution and everything that belongs to it. Nothing happens if it is not stored. */
  remove: { input: object; output: undefined };
  /** Takes an open execution from its dead owner `from`. False if another process was first. */
  claim: { input: { owner: string; from: string | null }; output: boolean };
  /** Gives an execution up, so that another process can continue it. Nothing happens if `owner` is not its owner. */
  release: { input: { owner: string }; output: undefined };
  /** Notes that a caller has the id. */
  want: { input: object; output: undefined };
  /** Asks the owner of an open execution to cancel it. */
  askToCancel: { input: object; output: undefined };
  /** The pages of an image, by their numbers and versions. Pages of version 0 have no bytes. Throws if one is missing. */
  image: { input: { pages: Float64Array; versions: Float64Array }; output: Batch[] };
  /** The records of a program, after deleting the pages that it does not need. */
  records: { input: { pages: Float64Array; versions: Float64Array; records: number }; output: Batch[] };
  /** The stored calls by their numbers, without their texts, which may be large. */
  calls: { input: object; output: { call: number; isSent: boolean; repeatable: boolean; isAnswered: boolean }[] };
  /** The message of a stored call. */
  message: { input: { call: number }; output: object };
  /** The answer of a stored call that was answered. */
  answer: { input: { call: number }; output: object };
  /** JSON of the outcome. If it is large, JSON of its value is apart. */
  outcome: { input: object; output: { outcome: string | undefined; value: string | undefined } };
}

export type JobName = keyof StoreJobs;

/**
 * Does jobs of one process. A job for an execution that another process has claimed meanwhile changes nothing, and rejects with EXECUTION_LOST;
 * this cannot happen where the owner is alive for others as long as its process is. Those for one execution are done in the order in which they were given, except that pages, records and large
 * answers are written when there is time: nothing refers to them before their promise has resolved.
 */
export interface ExecutionWriter {
  /** Does a job for one execution. `transfer` are buffers of the input that the caller does not use any more. */
  do<Name extends JobName>(
    job: Name,
    execution: string,
    input: StoreJobs[Name]["input"],
    transfer?: ArrayBuffer[],
  ): Promise<StoreJobs[Name]["output"]>;
  /**
   * Deletes the pages of executions that are gone or have ended, and of those whose first save was interrupted: no process with the name that
   * `begin` was given is alive.
   */
  deleteOrphans(isAlive: (owner: string) => Promise<boolean>): Promise<void>;
  /** Resolves when every job is done. Later jobs are refused. Never rejects. */
  close(): Promise<void>;
}

/**
 * What the store's thread does for the main thread. Jobs are flat objects: Bun moves their strings to another thread without copying them.
 * Jobs for one execution are done in the order in which they were given, except that pages and records are written when there is time.
 */
import type { ThrownError } from "../base/off-thread.ts";
import type { Batch } from "./pages.ts";

/** The stored fields of a new execution. */
export interface NewExecution {
  config: string | null;
  startedAt: number;
  /** JSON. */
  request: string;
  isWanted: boolean;
}

/** A call as the program made it, which is stored with the next `save`. Further properties are the message. */
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
  call: { input: NewCall; output: undefined };
  /**
   * Makes the pages and records that were written the program. Earlier versions of `pages` are deleted; without it, all other versions.
   * Without a program, all of its pages are deleted.
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
  /** `outcome` is JSON of an object without its value, which is JSON too. */
  ended: {
    input: Partial<NewExecution> & { owner?: string; outcome: string; value: string | undefined; isOk: boolean };
    output: undefined;
  };
  remove: { input: object; output: undefined };
  claim: { input: { owner: string; from: string | null }; output: boolean };
  release: { input: { owner: string }; output: undefined };
  want: { input: object; output: undefined };
  askToCancel: { input: object; output: undefined };
  /** The pages of an image. */
  image: { input: { pages: Float64Array; versions: Float64Array }; output: Batch[] };
  /** The records of a program, after deleting the pages that it does not need. */
  records: { input: { pages: Float64Array; versions: Float64Array; records: number }; output: Batch[] };
  /** The stored calls. */
  calls: { input: object; output: { call: number; isSent: boolean; repeatable: boolean; isAnswered: boolean }[] };
  /** The message of a call. */
  message: { input: { call: number }; output: object };
  answer: { input: { call: number }; output: object };
  /** JSON of the outcome. If it is large, JSON of its value is apart. */
  outcome: { input: object; output: { outcome: string | undefined; value: string | undefined } };
}

export type JobName = keyof StoreJobs;

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

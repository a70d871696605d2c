/** The messages between a writer and its thread. */
import type { ThrownError } from "../../base/off-thread.ts";
import type { JobName, StoreJobs } from "../jobs.ts";

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

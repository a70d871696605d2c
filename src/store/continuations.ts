/**
 * Executions that no process runs, because theirs has died or given them up: which of them are due, and which process continues each. One
 * that waits for a timer is due when the time has come.
 */

/** What a process does with the executions that it gets. */
export interface ContinuationHandlers {
  /** The executions of this config file; null for the demo. */
  config: string | null;
  /** Only those behind this door. Undefined: all of them. */
  door: string | undefined;
  /** The format of saved programs that the process continues. */
  format: string;
  /**
   * Continues an execution. Resolves when it has run for a while, waits or has ended, also if another process runs it. Rejects if it cannot be
   * continued now: then a process tries again later. `stopping` aborts when the process takes no more.
   */
  continueHere(execution: string, stopping: AbortSignal): Promise<void>;
  /** Ends an execution after the last attempt. Rejects if it cannot be ended now. */
  giveUp(execution: string, failed: FailedAttempts): Promise<void>;
  /** Called with what went wrong, and is made up for later. */
  onProblem(text: string): void;
}

export interface FailedAttempts {
  attempts: number;
  /** Why the last one failed. */
  problem: string;
}

export interface Continuing extends AsyncDisposable {
  /** Takes no more executions. Resolves when none is being taken. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Continuations {
  /** Gives this process executions of its config, a few at a time, until the result is disposed of. Throws DATABASE_UNAVAILABLE. */
  take(handlers: ContinuationHandlers): Promise<Continuing>;
}

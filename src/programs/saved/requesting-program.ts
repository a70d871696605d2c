/** A running program, as far as the saved programs that it calls or saves need to know it. */

import type { Caller } from "../../policy/flow/session-reads.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import type { DryRun } from "../dry-run/dry-run.ts";
import type { Starter } from "../execution/asker.ts";
import type { HostIdentity, Unattended } from "../trace/record.ts";
import type { ProgramIdentity } from "./permissions.ts";

/** A program that worked, and could be saved. */
export interface LastProgram {
  code: string;
  /** The ids of what it called. */
  calls: string[];
}

export interface RequestingProgram {
  /** Given if it is a saved program itself. */
  program: ProgramIdentity | undefined;
  isForAgent: boolean;
  unattended?: Unattended | undefined;
  host: HostIdentity | undefined;
  starter: Starter | undefined;
  /** What its session has read. Undefined: what the connection has. */
  caller: Caller | undefined;
  /** Given if it runs dry. */
  dryRun: DryRun | undefined;
  /** Whether it is in the store at this moment. Then what it calls must be there too. */
  isStored: () => boolean;
  /** The last program of the same agent that worked. */
  lastProgram: () => LastProgram | undefined;
  /** The stored runs of a saved program, newest first. */
  runsOf: (name: string) => Promise<StoredRun[]>;
}

/** A run of a saved program that is kept: one in the background, or at a time. */
export interface StoredRun {
  execution: string;
  /** In milliseconds since 1970. */
  startedAt: number;
  /** Undefined if it has not ended. */
  outcome: Outcome | undefined;
}

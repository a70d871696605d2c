/** An execution of this process, and how a caller follows one. */

import { atMost } from "../../base/time-limit.ts";
import { continuesElsewhere } from "../../policy/approval-queue.ts";
import type { FailureReason, Outcome } from "../../sandbox/contract.ts";
import { calledId } from "../../sandbox/seen-calls.ts";
import type { ExecutionParts } from "../execute.ts";
import type { Starter } from "./asker.ts";
import type { ExecutionCheckpointer } from "./checkpointer.ts";

/** Time for a program that waits to be saved. */
export const programSavingMs = 2_000;

/** How far an execution is. */
export type Progress =
  | { state: "running"; calls: string[] }
  /** Waits for a timer alone. `until` is in milliseconds since 1970. */
  | { state: "asleep"; until: number }
  /** Its process has died, or gave it up. It can be continued. */
  | { state: "stopped" }
  /** Its process has died, and it cannot be continued. */
  | { state: "lost"; why: string }
  | { state: "ended"; ok: boolean; reason?: FailureReason | undefined };

/** An execution that a caller follows. */
export interface FollowedExecution {
  readonly id: string;
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  /** Rejects with EXECUTION_LOST or EXECUTION_NOT_FOUND. */
  readonly outcome: Promise<Outcome>;
  progress(): Promise<Progress>;
  /**
   * Keeps the execution, and later its outcome, because a caller gets its id. Resolves when it is stored, if that is soon. An execution that
   * has ended before is not kept: `isHandedOut` stays false, and the caller gets the outcome.
   */
  handOut(): Promise<void>;
  /** Whether a caller has its id. */
  readonly isHandedOut: boolean;
  /** Whether another process runs it or can continue it, so that its outcome here says nothing. */
  readonly isReleased: boolean;
  /**
   * Resolves when its process leaves and the program is saved: the caller gets the id instead of the outcome. Undefined if another process runs
   * it.
   */
  readonly left?: Promise<void>;
  cancel(): void;
}

/** An execution of this process. */
export class RunningExecution implements FollowedExecution {
  readonly id: string;
  readonly startedAt: number;
  readonly parts: ExecutionParts;
  readonly starter: Starter | undefined;
  readonly outcome: Promise<Outcome>;
  readonly #checkpointer: ExecutionCheckpointer;
  readonly #isBackground: boolean;
  readonly #cancelled = new AbortController();
  readonly #left = Promise.withResolvers<void>();
  #leaving: Promise<void> | undefined;

  /** A program in the background is stored before it begins. */
  constructor(
    {
      id,
      startedAt,
      checkpointer,
      parts,
      starter,
      isBackground = false,
    }: Pick<RunningExecution, "id" | "startedAt" | "parts" | "starter"> & {
      checkpointer: ExecutionCheckpointer;
      isBackground?: boolean;
    },
    work: (signal: AbortSignal) => Promise<Outcome>,
  ) {
    this.id = id;
    this.startedAt = startedAt;
    this.parts = parts;
    this.starter = starter;
    this.#checkpointer = checkpointer;
    this.#isBackground = isBackground;
    void checkpointer.lost.then(() => this.#cancelled.abort(continuesElsewhere));
    this.outcome = this.#run(work);
    // The promise may have no listener.
    this.outcome.catch(() => {});
  }

  async progress(): Promise<Progress> {
    const running = this.parts.sandbox.running(this.id);
    const until = running?.sleepsUntil;
    if (until !== undefined) return { state: "asleep", until };
    return { state: "running", calls: running?.openCalls.map(calledId) ?? [] };
  }

  /** Whether a call is running. */
  get isCalling(): boolean {
    return this.#checkpointer.isCalling;
  }

  /** Whether it runs no code now: it waits for a timer or an answer. */
  get isWaiting(): boolean {
    const running = this.parts.sandbox.running(this.id);
    return running !== undefined && (running.isParked || running.sleepsUntil !== undefined);
  }

  /** Whether nothing that it waits for would be lost if it were continued elsewhere: neither an answer nor a question in the agent. */
  get mayLeave(): boolean {
    return !this.isCalling && !this.parts.pool.isAsking;
  }

  get isReleased(): boolean {
    return this.#checkpointer.isReleased;
  }

  get left(): Promise<void> {
    return this.#left.promise;
  }

  /**
   * Saves the program as soon as it waits, because its process leaves. Then a caller that waits for the outcome gets the id. Resolves when it is
   * saved, cannot be saved or has ended.
   */
  leave(): Promise<void> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  async #leave(): Promise<void> {
    this.parts.sandbox.running(this.id)?.keep();
    await this.#checkpointer.saved;
    if (this.#checkpointer.isStored && !this.#checkpointer.hasFailed) this.#left.resolve();
  }

  /** Resolves when the execution of a background program is in the store. Rejects if it cannot be stored. */
  async stored(): Promise<void> {
    await this.#checkpointer.begun;
  }

  /** Rejects with FILE_NOT_WRITABLE if a program in the background cannot be stored. */
  async handOut(): Promise<void> {
    const wanted = this.#checkpointer.want();
    this.parts.sandbox.running(this.id)?.keep();
    // Other programs than those in the background are saved when they wait. Until then they may compute for long.
    if (this.#isBackground) await this.stored();
    else await atMost(programSavingMs, this.#checkpointer.saved);
    await wanted;
  }

  get isHandedOut(): boolean {
    return this.#checkpointer.isWanted;
  }

  cancel(): void {
    this.#cancelled.abort();
  }

  /** Ends the execution here. If its id was handed out, another process can continue it, unless it was cancelled. */
  stop(): void {
    if (this.#cancelled.signal.aborted) return;
    const { isWanted } = this.#checkpointer;
    if (isWanted) this.#checkpointer.release();
    this.#cancelled.abort(isWanted ? continuesElsewhere : undefined);
  }

  async #run(work: (signal: AbortSignal) => Promise<Outcome>): Promise<Outcome> {
    const outcome = await work(this.#cancelled.signal).catch((error: unknown) => {
      // It has not begun here. If it is stored, another process can run it.
      this.#checkpointer.release();
      throw error;
    });
    await this.#checkpointer.ended(outcome);
    return outcome;
  }
}

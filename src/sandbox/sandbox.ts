/** Runs programs. Each execution has its own worker, which can always be stopped. */

import { randomBytes } from "node:crypto";
import { availableParallelism, totalmem } from "node:os";
import { megabyte } from "../base/units.ts";
import type { Outcome } from "./contract.ts";
import { guestScript } from "./guest/bundle.ts";
import { stoppedProgram } from "./limit-errors.ts";
import { OutcomeRecorder } from "./main-thread/outcome-recorder.ts";
import { Places, type ProgramPlace } from "./main-thread/places.ts";
import { ProgramRun, type RunOptions, type Saved, type SharedResources } from "./main-thread/program-run.ts";
import { CallerShares } from "./main-thread/time-shares.ts";
import { WorkerPool } from "./main-thread/worker-pool.ts";

/** Memory of all parked programs together. Beyond it, programs that wait keep their worker. */
const maxParkedBytes = 512 * megabyte;

/**
 * Programs that compute at the same time, for each core. The operating system gives the cores to all of them in turn, so too many programs
 * of one owner would slow down the programs of another.
 */
const computingPerCore = 2;

/** Minimum of computing programs, so that several owners can compute at the same time on a small machine. */
const minComputingPrograms = 8;

/** Maximum of computing programs, because the main thread must get a core within 100 ms. */
const maxComputingPrograms = 16;

/** Programs in memory for each program that may compute. A program that waits for calls takes 8 MB, and no core. */
const programsPerComputing = 4;

/** The share of the machine's memory for programs. Each program counts as `memoryOfProgram`. */
const programMemoryShare = 0.5;

/** The default memory limit of a program. */
const memoryOfProgram = 256 * megabyte;

const guest: string = guestScript();

const computingPrograms = Math.min(
  Math.max(minComputingPrograms, computingPerCore * availableParallelism()),
  maxComputingPrograms,
);

export class Sandbox implements Disposable {
  readonly #shared: SharedResources;
  readonly #places: Places;
  readonly #running = new Map<string, ProgramRun>();

  /**
   * `keptWorkers` are kept for the next execution; it is 0 for a process that runs one program. At most `atOnce` programs compute
   * concurrently, and at most `inMemory` wait in memory for calls; others wait for their turn. A program that waits for a person leaves its
   * worker after `parkAfterMs`.
   */
  constructor({
    keptWorkers = 2,
    atOnce = computingPrograms,
    inMemory = programsInMemory(atOnce),
    parkAfterMs = 5_000,
  } = {}) {
    const shares = new CallerShares();
    this.#places = new Places({ computing: atOnce, inMemory, shares, parkAfterMs });
    this.#shared = {
      workers: new WorkerPool(guest, keptWorkers),
      shares,
      parkAfterMs,
      mayPark: () => this.parkedBytes < maxParkedBytes,
    };
  }

  /** Starts a worker early. It is only useful for an execution with the same memory size. */
  warm(memoryBytes: number): void {
    this.#shared.workers.warm(memoryBytes);
  }

  /**
   * Runs a program, or continues one that was saved with the same source and limits. Never rejects: everything that the program
   * does is an outcome.
   */
  async run(source: string, options: RunOptions, saved?: Saved): Promise<Outcome> {
    const { id = randomBytes(6).toString("hex"), limits, signal, turn = {} } = options;
    const isKept = options.checkpointer !== undefined;
    const recorder = new OutcomeRecorder({ id, saved: saved?.execution, isKept });
    const run = (place: ProgramPlace) => {
      const program = new ProgramRun(source, { ...options, id }, recorder, this.#shared, place, saved);
      this.#running.set(id, program);
      return program.run().finally(() => this.#running.delete(id));
    };
    // The time limit starts when the execution gets its turn.
    const result = (await this.#places.inTurn(signal, turn, run)) ?? stoppedProgram("cancelled", limits);
    return result.ok ? recorder.success(result) : recorder.failure(result.reason, result.error);
  }

  /** Undefined if no execution with that id runs here. */
  running(id: string): ProgramRun | undefined {
    return this.#running.get(id);
  }

  /**
   * Ends the workers that wait for an execution, and discards the compiled engine. Running executions are not affected, and the next
   * one starts a worker. Resolves when the workers have ended. Frees 18 MB of two workers, and 5 MB of the engine.
   */
  async releaseWorkers(): Promise<void> {
    await this.#shared.workers.release();
  }

  /** Number of parked programs. */
  get parkedPrograms(): number {
    return this.#running.values().reduce((sum, { isParked }) => sum + Number(isParked), 0);
  }

  /** Compressed memory of the parked programs that are in no store. */
  get parkedBytes(): number {
    return this.#running.values().reduce((sum, { parkedBytes }) => sum + parkedBytes, 0);
  }

  [Symbol.dispose](): void {
    this.#places.close();
    this.#shared.workers[Symbol.dispose]();
  }
}

/** The number of programs that fit into the machine's memory if each uses its default limit. At least the number that may compute. */
function programsInMemory(atOnce: number): number {
  const fitting = Math.floor((totalmem() * programMemoryShare) / memoryOfProgram);
  return Math.max(atOnce, Math.min(atOnce * programsPerComputing, fitting));
}

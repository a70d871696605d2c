/** Runs programs. Each execution has its own worker, which can always be stopped. */

import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import { machineMemory } from "../base/machine-memory.ts";
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

/**
 * Maximum of programs in memory for each program that may compute. A program that waits for calls takes 8 MB, and no core. With 4 in place
 * of 8, the slowest executions of 60 people on two cores took twice as long, because sleeping programs held the places.
 */
const programsPerComputing = 8;

/** No more programs than may compute get into memory while more than this share of the machine's memory is taken. See `takenMemory`. */
const fullMemoryShare = 0.75;

/**
 * No program grows, and no second one gets into memory, while more than this share of the machine's memory is taken. A program that grows
 * runs out of memory before the system ends this process.
 */
const growingShare = 0.9;

const guest: string = guestScript();

const computingPrograms = Math.min(
  Math.max(minComputingPrograms, computingPerCore * availableParallelism()),
  maxComputingPrograms,
);

/**
 * Bytes that the WebAssembly memories of a process may have together, for each byte of the machine's memory. The engine of Bun refuses
 * more, and counts a memory with its present size.
 */
const engineMemoryFactor = 3;

/** The share of these bytes for programs that begin. The rest is for those that grow, or continue after a person has answered. */
const beginningShare = 0.75;

interface SandboxOptions {
  /** Workers that are kept for the next execution: 0 for a process that runs one program. */
  keptWorkers?: number;
  /** Maximum of programs that compute concurrently. */
  atOnce?: number;
  /** Maximum of programs in memory, which compute or wait for calls. Others wait for their turn. */
  inMemory?: number;
  /** While more memory is taken, at most `atOnce` programs get into memory. In bytes. */
  fullBytes?: number;
  /** While more memory is taken, programs do not grow. In bytes. */
  growBelowBytes?: number;
  /** Bytes that the engine gives to all programs together. */
  engineBytes?: number;
  /** A program that waits for a person leaves its worker after this time. */
  parkAfterMs?: number;
}

export class Sandbox implements Disposable {
  readonly #shared: SharedResources;
  readonly #places: Places;
  readonly #running = new Map<string, ProgramRun>();

  constructor({
    keptWorkers = 2,
    atOnce = computingPrograms,
    inMemory = atOnce * programsPerComputing,
    fullBytes = machineMemory() * fullMemoryShare,
    growBelowBytes = machineMemory() * growingShare,
    engineBytes = machineMemory() * engineMemoryFactor,
    parkAfterMs = 5_000,
  }: SandboxOptions = {}) {
    const shares = new CallerShares();
    const limitBytes = engineBytes * beginningShare;
    const workers = new WorkerPool(guest, keptWorkers, { maxBytes: engineBytes, growBelowBytes });
    const memory = { fullBytes, growBelowBytes, limitBytes, freeMemory: () => workers.endIdle() };
    this.#places = new Places({ computing: atOnce, inMemory, ...memory, shares, parkAfterMs });
    this.#shared = {
      workers,
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
    const result =
      (await this.#places.inTurn(signal, { ...turn, memoryBytes: limits.memoryBytes }, run)) ??
      stoppedProgram("cancelled", limits);
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

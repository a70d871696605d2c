/** Runs one program: handles the messages of its worker, enforces its time limits, and parks it while it waits for a person. */
import { availableParallelism, loadavg } from "node:os";
import { type Clock, TimeLimit } from "../../base/time-limit.ts";
import { megabyte } from "../../base/units.ts";
import { type CallListener, tellAll } from "../call-events.ts";
import type { Checkpointer, CopyTurn, OpenCall, RestoredRun } from "../checkpoint-contract.ts";
import type { Bindings, CheckMode, Limits, Mounts } from "../contract.ts";
import type { FileUse } from "../host/files.ts";
import { stoppedProgram, unreadableProgram, wastefulProgram } from "../limit-errors.ts";
import {
  type CallMessage,
  type CheckpointMessage,
  computing,
  type EndedMessage,
  type FromWorker,
  type LookupQuestion,
  newState,
  type ParkedMessage,
  phase,
  stateOfPlace,
  stopReason,
  type WorkerResult,
} from "../messages.ts";
import type { ProgramImage } from "../program-image.ts";
import type { ReplayOptions, Seed } from "../replay/contract.ts";
import { answersTo, namesOf } from "../worker/known-tools.ts";
import type { OutcomeRecorder } from "./outcome-recorder.ts";
import { ParkableWorker } from "./parkable-worker.ts";
import type { ProgramPlace, Turn } from "./places.ts";
import { ProgramCalls } from "./program-calls.ts";
import type { CallerShares } from "./time-shares.ts";
import type { WorkerPool } from "./worker-pool.ts";

/** CPU time for parsing a program. Parsing takes milliseconds, but for some programs a parser would try combinations for years. */
const programReadingMs = 5_000;

/**
 * How much the memory of this process may grow while a program is parsed, in MB. A parser that tries combinations leaves garbage quickly.
 */
const programReadingMb = 512;

/** Time between two checks of the memory while a program is parsed. Most programs are parsed before the first check. */
const programReadingLookMs = 200;

/** Maximum time that an outcome waits for its explanation. */
const explanationMs = 2_000;

/** Time for a worker to make a copy before other programs go first. */
const imageCopyMs = 1_000;

/** A kept program that waits for a call is parked after this many times the delay for a program that waits for a person. */
const longCallShare = 6;

/** CPU time for starting a new worker when the program's worker cannot be reused. */
const workerStartMs = 50;

/**
 * Time for a worker to stop by itself before it is terminated. On a busy machine stopping takes long. A worker that stops by itself can
 * report where the code was.
 */
const stopGraceMs = { timeout: 1_000, cancelled: 250 };

export interface RunOptions {
  /** The id of the execution. Default: a random one. */
  id?: string | undefined;
  bindings: Bindings;
  limits: Limits;
  mounts: Mounts;
  check: CheckMode;
  signal?: AbortSignal | undefined;
  /** The turn of the program, which it takes from the sandbox. */
  turn?: Turn | undefined;
  /** Gets what happens to the calls. */
  listener?: CallListener | undefined;
  /** Keeps the execution outside of this process. */
  checkpointer?: Checkpointer | undefined;
  /** From which all random values of the program follow. Default: one that nobody knows. */
  seed?: Seed | undefined;
  /** Replays an earlier execution. It needs a seed. */
  replay?: ReplayOptions | undefined;
  /** Called with the uses of the workspace, before calls that come after them. */
  onFile?: ((use: FileUse) => void) | undefined;
}

/** An execution that was saved, perhaps by another process. */
export interface Saved {
  execution: RestoredRun;
  /** The calls that it waits for. Those without an answer are made. */
  open: readonly OpenCall[];
}

/** What the programs of a sandbox share. */
export interface SharedResources {
  workers: WorkerPool;
  shares: CallerShares;
  /** A program that waits for a person leaves its worker after this time. */
  parkAfterMs: number;
  /** Whether there is room for another parked program. */
  mayPark: () => boolean;
}

/** The result of a program, and whether its worker may run another one. */
interface ProgramEnd {
  result: WorkerResult;
  reusable: boolean;
}

export class ProgramRun {
  readonly #options: RunOptions;
  readonly #saved: Saved | undefined;
  readonly #recorder: OutcomeRecorder;
  readonly #shared: SharedResources;
  readonly #worker: ParkableWorker;
  readonly #calls: ProgramCalls;
  /** Memory through which the worker and this thread notify each other immediately. See `RunMessage`. */
  readonly #state = new Int32Array(newState());
  readonly #limit: TimeLimit;
  readonly #place: ProgramPlace;
  /** Pauses the time limit, and lends the place of the program to others. */
  readonly #clock: Clock = { hold: () => this.#hold(), release: () => this.#release() };
  readonly #end = Promise.withResolvers<ProgramEnd>();
  /** The end of the program, while its explanation is awaited. */
  #ended: ProgramEnd | undefined;
  readonly #timers: Timer[] = [];
  #quietTimer: Timer | undefined;
  #isKept: boolean;
  #isParking = false;
  /** Set while the program waits for a copy to be saved before its next calls. The number is the size of its memory. */
  #wantsCopy: number | undefined;
  #turn: CopyTurn | undefined;
  /** True from the wait for a copy turn until the copy is saved. */
  #isCopying = false;
  #hasEnded = false;
  /** When the program continues, if it waits only for a timer that fires late. In milliseconds since 1970. */
  sleepsUntil: number | undefined;

  constructor(
    source: string,
    { id, ...options }: RunOptions & { id: string },
    recorder: OutcomeRecorder,
    shared: SharedResources,
    place: ProgramPlace,
    saved?: Saved,
  ) {
    const { bindings, limits, mounts, check, checkpointer, listener, onFile, seed, replay } = options;
    this.#options = options;
    this.#saved = saved;
    this.#recorder = recorder;
    this.#shared = shared;
    this.#isKept = saved !== undefined || (checkpointer?.fromStart ?? false);
    this.#limit = new TimeLimit(saved?.execution.restMs ?? limits.timeoutMs, () => this.#halt("timeout"));
    this.#place = place;
    place.begin(this.#state, this.#park);
    this.#calls = new ProgramCalls({
      id,
      share: { take: this.#takeTime, charge: this.#chargeTime },
      bindings,
      limits,
      listener: tellAll(listener ? [recorder.hear, listener] : [recorder.hear]),
      checkpointer,
      clock: this.#clock,
      answeredAt: replay?.answeredAt,
      send: (answer) => this.#worker.send(answer),
      isCopied: () => this.#isKept || this.#isParking,
    });
    this.#worker = new ParkableWorker({
      workers: shared.workers,
      memoryBytes: limits.memoryBytes,
      caller: options.turn,
      run: () => ({
        source,
        check,
        namespaces: bindings.namespaces.map(namesOf),
        mounts,
        limits,
        deadline: this.#limit.deadline,
        isKept: this.#isKept,
        tellsFiles: onFile !== undefined,
        seed,
        replaysFrom: replay?.startsAt,
        state: this.#state.buffer as SharedArrayBuffer,
      }),
      received: (message) => this.#received(message),
      failed: (event) => this.#failed(event),
      lost: () => this.#giveUp(stoppedProgram("crashed", limits)),
    });
  }

  /** Resolves with the result of the program. Call this once. */
  async run(): Promise<WorkerResult> {
    const { limits, signal } = this.#options;
    const cancel = () => this.#halt("cancelled");
    signal?.addEventListener("abort", cancel, { once: true });
    if (this.#saved) this.#restore(this.#saved);
    else {
      await this.#worker.start();
      if (limits.timeoutMs > programReadingMs) this.#watchReading();
      this.#watchReadingMemory();
    }
    if (signal?.aborted) cancel();
    const { result, reusable } = await this.#end.promise;
    this.#hasEnded = true;
    this.#turn?.end();
    this.#limit.end();
    this.#place.end();
    for (const timer of this.#timers) clearTimeout(timer);
    clearTimeout(this.#quietTimer);
    signal?.removeEventListener("abort", cancel);
    this.#endCalls();
    this.#worker.end(reusable);
    this.#chargeTime(Atomics.load(this.#state, 2) + (reusable ? 0 : workerStartMs));
    return result;
  }

  readonly #chargeTime = (ms: number): void => this.#shared.shares.charge(this.#options.turn, ms);

  /** Waits for the caller's share of the time, which does not count as time of the program. */
  readonly #takeTime = (ms: number, signal: AbortSignal): Promise<void> | undefined => {
    return this.#untimed(this.#shared.shares.take(this.#options.turn, ms, signal));
  };

  /** Excludes the time until `wait` resolves from the program's time. */
  #untimed<T>(wait: Promise<T> | undefined): Promise<T> | undefined {
    if (!wait) return undefined;
    this.#limit.hold();
    this.#tellDeadline();
    return wait.finally(() => {
      this.#limit.release();
      this.#tellDeadline();
    });
  }

  /** Reads the program from its store. The store may be away for long, which does not count as time of the program. */
  async #load(checkpointer: Checkpointer): Promise<ProgramImage> {
    return (await this.#untimed(checkpointer.load()))!;
  }

  /** Continues the program when it has a place to compute. */
  async #computeAgain(): Promise<void> {
    if ((await this.#untimed(this.#place.compute())) !== false) this.#worker.send({ type: "place" });
  }

  /** The calls that it waits for. */
  get openCalls(): CallMessage[] {
    return this.#calls.open;
  }

  /** Whether it waits outside any worker. */
  get isParked(): boolean {
    return this.#worker.isParked;
  }

  get parkedBytes(): number {
    return this.#worker.parkedBytes;
  }

  /** Saves the program soon, and from now on before each of its calls leaves. */
  keep(): void {
    if (this.#isKept || !this.#options.checkpointer) return;
    this.#isKept = true;
    this.#worker.send({ type: "keep" });
  }

  #received(message: FromWorker): void {
    this.#parkLater();
    if (typeof message === "string") {
      for (const call of JSON.parse(message) as CallMessage[]) void this.#calls.make(call);
      return;
    }
    switch (message.type) {
      case "logs":
        this.#recorder.log(message.entries);
        break;
      case "display":
        this.#recorder.display(message.json);
        break;
      case "file":
        this.#options.onFile?.(message);
        break;
      case "call":
        void this.#calls.make(message);
        break;
      case "wantsCopy":
        this.#wantsCopy = message.bytes;
        void this.#copy();
        break;
      case "checkpoint":
        void this.#copied(message);
        break;
      case "sleeps":
        this.sleepsUntil = message.until;
        this.#hold();
        break;
      case "waits":
        this.#options.replay?.onWait({ ...message, wake: () => this.#worker.send({ type: "wake" }) });
        break;
      case "awake":
        if (this.sleepsUntil === undefined) break;
        this.sleepsUntil = undefined;
        this.#release();
        break;
      case "wantsPlace":
        void this.#computeAgain();
        break;
      case "parked":
        void this.#parked(message);
        break;
      case "resumed":
        this.#worker.resumed();
        this.#place.parkLater();
        break;
      case "questions":
        void this.#answer(message.questions);
        break;
      case "ended":
        this.#codeEnded(message);
        break;
      case "explained": {
        if (!this.#ended) break;
        const { result, reusable } = this.#ended;
        this.#recorder.log(message.warnings ?? []);
        const explained = result.ok || !message.error ? result : { ...result, error: message.error };
        this.#end.resolve({ result: explained, reusable });
      }
    }
  }

  async #answer(questions: readonly LookupQuestion[]): Promise<void> {
    this.#worker.send({ type: "answers", answers: await answersTo(questions, this.#options.bindings) });
  }

  #codeEnded({ type: _, reusable, usedBytes, registry, explains, ...end }: EndedMessage): void {
    const result: WorkerResult = "failure" in end ? end.failure : { ok: true, ...end };
    if (registry !== undefined) this.#recorder.asked(registry);
    this.#ended = { result, reusable };
    this.#place.usedBytes = usedBytes;
    this.#endCalls();
    this.#limit.end();
    if (explains) this.#after(explanationMs, () => this.#giveUp(result));
    else this.#end.resolve(this.#ended);
  }

  #failed(event: ErrorEvent): void {
    event.preventDefault();
    const reason = event.message.includes("Maximum call stack size") ? "stack" : "crashed";
    this.#giveUp(this.#ended?.result ?? stoppedProgram(reason, this.#options.limits));
  }

  #halt(reason: "cancelled" | "timeout"): void {
    const { limits } = this.#options;
    if (this.#ended || this.#worker.isParked) {
      this.#giveUp(this.#ended?.result ?? stoppedProgram(reason, limits));
      return;
    }
    Atomics.compareExchange(this.#state, 0, stopReason.none, stopReason[reason]);
    this.#endCalls();
    this.#worker.send({ type: "stop" });
    const isReading = Atomics.load(this.#state, 1) === phase.reading;
    this.#after(stopGraceMs[reason], () => this.#giveUp(stoppedProgram(reason, limits, isReading)));
  }

  /** Ends the program, and its worker. */
  #giveUp(result: WorkerResult): void {
    this.#end.resolve({ result, reusable: false });
  }

  /** Ends the calls with the reason for which the execution was cancelled. */
  #endCalls(): void {
    const { signal } = this.#options;
    this.#calls.end(signal?.aborted ? signal.reason : undefined);
  }

  #after(ms: number, then: () => void): void {
    this.#timers.push(setTimeout(then, ms));
  }

  /**
   * Stops a program whose parsing takes too long. Waiting does not count, and concurrent executions share the cores with each other and
   * with other processes.
   */
  #watchReading(waitedMs = 0): void {
    this.#after(programReadingMs, () => {
      const now = Atomics.load(this.#state, 1);
      const running = Math.max(this.#shared.workers.busy, loadavg()[0] ?? 0);
      const share = Math.max(1, running / availableParallelism());
      if (now === phase.waiting) this.#watchReading();
      else if (now !== phase.reading) return;
      else if (waitedMs + programReadingMs < programReadingMs * share) this.#watchReading(waitedMs + programReadingMs);
      else this.#giveUp(unreadableProgram(programReadingMs));
    });
  }

  /**
   * Stops a program whose parsing takes too much memory. The worker's garbage collector starts too late: it counts the engine's memory as
   * live data, and lets garbage grow to twice that size. Other work of this process can add to the growth, but rarely in the time that
   * parsing usually takes.
   */
  #watchReadingMemory(startBytes?: number): void {
    this.#after(programReadingLookMs, () => {
      const now = Atomics.load(this.#state, 1);
      if (now !== phase.reading && now !== phase.waiting) return;
      const bytes = process.memoryUsage.rss();
      const start = now === phase.reading ? (startBytes ?? bytes) : undefined;
      if (start !== undefined && bytes - start > programReadingMb * megabyte)
        this.#giveUp(wastefulProgram(programReadingMb));
      else this.#watchReadingMemory(start);
    });
  }

  #hold(): void {
    this.#limit.hold();
    this.#place.hold();
    this.#tellDeadline();
  }

  #release(): void {
    this.#limit.release();
    this.#place.release();
    this.#tellDeadline();
  }

  #tellDeadline(): void {
    if (!this.#worker.isParked) this.#worker.send({ type: "deadline", deadline: this.#limit.deadline });
  }

  readonly #park = (): void => void this.#parkInTurn();

  /** Parks the program in the store if it can be saved there, otherwise in memory. */
  async #parkInTurn(): Promise<void> {
    const { checkpointer } = this.#options;
    const isStored = checkpointer !== undefined && !checkpointer.hasFailed;
    if (!this.#mayPark || !(isStored || this.#shared.mayPark())) return;
    if (isStored) {
      this.#isCopying = true;
      const turn = await checkpointer.turn(Number.POSITIVE_INFINITY);
      this.#isCopying = false;
      this.#turn = turn;
      if (this.#hasEnded || !this.#worker.isHere || this.#wantsCopy !== undefined) {
        this.#endTurn();
        return;
      }
    }
    this.#isParking = true;
    this.#worker.park(2 * this.#shared.parkAfterMs, this.#turn?.isWhole ?? true);
  }

  /** Whether the program may be asked to leave its worker. It must be in a worker, and no copy of it may be in progress. */
  get #mayPark(): boolean {
    return this.#worker.isHere && !this.#isParking && !this.#isCopying && this.#wantsCopy === undefined;
  }

  /** Parks a kept program that waits for a call for long. */
  #parkLater(): void {
    clearTimeout(this.#quietTimer);
    if (this.#isKept) this.#quietTimer = setTimeout(this.#park, longCallShare * this.#shared.parkAfterMs);
  }

  async #parked(message: ParkedMessage): Promise<void> {
    const { checkpointer } = this.#options;
    const { saved } = message;
    const isStored = this.#turn !== undefined;
    if (!saved) {
      this.#worker.stay(false);
      if (!this.#isKept) this.#calls.forgetAnswers();
    } else if (!isStored || !checkpointer) {
      this.#worker.parked({ image: saved }, message);
    } else if (await this.#save(message)) {
      this.#isKept = true;
      this.#wantsCopy = undefined;
      this.#worker.parked({ load: () => this.#load(checkpointer) }, message);
    } else {
      // Nothing is lost: the program is still in its worker. It is parked in memory later.
      this.#worker.stay(true);
      this.#place.parkLater();
    }
    this.#isParking = false;
    this.#endTurn();
  }

  /** Asks for a copy of the program when it is its turn. */
  async #copy(): Promise<void> {
    const { checkpointer } = this.#options;
    const bytes = this.#wantsCopy;
    if (bytes === undefined || this.#isParking || this.#isCopying || !checkpointer) return;
    this.#isCopying = true;
    const turn = await checkpointer.turn(bytes);
    if (this.#hasEnded) {
      turn.end();
      return;
    }
    this.#turn = turn;
    this.#wantsCopy = undefined;
    this.#worker.send({ type: "copy", isWhole: turn.isWhole });
    // A program that computes for a long time yields to other programs.
    this.#after(imageCopyMs, () => {
      if (this.#turn === turn && this.#isCopying) turn.end();
    });
  }

  async #copied(message: CheckpointMessage): Promise<void> {
    await this.#save(message, message.calls);
    this.#isCopying = false;
    this.#endTurn();
  }

  #endTurn(): void {
    this.#turn?.end();
    this.#turn = undefined;
    if (!this.#hasEnded) void this.#copy();
  }

  #save({ saved, wakeAt, open }: Pick<ParkedMessage, "saved" | "wakeAt" | "open">, calls?: CallMessage[]) {
    const { state, recorded } = this.#recorder;
    const execution = saved && { image: saved, recorder: state, recorded, restMs: this.#limit.restMs, wakeAt };
    return this.#calls.save(execution, open, calls);
  }

  #restore({ execution, open }: Saved): void {
    const { checkpointer } = this.#options;
    if (!checkpointer) throw new Error("an execution that was saved is read from its store");
    Atomics.store(this.#state, stateOfPlace, computing.waits);
    this.#worker.restore({ load: () => this.#load(checkpointer) }, execution.wakeAt);
    if (execution.image.isAsleep) {
      this.sleepsUntil = execution.wakeAt;
      this.#hold();
    }
    this.#calls.restore(open);
    if (open.length === 0 && execution.wakeAt === undefined) this.#worker.wake();
  }
}

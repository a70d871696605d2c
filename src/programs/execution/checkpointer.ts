/**
 * Saves one execution in the store, so that another process can continue it. It is stored from the first time that it is parked, or from
 * its start. From then on, each call leaves only after the store has the program and a line that says so.
 */
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { buildMark } from "../../base/program-format.ts";
import type { Checkpointer, CopyTurn, OpenCall, SavedRun } from "../../sandbox/checkpoint-contract.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import type { RecordedOutput } from "../../sandbox/main-thread/outcome-recorder.ts";
import type { SettleMessage } from "../../sandbox/messages.ts";
import { bytesOf, type ProgramImage } from "../../sandbox/program-image.ts";
import type { ExecutionWriter, NewExecution } from "../../store/jobs.ts";
import type { SharedWorkspace } from "../workspace/shared-workspace.ts";
import { type CopyTurns, copyTurn, WriteBudget } from "./copy-turns.ts";
import type { CallChanges, TimelineHead } from "./recording.ts";
import { outcomeJson } from "./stored-outcome.ts";
import { headOf, readHead, recordsOf, type StoredHead, wholeImage } from "./stored-program.ts";

/** How often a program that is in a bucket which cannot be reached is asked for. */
const bucketLookMs = 3_000;

/** The store, as a process uses it that runs executions. */
export interface StoreAccess {
  writer: ExecutionWriter;
  /** The name of this process, see `Store.takeOwner`. */
  owner: string;
  /** Keeps this build for programs that it has saved, and that a caller may ask for. */
  keepBuild?: () => void;
}

/** What was recorded of an execution, for `claudikins executions`. */
interface TimelineSource {
  timeline: TimelineHead;
  changes(isWhole: boolean): CallChanges;
}

/** A copy of the program, and what was recorded since the last one. */
interface Copy {
  image: ProgramImage;
  wakeAt: number | undefined;
  /** Bytes of the pages that are written. */
  bytes: number;
  head: (records: number) => Uint8Array;
  firstRecord: number;
  recorded: readonly RecordedOutput[];
  /** Everything that was recorded until then. */
  recordedCount: number;
  calls: CallChanges | undefined;
  /** Number of records, once they are written. */
  records: number;
}

export interface CheckpointerOptions {
  id: string;
  /** The config file; null for the demo. */
  config: string | null;
  startedAt: number;
  /** JSON, see executions.ts. */
  request: string;
  /** Largest program that is saved, and the size of everything in the store beyond which nothing is saved. */
  maxBytes: number;
  roomBytes: number;
  log: Log;
  /** Opens the store when it is first needed. */
  open: () => Promise<StoreAccess>;
  /** The turns of the process. */
  turns: CopyTurns;
  /** Whether the execution is kept from its start. */
  fromStart: boolean;
  /** A dry run is not continued in another process, which would not know what was recorded. */
  isDryRun?: boolean;
  /** Records the execution for `claudikins executions`. What it has is stored with the program. */
  recording?: TimelineSource | undefined;
  /** Its files are stored before the program, and brought here before it is read. */
  workspace?: () => Promise<Pick<SharedWorkspace, "keep" | "refresh"> | undefined>;
  /** Set if the execution was taken over. */
  taken?: Taken | undefined;
}

/** The stored state of an execution that was taken over. */
export interface Taken {
  access: StoreAccess;
  calls: Iterable<number>;
  /** The calls that were sent, and whether they may be sent again. */
  sent: ReadonlyMap<number, boolean>;
  /** Undefined if it has not started. */
  program?: { head: StoredHead; recordedCount: number } | undefined;
}

export class ExecutionCheckpointer implements Checkpointer {
  readonly #options: CheckpointerOptions;
  /** Undefined until the execution is stored. */
  #access: StoreAccess | undefined;
  #fromStart: boolean;
  /** The calls that were sent, and whether they may be sent again. */
  readonly #sent: Map<number, boolean>;
  readonly #calling = new Set<number>();
  /** The calls that are stored. */
  #stored: Set<number>;
  #isWanted = false;
  #isOver = false;
  #isReleased = false;
  readonly #lost = Promise.withResolvers<void>();
  #begun: Promise<void> | undefined;
  readonly #saved = Promise.withResolvers<void>();
  /** The store could not be written, and may have a program that is too old. */
  #isBroken = false;
  /** The image that is stored. Undefined if none is, so that the next one must be whole. */
  #head: StoredHead | undefined;
  #hasFailed = false;
  /** The records that are stored, and what of the recorder they have. */
  #records = 0;
  #recorded = 0;
  readonly #budget = new WriteBudget();
  /** Stores what must be there before the execution is. */
  #before: () => Promise<void> = async () => {};
  #hasTold = false;

  constructor(options: CheckpointerOptions) {
    const { taken } = options;
    this.#options = options;
    this.#fromStart = options.fromStart || taken !== undefined;
    this.#access = taken?.access;
    this.#sent = new Map(taken?.sent);
    this.#stored = new Set(taken?.calls);
    this.#head = taken?.program?.head;
    this.#records = taken?.program?.head.records ?? 0;
    this.#recorded = taken?.program?.recordedCount ?? 0;
    if (taken) this.#saved.resolve();
  }

  get fromStart(): boolean {
    return this.#fromStart;
  }

  /** Whether the execution is in the store now. */
  get isStored(): boolean {
    return this.#access !== undefined;
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Resolves when the execution is stored for the first time, or cannot be stored. */
  get saved(): Promise<void> {
    return this.#saved.promise;
  }

  /** `work` runs before the execution is stored for the first time, or now if it is stored. */
  async storesAfter(work: () => Promise<void>): Promise<void> {
    this.#before = work;
    if (this.#access) await work();
  }

  /** Stores the execution before it runs. Rejects with FILE_NOT_WRITABLE, also if the store has no room. */
  get begun(): Promise<void> {
    this.#begun ??= this.#opened().then(async (access) => {
      if (this.#access) return;
      const { id, roomBytes } = this.#options;
      await access.writer.do("add", id, { ...this.#new, owner: access.owner, roomBytes });
      this.#access = access;
      this.#saved.resolve();
    });
    return this.#begun;
  }

  /** Resolves when another process turns out to have the execution. */
  get lost(): Promise<void> {
    return this.#lost.promise;
  }

  #noteLost(error: unknown): void {
    if (!(error instanceof ClaudikinsError) || error.code !== "EXECUTION_LOST") return;
    this.#isOver = true;
    this.#isReleased = true;
    this.#lost.resolve();
  }

  async turn(memoryBytes: number): Promise<CopyTurn> {
    const { waitMs } = this.#budget;
    if (waitMs > 0) {
      if (!this.#hasTold)
        this.#options.log.warn(`The execution ${this.#options.id} waits, because it has written much`);
      this.#hasTold = true;
      await Bun.sleep(waitMs);
    }
    const taken = await this.#options.turns.take(memoryBytes);
    return copyTurn(this.#head === undefined, taken);
  }

  async save(saved: SavedRun | undefined, open: readonly OpenCall[]): Promise<boolean> {
    if (this.#isOver) return false;
    const { id, log, isDryRun = false } = this.#options;
    // Copied before anything is awaited.
    const copy = saved && !isDryRun ? this.#copyOf(saved) : undefined;
    let access = this.#access;
    try {
      access ??= await this.#opened();
      const why = copy
        ? await this.#writePages(copy, access)
        : isDryRun
          ? "it is a dry run"
          : "its memory could not be copied";
      // A process that has lost the execution does not come this far.
      if (copy) await (await this.#options.workspace?.())?.keep();
      if (this.#isOver) {
        // It may have ended before anything refers to its pages.
        if (!this.#access) await access.writer.do("remove", id, {});
        return false;
      }
      await this.#writeProgram(why === undefined ? copy : undefined, why, open, access);
      if (this.#isWanted) access.keepBuild?.();
      return why === undefined;
    } catch (error) {
      // It may have ended meanwhile, and lost its claim with that.
      if (this.#isOver) return false;
      log.warn(`Cannot save the execution ${id}: ${messageOf(error)}`);
      this.#noteLost(error);
      if (access && !this.#isReleased) await this.#storeUnsaved(open, access);
      return false;
    } finally {
      this.#saved.resolve();
    }
  }

  #copyOf(saved: SavedRun): Copy {
    const { image, recorded, wakeAt } = saved;
    const { isWhole } = image;
    return {
      image,
      wakeAt,
      bytes: image.batches.reduce((sum, { bytes }) => sum + bytes.byteLength, 0),
      head: headOf(saved, this.#options.recording?.timeline),
      firstRecord: isWhole ? 0 : this.#records,
      recorded: recorded.slice(isWhole ? 0 : this.#recorded),
      recordedCount: recorded.length,
      calls: this.#options.recording?.changes(isWhole),
      records: 0,
    };
  }

  /** Writes pages and records, to which nothing refers yet. Returns why the program cannot be saved. */
  async #writePages(copy: Copy, { writer, owner }: StoreAccess): Promise<string | undefined> {
    const { id, maxBytes, roomBytes } = this.#options;
    const { manifest, batches } = copy.image;
    if (bytesOf(manifest) > maxBytes) return "it is too large";
    if (!this.#access) await writer.do("begin", id, { owner });
    this.#budget.spend(copy.bytes);
    const { version } = manifest;
    const jobs = batches.map((batch) => writer.do("pages", id, { ...batch, version, roomBytes }, [batch.bytes]));
    const written = Promise.all(jobs);
    // It is awaited below.
    written.catch(() => {});
    try {
      let record = copy.firstRecord;
      for await (const bytes of recordsOf(copy.recorded, copy.calls)) {
        await writer.do("record", id, { record, bytes, roomBytes }, [bytes.buffer]);
        record += 1;
      }
      copy.records = record;
      await written;
      return undefined;
    } catch (error) {
      await Promise.allSettled(jobs);
      if (error instanceof ClaudikinsError && error.code === "FILE_NOT_WRITABLE") return noRoom;
      throw error;
    }
  }

  /** Makes what was written the program, and stores the calls that it waits for. */
  async #writeProgram(
    copy: Copy | undefined,
    unsaved: string | undefined,
    open: readonly OpenCall[],
    access: StoreAccess,
  ): Promise<void> {
    const { id } = this.#options;
    const { writer, owner } = access;
    const { manifest, isWhole } = copy?.image ?? { manifest: undefined, isWhole: true };
    const version = manifest?.version ?? 0;
    const program = copy?.head(copy.records);
    const saved = {
      owner,
      engine: buildMark,
      program,
      unsaved,
      wakeAt: open.length === 0 ? copy?.wakeAt : undefined,
      open: open.map(({ message }) => message.call),
      version,
      pages: isWhole ? undefined : manifest?.pages.filter((_, at) => manifest.versions[at] === version),
    };
    const fresh = open.filter(({ message }) => !this.#stored.has(message.call));
    const jobs = fresh.map(({ message }) => writer.do("call", id, { ...message, ...this.#stateOf(message.call) }));
    jobs.push(writer.do("save", id, this.#access ? saved : { ...saved, ...this.#new }));
    // From here on, every change comes after this one.
    this.#access = access;
    this.#stored = new Set(saved.open);
    // Answers may have come meanwhile.
    for (const { answer } of fresh) if (answer) jobs.push(this.#storeAnswer(access, answer));
    await Promise.all(jobs);
    this.#hasFailed = copy === undefined;
    this.#head = program && readHead(program);
    this.#records = copy?.records ?? 0;
    this.#recorded = copy?.recordedCount ?? 0;
  }

  /** Waits as long as the bucket with the program is away, and the execution has not ended. */
  async load(): Promise<ProgramImage> {
    const head = this.#head;
    const access = this.#access;
    if (!head || !access) throw new Error("no program is stored");
    for (let told = ""; ; ) {
      await (await this.#options.workspace?.())?.refresh();
      try {
        // Its pages are in memory until they are in a worker.
        using _ = await this.#options.turns.take(Number.POSITIVE_INFINITY);
        const { pages, versions } = head.image.manifest;
        return wholeImage(head, await access.writer.do("image", this.#options.id, { pages, versions }));
      } catch (error) {
        // It would be lost. Another process could not read it either.
        const isAway = error instanceof ClaudikinsError && error.code === "BUCKET_UNAVAILABLE";
        if (!isAway || this.#isOver) throw error;
        if (error.message !== told) this.#options.log.warn(`The execution ${this.#options.id} waits: ${error.message}`);
        told = error.message;
      }
      await Bun.sleep(bucketLookMs);
    }
  }

  /**
   * Notes that a call is about to leave. Rejects with FILE_NOT_WRITABLE, DATABASE_UNAVAILABLE, EXECUTION_LOST and CANCELLED; then the call must
   * not leave.
   */
  async sending(call: number, repeatable: boolean): Promise<void> {
    this.#refuseOver();
    this.#sent.set(call, repeatable);
    this.#calling.add(call);
    if (!this.#access) return;
    try {
      if (this.#isBroken) throw new Error("an earlier write failed");
      await this.#access.writer.do("sent", this.#options.id, { call, repeatable });
    } catch (error) {
      this.#noteLost(error);
      const { code, hint } = error instanceof ClaudikinsError ? error : notNoted;
      throw new ClaudikinsError(
        code,
        `The call was not made, because it could not be noted first: ${messageOf(error)}`,
        { hint, cause: error },
      );
    }
    this.#refuseOver();
  }

  /** Another process may run the execution now, and make the call. */
  #refuseOver(): void {
    if (this.#isOver) throw new ClaudikinsError("CANCELLED", "The call was not made: its execution has ended here");
  }

  /** Whether a call has left that was not answered yet. */
  get isCalling(): boolean {
    return this.#calling.size > 0;
  }

  answered(answer: SettleMessage): Promise<void> | undefined {
    const access = this.#access;
    const storing = access && !this.#isOver ? this.#noted(this.#storeAnswer(access, answer)) : undefined;
    if (!storing) this.#calling.delete(answer.call);
    return storing?.then(() => void this.#calling.delete(answer.call));
  }

  #storeAnswer({ writer }: StoreAccess, answer: SettleMessage): Promise<undefined> {
    const { id, roomBytes } = this.#options;
    return writer.do("answered", id, { ...answer, roomBytes });
  }

  /**
   * Notes that a caller gets the id of the execution, and may ask for its outcome. Resolves when this is stored, if the execution is. Does
   * nothing if it has ended here: nothing of it is stored then.
   */
  async want(): Promise<void> {
    if (this.#isWanted || this.#isOver) return;
    this.#isWanted = true;
    this.#fromStart = true;
    const access = this.#access;
    if (!access) return;
    access.keepBuild?.();
    await this.#noted(access.writer.do("want", this.#options.id, {}));
  }

  /** Whether another process runs the execution or can continue it, because it was given up here or taken over. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** Stores the outcome if a caller may ask for it later. Otherwise the execution is removed. */
  async ended(outcome: Outcome): Promise<void> {
    if (this.#isOver) return;
    const isWanted = this.#isWanted;
    const access = this.#access ?? (isWanted ? await this.#openedIfPossible() : undefined);
    this.#saved.resolve();
    if (this.#isOver) return;
    this.#isOver = true;
    if (!access) return;
    const isNew = this.#access === undefined;
    // A save that is not done yet must not remove it.
    this.#access = access;
    const { id } = this.#options;
    const { writer, owner } = access;
    if (!isWanted) return this.#noted(writer.do("remove", id, {}));
    const stored = await outcomeJson(outcome);
    const isOk = outcome.ok;
    await this.#noted(writer.do("ended", id, isNew ? { ...stored, isOk, ...this.#new, owner } : { ...stored, isOk }));
  }

  async #opened(): Promise<StoreAccess> {
    const access = await this.#options.open();
    await this.#before();
    return access;
  }

  async #openedIfPossible(): Promise<StoreAccess | undefined> {
    try {
      return await this.#opened();
    } catch (error) {
      this.#options.log.warn(messageOf(error));
      return undefined;
    }
  }

  /** Gives the execution up as it is stored. Later changes are not stored. */
  release(): void {
    const access = this.#access;
    if (access && !this.#isOver) {
      void this.#noted(access.writer.do("release", this.#options.id, { owner: access.owner }));
      this.#isReleased = true;
    }
    this.#isOver = true;
  }

  get #new(): NewExecution {
    const { config, startedAt, request } = this.#options;
    return { config, startedAt, request, isWanted: this.#isWanted };
  }

  #stateOf(call: number): { isSent: boolean; repeatable: boolean } {
    const repeatable = this.#sent.get(call);
    return { isSent: repeatable !== undefined, repeatable: repeatable ?? false };
  }

  /** A program that is too old would repeat calls, so none is stored. Who asks for it when this process has died learns why. */
  async #storeUnsaved(open: readonly OpenCall[], access: StoreAccess): Promise<void> {
    this.#head = undefined;
    this.#hasFailed = true;
    try {
      await this.#writeProgram(undefined, "the database could not be written", open, access);
    } catch (error) {
      this.#noteLost(error);
      this.#isBroken = this.#access !== undefined;
    }
  }

  /** A failure is logged, and has no other consequence. */
  async #noted(change: Promise<undefined>): Promise<void> {
    try {
      await change;
    } catch (error) {
      this.#noteLost(error);
      this.#options.log.warn(`Cannot store the execution ${this.#options.id}: ${messageOf(error)}`);
    }
  }
}

const notNoted = { code: "FILE_NOT_WRITABLE", hint: "Check that claudikins can write to its data folder." } as const;

const noRoom = "the programs that wait have filled the room that they may take together (executions.totalMb)";

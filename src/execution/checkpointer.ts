/**
 * Saves one execution in the store, so that another process can continue it. It is stored from the first time that it is parked, or from
 * its start. From then on, each call leaves only after the store has the program and a line that says so.
 */
import { serialize } from "node:v8";
import { ClaudikinsError, messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Checkpointer, OpenCall, SavedExecution } from "../sandbox/checkpointer.ts";
import type { Outcome } from "../sandbox/contract.ts";
import type { SettleMessage } from "../sandbox/messages.ts";
import type { ExecutionStore } from "../store/executions.ts";
import type { Timeline } from "./recording.ts";

/** The store, as a process uses it that runs executions. */
export interface StoreAccess {
  store: ExecutionStore;
  /** The name of this process, see store/owner.ts. */
  owner: string;
  /** The build that saves programs. */
  engine: string;
  /** Keeps this build for programs that it has saved, and that somebody may ask for. */
  keepBuild?: () => void;
}

/** The stored form of a program. */
export interface StoredProgram {
  execution: SavedExecution;
  /** What was recorded for `claudikins trace`. */
  timeline: Timeline | undefined;
}

export interface CheckpointerOptions {
  id: string;
  /** The config file; null for the demo. */
  config: string | null;
  startedAt: number;
  /** JSON, see executions.ts. */
  request: string;
  /** Largest program that is saved. */
  maxBytes: number;
  log: Log;
  /** Opens the store when it is first needed. */
  open: () => Promise<StoreAccess>;
  /** Whether the execution is kept from its start. */
  fromStart: boolean;
  /** Set if the execution was taken over: the calls that were sent, and whether they may be sent again. */
  taken?: { access: StoreAccess; sent: ReadonlyMap<number, boolean> } | undefined;
}

export class ExecutionCheckpointer implements Checkpointer {
  readonly #options: CheckpointerOptions;
  /** Undefined until the execution is stored. */
  #access: StoreAccess | undefined;
  #fromStart: boolean;
  /** The calls that were sent, and whether they may be sent again. */
  readonly #sent: Map<number, boolean>;
  readonly #calling = new Set<number>();
  #isWanted = false;
  #isOver = false;
  #isReleased = false;
  #begun: Promise<void> | undefined;
  readonly #saved = Promise.withResolvers<void>();
  /** The store could not be written, and may have a program that is too old. */
  #isBroken = false;
  /** What was recorded so far. Set it before the program runs. */
  timeline: (() => Timeline) | undefined;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
    this.#fromStart = options.fromStart || options.taken !== undefined;
    this.#access = options.taken?.access;
    this.#sent = new Map(options.taken?.sent);
    if (options.taken) this.#saved.resolve();
  }

  get fromStart(): boolean {
    return this.#fromStart;
  }

  /** Resolves when the execution is stored for the first time, or cannot be stored. */
  get saved(): Promise<void> {
    return this.#saved.promise;
  }

  /** Stores the execution before it runs. Rejects with FILE_NOT_WRITABLE. */
  get begun(): Promise<void> {
    this.#begun ??= this.#options.open().then((access) => {
      this.#add(access);
      this.#saved.resolve();
    });
    return this.#begun;
  }

  async save(saved: SavedExecution | undefined, open: readonly OpenCall[]): Promise<void> {
    if (this.#isOver) return;
    const { id, maxBytes, log } = this.#options;
    // Copied before anything is awaited.
    const stored: StoredProgram | undefined = saved && { execution: saved, timeline: this.timeline?.() };
    const program = stored && serialize(stored);
    const isTooLarge = program !== undefined && program.length > maxBytes;
    const unsaved = isTooLarge ? "it is too large" : program ? undefined : "its memory could not be copied";
    const isAsleep = saved !== undefined && open.length === 0;
    try {
      const access = this.#access ?? (await this.#options.open());
      if (this.#isOver) return;
      // A stored execution without a program is one that has not started, so both are stored together.
      access.store.atomically(() => {
        this.#add(access);
        access.store.save(id, {
          program: isTooLarge ? undefined : program,
          unsaved,
          wakeAt: isAsleep ? saved.wakeAt : undefined,
          engine: access.engine,
          // Answers may have come meanwhile, so they are read now.
          calls: open.map(({ message, answer }) => ({
            call: message.call,
            message: JSON.stringify(message),
            answer: answer ? JSON.stringify(answer) : null,
            ...this.#stateOf(message.call, answer !== undefined),
          })),
        });
      });
      if (this.#isWanted) access.keepBuild?.();
    } catch (error) {
      log.warn(`Cannot save the execution ${id}: ${messageOf(error)}`);
      this.#forget();
    } finally {
      this.#saved.resolve();
    }
  }

  /** Notes that a call is about to leave. Throws FILE_NOT_WRITABLE and CANCELLED; then the call must not leave. */
  sending(call: number, repeatable: boolean): void {
    // Another process may run the execution now, and make the call.
    if (this.#isOver) throw new ClaudikinsError("CANCELLED", "The call was not made: its execution has ended here");
    this.#sent.set(call, repeatable);
    this.#calling.add(call);
    if (!this.#access) return;
    try {
      if (this.#isBroken) throw new Error("an earlier write failed");
      this.#access.store.sent(this.#options.id, call, repeatable);
    } catch (error) {
      throw new ClaudikinsError(
        "FILE_NOT_WRITABLE",
        `The call was not made, because it could not be noted first: ${messageOf(error)}`,
        { hint: "Check that claudikins can write to its data folder.", cause: error },
      );
    }
  }

  /** Whether a call has left that was not answered yet. */
  get isCalling(): boolean {
    return this.#calling.size > 0;
  }

  answered(answer: SettleMessage): void {
    this.#calling.delete(answer.call);
    this.#write((store, id) => store.answered(id, answer.call, JSON.stringify(answer)));
  }

  /** Notes that somebody has the id of the execution, and may ask for its outcome. */
  want(): void {
    if (this.#isWanted) return;
    this.#isWanted = true;
    this.#fromStart = true;
    this.#write((store, id) => store.want(id));
    this.#access?.keepBuild?.();
  }

  /** Whether the execution was given up, so that another process can continue it. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** Stores the outcome if somebody may ask for it later. Otherwise the execution is removed. */
  async ended(outcome: Outcome): Promise<void> {
    if (this.#isOver) return;
    const isWanted = this.#isWanted;
    const access = this.#access ?? (isWanted ? await this.#opened() : undefined);
    this.#saved.resolve();
    this.#write(
      (store, id) =>
        isWanted
          ? store.atomically(() => {
              this.#add(access!);
              store.ended(id, JSON.stringify(outcome), outcome.ok);
            })
          : store.remove(id),
      access,
    );
    this.#isOver = true;
  }

  async #opened(): Promise<StoreAccess | undefined> {
    try {
      return await this.#options.open();
    } catch (error) {
      this.#options.log.warn(messageOf(error));
      return undefined;
    }
  }

  /** Gives the execution up as it is stored. Later changes are not stored. */
  release(): void {
    this.#write((store, id, owner) => store.release(id, owner));
    this.#isReleased = !this.#isOver && this.#access !== undefined;
    this.#isOver = true;
  }

  #add(access: StoreAccess): void {
    if (this.#access) return;
    const { id, config, startedAt, request } = this.#options;
    access.store.add({ id, config, startedAt, request, owner: access.owner });
    this.#access = access;
    if (this.#isWanted) access.store.want(id);
  }

  #stateOf(call: number, isAnswered: boolean): { state: "made" | "sent" | "answered"; repeatable: boolean } {
    const repeatable = this.#sent.get(call);
    const state = isAnswered ? "answered" : repeatable === undefined ? "made" : "sent";
    return { state, repeatable: repeatable ?? false };
  }

  /** A program that is too old would repeat calls. */
  #forget(): void {
    if (!this.#access) return;
    try {
      this.#access.store.remove(this.#options.id);
      this.#access = undefined;
    } catch {
      this.#isBroken = true;
    }
  }

  #write(change: (store: ExecutionStore, id: string, owner: string) => void, access = this.#access): void {
    if (this.#isOver || !access) return;
    const { id, log } = this.#options;
    try {
      change(access.store, id, access.owner);
    } catch (error) {
      log.warn(`Cannot store the execution ${id}: ${messageOf(error)}`);
    }
  }
}

/** The calls of one program: makes them, and keeps those that it waits for together with a copy of the program. */
import type { Clock } from "../base/time-limit.ts";
import type { Checkpointer, OpenCall, SavedExecution } from "./checkpointer.ts";
import type { Bindings } from "./contract.ts";
import type { CallMessage, SettleMessage } from "./messages.ts";
import type { Recorder } from "./recorder.ts";

interface ProgramCallsOptions {
  bindings: Bindings;
  recorder: Recorder;
  checkpointer: Checkpointer | undefined;
  clock: Clock;
  /** Gives the program an answer. */
  send: (answer: SettleMessage) => void;
  /** Whether there is, or will be, a copy of the program that may still wait for an answer. */
  isCopied: () => boolean;
}

export class ProgramCalls {
  readonly #options: ProgramCallsOptions;
  /** The calls that the program waits for, and answers that a copy of it may not have received. */
  readonly #open = new Map<number, OpenCall>();
  readonly #ending = new AbortController();

  constructor(options: ProgramCallsOptions) {
    this.#options = options;
  }

  /** The calls that the program waits for. */
  get open(): CallMessage[] {
    return [...this.#open.values()].flatMap(({ message, answer }) => (answer ? [] : [message]));
  }

  async make(message: CallMessage): Promise<void> {
    const { bindings, recorder, checkpointer, clock, send, isCopied } = this.#options;
    const call: OpenCall = { message };
    this.#open.set(message.call, call);
    const answer = await recorder.call(message, bindings, this.#ending.signal, clock);
    if (isCopied()) call.answer = answer;
    else this.#open.delete(message.call);
    if (!this.#ending.signal.aborted) await checkpointer?.answered(answer);
    send(answer);
  }

  /** Saves a copy of the program, which waits for the calls in `open`. Then makes the new calls among them. Resolves with whether it is saved. */
  async save(
    execution: SavedExecution | undefined,
    open: readonly number[],
    calls: readonly CallMessage[] = [],
  ): Promise<boolean> {
    for (const message of calls) this.#open.set(message.call, { message });
    const isOpen = new Set(open);
    for (const id of this.#open.keys()) if (!isOpen.has(id)) this.#open.delete(id);
    const isSaved = (await this.#options.checkpointer?.save(execution, [...this.#open.values()])) ?? false;
    for (const message of calls) void this.make(message);
    return isSaved;
  }

  /** Makes the calls of a program that was saved elsewhere, and gives it the answers that it has not received. */
  restore(calls: readonly OpenCall[]): void {
    const { recorder, send } = this.#options;
    for (const { message, answer } of calls) {
      if (!answer) void this.make(message);
      else {
        this.#open.set(message.call, { message, answer });
        recorder.answered(message, answer);
        send(answer);
      }
    }
  }

  /** Call this when no copy of the program waits for answers any more. */
  forgetAnswers(): void {
    for (const [id, { answer }] of this.#open) if (answer) this.#open.delete(id);
  }

  /** Cancels the calls. They learn the reason. */
  end(reason?: unknown): void {
    this.#ending.abort(reason);
  }
}

/** The calls of one program: makes them, and keeps the open ones together with a copy of the program. */

import { collectSoon } from "../../base/collect-soon.ts";
import { eventLoopTurn } from "../../base/event-loop.ts";
import { parseExact } from "../../base/exact-json.ts";
import { largeJsonChars } from "../../base/limits.ts";
import type { Clock } from "../../base/time-limit.ts";
import { megabyte } from "../../base/units.ts";
import { textOf } from "../binding-value.ts";
import { type CallListener, errorShape, observedCall } from "../call-events.ts";
import type { Checkpointer, OpenCall, SavedRun } from "../checkpoint-contract.ts";
import type { Bindings, BindingValue, Limits } from "../contract.ts";
import { resultTooLarge } from "../limit-errors.ts";
import type { CallMessage, SettleMessage } from "../messages.ts";
import type { ReplayOptions } from "../replay/contract.ts";
import { calledId } from "../seen-calls.ts";

/** Results of this length cause a garbage collection in the process that gives them to a program. */
const collectedResultChars = 4 * megabyte;

/** CPU time that a call takes in this process and in a fast server. A measured value, like the next one. */
const callOverheadMs = 0.5;

/** The same for each million characters of its result. */
const resultOverheadMs = 100;

/** The share of CPU time that belongs to the caller of a program. */
export interface ProgramShare {
  /** Resolves when the caller may use the time; undefined means at once. */
  take(ms: number, signal: AbortSignal): Promise<void> | undefined;
  /** Counts time that was used. */
  charge(ms: number): void;
}

interface ProgramCallsOptions {
  /** The id of the execution. */
  id: string;
  bindings: Bindings;
  limits: Limits;
  /** Gets what happens to the calls. */
  listener: CallListener;
  checkpointer: Checkpointer | undefined;
  clock: Clock;
  share: ProgramShare;
  /** Sends an answer to the program. */
  send: (answer: SettleMessage) => void;
  /** Given for a replay. */
  answeredAt?: ReplayOptions["answeredAt"] | undefined;
  /** Whether there is, or will be, a copy of the program that may still wait for an answer. */
  isCopied: () => boolean;
}

/** Created once, because a new exception for each execution would take 20 µs. */
const ended = new DOMException("The execution has ended", "AbortError");

export class ProgramCalls {
  readonly #options: ProgramCallsOptions;
  /** The calls that the program waits for, and the answers that a copy of the program may not have received. */
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
    const { checkpointer, send, isCopied, clock, listener, answeredAt } = this.#options;
    const { call } = message;
    const { signal } = this.#ending;
    const open: OpenCall = { message };
    this.#open.set(call, open);
    let answer: SettleMessage;
    try {
      const make = (clock: Clock) => this.#value(message, clock);
      const value = await observedCall({ call, request: message, signal, clock, listener }, make);
      answer = { ...value, type: "settle", call };
    } catch (error) {
      // A failure is an answer too.
      answer = { type: "settle", call, error: errorShape(error) };
    }
    if (answeredAt) answer.at = answeredAt(call);
    if (isCopied()) open.answer = answer;
    else this.#open.delete(call);
    const storing = signal.aborted ? undefined : checkpointer?.answered(answer);
    if (storing) await storing;
    send(answer);
    const { length } = "error" in answer ? "" : textOf(answer);
    // Most such results came as text and as structured content.
    if (length > collectedResultChars) collectSoon(2 * length);
  }

  /** Makes the call through the bindings. */
  async #value(request: CallMessage, clock: Clock): Promise<BindingValue> {
    const { id, bindings, limits, share } = this.#options;
    const { call, namespace, group, name, raw, isPage, line, args } = request;
    const turn = share.take(callOverheadMs, this.#ending.signal);
    if (turn) await turn;
    // Many calls with large arguments, made at once, must not be handled at once. Reading them takes long, and so does checking them.
    const isLarge = args.length > largeJsonChars;
    if (isLarge) await eventLoopTurn();
    const parsed = parseExact(args) as Record<string, unknown>;
    if (isLarge) await eventLoopTurn();
    const value = await bindings.call(
      { namespace, group, name, args: parsed, argsJson: args, raw, ...(isPage ? { isPage } : {}) },
      { signal: this.#ending.signal, clock, pause: this.#options.clock, made: { execution: id, call, line } },
    );
    const text = textOf(value);
    share.charge((text.length / 1e6) * resultOverheadMs);
    if (text.length > largeJsonChars) await eventLoopTurn();
    // A UTF-16 unit has at most three bytes in UTF-8.
    const bytes = text.length * 3 > limits.resultBytes ? Buffer.byteLength(text) : 0;
    if (bytes > limits.resultBytes) throw resultTooLarge(calledId(request), bytes, limits);
    return value;
  }

  /** Saves a copy of the program, which waits for the calls in `open`. Then makes the new calls among them. Resolves with whether it is saved. */
  async save(
    execution: SavedRun | undefined,
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

  /** Makes the calls of a program that was saved elsewhere, and sends it the answers that it has not received. */
  restore(calls: readonly OpenCall[]): void {
    const { listener, send } = this.#options;
    for (const { message, answer } of calls) {
      if (!answer) void this.make(message);
      else {
        this.#open.set(message.call, { message, answer });
        void listener({ type: "restored", call: message.call, request: message, answer });
        send(answer);
      }
    }
  }

  /** Call this when no copy of the program waits for answers any more. */
  forgetAnswers(): void {
    for (const [id, { answer }] of this.#open) if (answer) this.#open.delete(id);
  }

  /** Cancels the calls with the given reason. */
  end(reason: unknown = ended): void {
    this.#ending.abort(reason);
  }
}

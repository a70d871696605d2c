/** Limits the calls of one execution: their number, their size, and how many are open. */
import type { Limits } from "./contract.ts";
import {
  argumentsTooLarge,
  maxQuestions,
  openArgumentsTooLarge,
  openCallsOf,
  tooManyCalls,
  tooManyQuestions,
} from "./limit-errors.ts";
import type { CallMessage, ErrorShape } from "./messages.ts";

export class CallGate {
  readonly #limits: Limits;
  readonly #send: (call: CallMessage) => void;
  readonly #waiting: CallMessage[] = [];
  /** Bytes of the arguments of open calls, which are held outside the program's memory. */
  readonly #bytes = new Map<number, number>();
  #openBytes = 0;
  #made = 0;
  #asked = 0;
  #running = 0;

  constructor(limits: Limits, send: (call: CallMessage) => void) {
    this.#limits = limits;
    this.#send = send;
  }

  /** Makes the call, or lets it wait for its turn. Returns why it cannot be made, if so. */
  add(call: CallMessage): ErrorShape | undefined {
    // Questions about the tools are counted separately from calls.
    if (call.namespace === "") {
      if (++this.#asked > maxQuestions) return tooManyQuestions();
    } else if (++this.#made > this.#limits.calls) return tooManyCalls(this.#limits);
    const bytes = Buffer.byteLength(call.args);
    if (bytes > this.#limits.argumentBytes) {
      return argumentsTooLarge(`${call.namespace}.${call.name}`, bytes, this.#limits);
    }
    const open = this.#openBytes + bytes;
    if (open > openCallsOf(this.#limits)) return openArgumentsTooLarge(open, this.#limits);
    this.#openBytes = open;
    this.#bytes.set(call.call, bytes);
    if (this.#running < this.#limits.callsInFlight) this.#start(call);
    else this.#waiting.push(call);
    return undefined;
  }

  /** Call this with every answer, so that the next call can go. */
  answered(call: number): void {
    this.#running -= 1;
    this.#openBytes -= this.#bytes.get(call) ?? 0;
    this.#bytes.delete(call);
    const next = this.#waiting.shift();
    if (next) this.#start(next);
  }

  /** Number of open calls. */
  get open(): number {
    return this.#running + this.#waiting.length;
  }

  #start(call: CallMessage): void {
    this.#running += 1;
    this.#send(call);
  }
}

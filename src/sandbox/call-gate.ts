/** The way out for the calls of one execution: how many there may be, how large they are, and how many run together. */
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
  /** Bytes of the arguments of calls that are open: they are held outside the code's own memory. */
  readonly #bytes = new Map<number, number>();
  #openBytes = 0;
  #made = 0;
  #asked = 0;
  #running = 0;

  constructor(limits: Limits, send: (call: CallMessage) => void) {
    this.#limits = limits;
    this.#send = send;
  }

  /** Why the call cannot be made; undefined when it is on its way, or waits for its turn. */
  add(call: CallMessage): ErrorShape | undefined {
    // Questions about the tools are not calls of tools, and are counted by themselves.
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

  /** To be told of every answer: the next call can go. */
  answered(call: number): void {
    this.#running -= 1;
    this.#openBytes -= this.#bytes.get(call) ?? 0;
    this.#bytes.delete(call);
    const next = this.#waiting.shift();
    if (next) this.#start(next);
  }

  /** Calls whose answers are still to come. */
  get open(): number {
    return this.#running + this.#waiting.length;
  }

  #start(call: CallMessage): void {
    this.#running += 1;
    this.#send(call);
  }
}

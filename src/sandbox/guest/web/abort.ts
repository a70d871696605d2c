/** `AbortController` and `AbortSignal`, with `timeout` and `any`. */
import DOMException from "core-js-pure/stable/dom-exception";
import { Event, EventTarget, setWarningHandler } from "event-target-shim";
import { setTimeout } from "../timers.ts";

// The library would print warnings about harmless things to the console.
setWarningHandler(() => {});

const own = Symbol("own");
let abortSignal: (signal: AbortSignal, reason: unknown) => AbortSignal;

export class AbortSignal extends EventTarget {
  #reason: unknown;
  #aborted = false;
  onabort: ((event: Event) => void) | null = null;

  constructor(key?: symbol) {
    if (key !== own) throw new TypeError("Illegal constructor: create a signal with AbortController");
    super();
  }
  get aborted(): boolean {
    return this.#aborted;
  }
  get reason(): unknown {
    return this.#reason;
  }
  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  static abort(reason?: unknown): AbortSignal {
    return abortSignal(newSignal(), reason);
  }
  static timeout(delayMs: number): AbortSignal {
    const signal = newSignal();
    const reason = new DOMException("The operation was aborted due to timeout", "TimeoutError");
    setTimeout(() => abortSignal(signal, reason), delayMs);
    return signal;
  }
  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const all = [...signals];
    const signal = newSignal();
    const aborted = all.find((each) => each.aborted);
    if (aborted) return abortSignal(signal, aborted.reason);
    for (const each of all) each.addEventListener("abort", () => abortSignal(signal, each.reason), { once: true });
    return signal;
  }

  static #abort(signal: AbortSignal, reason: unknown): AbortSignal {
    if (signal.#aborted) return signal;
    signal.#aborted = true;
    signal.#reason = reason ?? new DOMException("This operation was aborted", "AbortError");
    const event = new Event("abort");
    signal.onabort?.(event);
    signal.dispatchEvent(event);
    return signal;
  }
  static {
    abortSignal = AbortSignal.#abort;
  }
}

const newSignal = () => new AbortSignal(own);

export class AbortController {
  readonly signal = newSignal();
  abort(reason?: unknown): void {
    abortSignal(this.signal, reason);
  }
}

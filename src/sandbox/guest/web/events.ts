/** `Event`, `EventTarget`, `CustomEvent`, `AbortController` and `AbortSignal`. */
import { eventTarget } from "../library.ts";
import { setTimeout } from "../timers.ts";
import { DOMException } from "./core-js.ts";

const { Event, EventTarget, setWarningHandler } = eventTarget;

// The library would print warnings about harmless things to the console.
setWarningHandler(() => {});

type Event = InstanceType<typeof Event>;

export { Event, EventTarget };

export class CustomEvent extends Event {
  readonly detail: unknown;
  constructor(type: string, options: { detail?: unknown; bubbles?: boolean; cancelable?: boolean } = {}) {
    super(type, options);
    this.detail = options.detail ?? null;
  }
}

const own = Symbol("own");

/** Aborts a signal that only its creator can abort. */
let abort: (signal: AbortSignal, reason: unknown) => void;

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
    const controller = new AbortController();
    controller.abort(reason);
    return controller.signal;
  }
  static timeout(delayMs: number): AbortSignal {
    const signal = new AbortSignal(own);
    const reason = new DOMException("The operation was aborted due to timeout", "TimeoutError");
    setTimeout(() => abort(signal, reason), delayMs);
    return signal;
  }
  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const all = [...signals];
    const signal = new AbortSignal(own);
    const aborted = all.find((each) => each.aborted);
    if (aborted) abort(signal, aborted.reason);
    else for (const each of all) each.addEventListener("abort", () => abort(signal, each.reason), { once: true });
    return signal;
  }

  static {
    abort = (signal, reason) => {
      if (signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason ?? new DOMException("This operation was aborted", "AbortError");
      const event = new Event("abort");
      signal.onabort?.(event);
      signal.dispatchEvent(event);
    };
  }
}

export class AbortController {
  readonly signal = new AbortSignal(own);
  abort(reason?: unknown): void {
    abort(this.signal, reason);
  }
}

/** Timers: the host keeps the time, the guest keeps the callbacks. */
import { host } from "./host.ts";

/** What code holds of a timer, as in Node; a number wherever one is asked for. */
class Timeout {
  readonly #id: number;

  constructor(id: number) {
    this.#id = id;
  }
  /** No timer holds an answer back, so that there is nothing to let go of. */
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return timers.has(this.#id);
  }
  /** Begins anew, while it has not fired. */
  refresh(): this {
    const timer = timers.get(this.#id);
    if (timer) {
      host.clearTimer(this.#id);
      host.setTimer(this.#id, timer.delayMs);
    }
    return this;
  }
  close(): this {
    clearTimer(this);
    return this;
  }
  [Symbol.toPrimitive](): number {
    return this.#id;
  }
  toJSON(): number {
    return this.#id;
  }
}

interface Timer {
  callback: (...args: unknown[]) => unknown;
  args: unknown[];
  delayMs: number;
  repeats: boolean;
}

const timers = new Map<number, Timer>();
let lastId = 0;

function add(callback: unknown, delay: unknown, args: unknown[], repeats: boolean): Timeout {
  if (typeof callback !== "function") throw new TypeError("The first argument of a timer must be a function");
  const delayMs = Math.max(Number(delay) || 0, repeats ? 1 : 0);
  lastId += 1;
  timers.set(lastId, { callback: callback as Timer["callback"], args, delayMs, repeats });
  host.setTimer(lastId, delayMs);
  return new Timeout(lastId);
}

export function setTimeout(callback: unknown, delay?: unknown, ...args: unknown[]): Timeout {
  return add(callback, delay, args, false);
}
export function setInterval(callback: unknown, delay?: unknown, ...args: unknown[]): Timeout {
  return add(callback, delay, args, true);
}
export function setImmediate(callback: unknown, ...args: unknown[]): Timeout {
  return add(callback, 0, args, false);
}
export function clearTimer(id: unknown): void {
  if (timers.delete(Number(id))) host.clearTimer(Number(id));
}

/** Runs what a timer was set for. What its callback throws or returns is the caller's. */
export function runTimer(id: number): unknown {
  const timer = timers.get(id);
  if (!timer) return undefined;
  if (timer.repeats) host.setTimer(id, timer.delayMs);
  else timers.delete(id);
  return timer.callback(...timer.args);
}

export function hasTimers(): boolean {
  return timers.size > 0;
}

/** What `util.promisify(setTimeout)` gives: `await sleep(20)`. */
Object.defineProperty(setTimeout, Symbol.for("nodejs.util.promisify.custom"), {
  value: (delay?: unknown, value?: unknown) => new Promise((resolve) => setTimeout(resolve, delay, value)),
});

/** Timers: the host keeps the time, the guest keeps the callbacks. */
import { host } from "./host.ts";

/** What code holds of a timer, as in Node; a number wherever one is asked for. */
class Timeout {
  readonly #id: number;

  constructor(id: number) {
    this.#id = id;
  }
  ref(): this {
    const timer = timers.get(this.#id);
    if (timer) timer.isWork = true;
    return this;
  }
  unref(): this {
    const timer = timers.get(this.#id);
    if (timer) timer.isWork = false;
    whenWorkEnds();
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
  /** A program without a value is not over before it has fired, or was cleared. */
  isWork: boolean;
}

const timers = new Map<number, Timer>();
let lastId = 0;

function add(callback: unknown, delay: unknown, args: unknown[], repeats: boolean): Timeout {
  if (typeof callback !== "function") throw new TypeError("The first argument of a timer must be a function");
  const delayMs = Math.max(Number(delay) || 0, repeats ? 1 : 0);
  lastId += 1;
  timers.set(lastId, { callback: callback as Timer["callback"], args, delayMs, repeats, isWork: false });
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
  whenWorkEnds();
}

/** Runs what a timer was set for. What its callback throws or returns is the caller's. */
export function runTimer(id: number): unknown {
  const timer = timers.get(id);
  if (!timer) return undefined;
  if (timer.repeats) host.setTimer(id, timer.delayMs);
  else timers.delete(id);
  try {
    return timer.callback(...timer.args);
  } finally {
    // What the callback has set is there by now.
    whenWorkEnds();
  }
}

export function hasTimers(): boolean {
  return timers.size > 0;
}

/**
 * A timer that was not set for a promise, `new Promise((resolve) => setTimeout(resolve, 100))`, but for what its
 * callback does. Anything that is no timer passes by.
 */
export function asWork<T>(timer: T): T {
  return timer instanceof Timeout ? timer.ref() : timer;
}

export function isTimer(value: unknown): boolean {
  return value instanceof Timeout;
}

export function workTimers(): number {
  return [...timers.values()].filter(({ isWork }) => isWork).length;
}

let whenWorkEnds: () => void = () => {};

/** Resolves when no timer is left that was set for what it does, or `limitMs` are over. */
export function whenTimersEnd(limitMs: number): Promise<void> {
  if (workTimers() === 0) return Promise.resolve();
  return new Promise((resolve) => {
    whenWorkEnds = () => {
      if (workTimers() === 0) resolve();
    };
    setTimeout(resolve, limitMs);
  });
}

/** What `util.promisify(setTimeout)` gives: `await sleep(20)`. */
Object.defineProperty(setTimeout, Symbol.for("nodejs.util.promisify.custom"), {
  value: (delay?: unknown, value?: unknown) => new Promise((resolve) => setTimeout(resolve, delay, value)),
});

/** Timers, as globals and as modules of Node. The host measures the time, and the guest keeps the callbacks. */
import { host } from "./host.ts";
import { define } from "./named.ts";

/** The timer object of Node. It converts to a number. */
class Timeout {
  readonly #id: number;

  constructor(id: number) {
    this.#id = id;
  }
  #mark(isWork: boolean): this {
    const timer = timers.get(this.#id);
    if (timer) timer.isWork = isWork;
    whenWorkEnds();
    return this;
  }
  ref(): this {
    return this.#mark(true);
  }
  unref(): this {
    return this.#mark(false);
  }
  hasRef(): boolean {
    return timers.has(this.#id);
  }
  /** Restarts a timer that has not fired. */
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
  /** Whether a program without a value waits for the timer before it ends. */
  isWork: boolean;
}

const timers = new Map<number, Timer>();
let lastId = 0;

function add(callback: unknown, delay: unknown, args: unknown[], repeats: boolean): Timeout {
  if (typeof callback !== "function") throw new TypeError("The first argument of a timer must be a function");
  const wanted = Number(delay);
  // Node treats an infinite delay as none.
  const delayMs = Math.max(Number.isFinite(wanted) ? wanted : 0, repeats ? 1 : 0);
  lastId += 1;
  timers.set(lastId, { callback: callback as Timer["callback"], args, delayMs, repeats, isWork: false });
  host.setTimer(lastId, delayMs);
  return new Timeout(lastId);
}

export function setTimeout(callback: unknown, delay?: unknown, ...args: unknown[]): Timeout {
  return add(callback, delay, args, false);
}
function setInterval(callback: unknown, delay?: unknown, ...args: unknown[]): Timeout {
  return add(callback, delay, args, true);
}
function setImmediate(callback: unknown, ...args: unknown[]): Timeout {
  return add(callback, 0, args, false);
}
export function clearTimer(id: unknown): void {
  if (timers.delete(Number(id))) host.clearTimer(Number(id));
  whenWorkEnds();
}

/** Runs the callback of a timer. Returns or throws what the callback does. */
export function runTimer(id: number): unknown {
  const timer = timers.get(id);
  if (!timer) return undefined;
  if (timer.repeats) host.setTimer(id, timer.delayMs);
  else timers.delete(id);
  try {
    return timer.callback(...timer.args);
  } finally {
    // By now, the timers that the callback has set exist.
    whenWorkEnds();
  }
}

export function hasTimers(): boolean {
  return timers.size > 0;
}

/**
 * Marks a timer as work: it was set for the effect of its callback, and not to resolve a promise, as in `new Promise((resolve) =>
 * setTimeout(resolve, 100))`. Other values are returned unchanged.
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

/** Resolves when no work timer is left, or after `limitMs` milliseconds. */
export function whenTimersEnd(limitMs: number): Promise<void> {
  if (workTimers() === 0) return Promise.resolve();
  return new Promise((resolve) => {
    whenWorkEnds = () => {
      if (workTimers() === 0) resolve();
    };
    setTimeout(resolve, limitMs);
  });
}

export interface WaitOptions {
  signal?: { aborted: boolean; reason: unknown; addEventListener(type: "abort", listener: () => void): void };
}

/** `node:timers`, and the globals. */
export const timersModule = {
  setTimeout,
  setInterval,
  setImmediate,
  clearTimeout: clearTimer,
  clearInterval: clearTimer,
  clearImmediate: clearTimer,
};

/** Resolves after `delayMs`, or rejects with the reason of the signal. */
export function wait<T>(delayMs: number, value?: T, { signal }: WaitOptions = {}): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(() => resolve(value), delayMs);
    signal?.addEventListener("abort", () => {
      clearTimer(timer);
      reject(signal.reason);
    });
  });
}

// Makes `util.promisify(setTimeout)` work: `await sleep(20)`.
define(setTimeout, { [Symbol.for("nodejs.util.promisify.custom")]: wait });

async function* tick<T>(delayMs: number, value?: T, options?: WaitOptions): AsyncGenerator<T | undefined> {
  while (true) yield await wait(delayMs, value, options);
}

/** `node:timers/promises`. */
export const timersPromises = {
  setTimeout: wait,
  setImmediate: <T>(value?: T, options?: WaitOptions) => wait(0, value, options),
  setInterval: tick,
  scheduler: {
    wait: (delayMs: number, options?: WaitOptions) => wait(delayMs, undefined, options),
    yield: () => wait(0),
  },
};

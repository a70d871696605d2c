/** Timers: the host keeps the time, the guest keeps the callbacks. */
import { host } from "./host.ts";

interface Timer {
  callback: (...args: unknown[]) => unknown;
  args: unknown[];
  everyMs: number | undefined;
}

const timers = new Map<number, Timer>();
let lastId = 0;

function add(callback: unknown, delay: unknown, args: unknown[], repeat: boolean): number {
  if (typeof callback !== "function") throw new TypeError("The first argument of a timer must be a function");
  const delayMs = Math.max(Number(delay) || 0, repeat ? 1 : 0);
  lastId += 1;
  timers.set(lastId, { callback: callback as Timer["callback"], args, everyMs: repeat ? delayMs : undefined });
  host.setTimer(lastId, delayMs);
  return lastId;
}

export function setTimeout(callback: unknown, delay?: unknown, ...args: unknown[]): number {
  return add(callback, delay, args, false);
}
export function setInterval(callback: unknown, delay?: unknown, ...args: unknown[]): number {
  return add(callback, delay, args, true);
}
export function setImmediate(callback: unknown, ...args: unknown[]): number {
  return add(callback, 0, args, false);
}
export function clearTimer(id: unknown): void {
  if (timers.delete(Number(id))) host.clearTimer(Number(id));
}

/** Runs what a timer was set for. What its callback throws or returns is the caller's. */
export function runTimer(id: number): unknown {
  const timer = timers.get(id);
  if (!timer) return undefined;
  if (timer.everyMs === undefined) timers.delete(id);
  else host.setTimer(id, timer.everyMs);
  return timer.callback(...timer.args);
}

export function hasTimers(): boolean {
  return timers.size > 0;
}

/** What `util.promisify(setTimeout)` gives: `await sleep(20)`. */
Object.defineProperty(setTimeout, Symbol.for("nodejs.util.promisify.custom"), {
  value: (delay?: unknown, value?: unknown) => new Promise((resolve) => setTimeout(resolve, delay, value)),
});

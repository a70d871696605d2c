/** `node:timers` and `node:timers/promises`. */
import { clearTimer, setImmediate, setInterval, setTimeout } from "../timers.ts";

interface Options {
  signal?: { aborted: boolean; reason: unknown; addEventListener(type: "abort", listener: () => void): void };
}

export const timers = {
  setTimeout,
  setInterval,
  setImmediate,
  clearTimeout: clearTimer,
  clearInterval: clearTimer,
  clearImmediate: clearTimer,
};

function wait<T>(delayMs: number, value?: T, { signal }: Options = {}): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(() => resolve(value), delayMs);
    signal?.addEventListener("abort", () => {
      clearTimer(timer);
      reject(signal.reason);
    });
  });
}

async function* tick<T>(delayMs: number, value?: T, options?: Options): AsyncGenerator<T | undefined> {
  while (true) yield await wait(delayMs, value, options);
}

export const timersPromises = {
  setTimeout: wait,
  setImmediate: <T>(value?: T, options?: Options) => wait(0, value, options),
  setInterval: tick,
  scheduler: { wait: (delayMs: number, options?: Options) => wait(delayMs, undefined, options), yield: () => wait(0) },
};

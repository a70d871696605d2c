/** Watches floating promises, which are never awaited. The program ends only after they settle, and their failures are reported. */
import { asWork } from "./timers.ts";

let running = 0;
let firstFailure: { error: unknown } | undefined;
let onIdle: () => void = () => {};

/** Watches a promise until it settles. Its rejection becomes the failure of the execution. Other values are returned unchanged. */
export function watch<T>(value: T): T {
  if (value instanceof Promise) {
    running += 1;
    value.then(leave, (error) => {
      firstFailure ??= { error };
      leave();
    });
  }
  return value;
}

/** Wraps a callback so that its promises are watched. It is for `forEach`, which ignores what the callback returns. */
watch.each = (callback: (...args: unknown[]) => unknown) =>
  function (this: unknown, ...args: unknown[]) {
    return watch(callback.apply(this, args));
  };

watch.timer = asWork;

export function reportFailure(error: unknown): void {
  firstFailure ??= { error };
}

function leave(): void {
  running -= 1;
  if (running === 0) onIdle();
}

export function floats(): boolean {
  return running > 0;
}

export function floatingFailure(): { error: unknown } | undefined {
  return firstFailure;
}

/** Resolves when no watched promise is pending. */
export function whenNothingFloats(): Promise<void> {
  if (running === 0) return Promise.resolve();
  return new Promise((resolve) => {
    onIdle = () => {
      // A promise that settled may have started another one.
      if (running === 0) resolve();
    };
  });
}

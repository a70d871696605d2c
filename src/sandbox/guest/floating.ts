/** Promises that nobody awaits: the program is not over before they are, and their failures are never lost. */

import { asWork } from "./timers.ts";

let running = 0;
let firstFailure: { error: unknown } | undefined;
let onIdle: () => void = () => {};

/** Counts a promise in until it settles; its rejection becomes the failure of the execution. Anything else passes by. */
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

/** A callback whose promises are counted in: for `forEach`, which lets go of them. */
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

/** Resolves when no watched promise is open. */
export function whenNothingFloats(): Promise<void> {
  if (running === 0) return Promise.resolve();
  return new Promise((resolve) => {
    onIdle = () => {
      // One may have started another.
      if (running === 0) resolve();
    };
  });
}

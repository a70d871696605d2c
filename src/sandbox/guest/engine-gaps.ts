/** Fills gaps of the engine that libraries and programs rely on. It is imported before them. */

// The sandbox has no shared memory, so an empty object is enough.
if (!("Atomics" in globalThis)) {
  Object.defineProperty(globalThis, "Atomics", { value: {}, writable: true, configurable: true });
}

// Leaving a loop over `list.values().map(f)` early makes the engine call `return` of the inner iterator without checking that it
// exists.
for (const iterator of [
  [].values(),
  new Map().values(),
  new Set().values(),
  ""[Symbol.iterator](),
  "".matchAll(/x/g),
]) {
  Object.defineProperty(Object.getPrototypeOf(iterator), "return", {
    value: (value: unknown) => ({ value, done: true }),
    writable: true,
    configurable: true,
  });
}

export {};

/** What the engine was built without or does wrongly, and libraries and programs take for granted. Imported before them. */

// Nothing is shared in here, so that there is nothing to be atomic about.
if (!("Atomics" in globalThis)) {
  Object.defineProperty(globalThis, "Atomics", { value: {}, writable: true, configurable: true });
}

// Leaving `list.values().map(f)` early is leaving the iterator below it, and the engine calls `return` there without asking
// whether there is one.
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

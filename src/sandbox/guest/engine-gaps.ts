/** Fills gaps of the engine that libraries and programs rely on. It is imported before them. */
import { define } from "./named.ts";

// The sandbox has no shared memory, so an empty object is enough.
if (!("Atomics" in globalThis)) define(globalThis, { Atomics: {} });

for (const name of ["dispose", "asyncDispose"]) {
  if (!(name in Symbol)) Object.defineProperty(Symbol, name, { value: Symbol(`Symbol.${name}`) });
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
  define(Object.getPrototypeOf(iterator), { return: (value: unknown) => ({ value, done: true }) });
}

/** What libraries take for granted at their start, and this engine was built without. Imported before them. */

// Nothing is shared in here, so that there is nothing to be atomic about.
if (!("Atomics" in globalThis)) {
  Object.defineProperty(globalThis, "Atomics", { value: {}, writable: true, configurable: true });
}

export {};

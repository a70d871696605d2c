/** Encodes returned and displayed values as JSON. */

const { stringify } = JSON;

/** What was found in values since the program started. */
export const met = {
  /** Whether a value had something unusual: NaN, undefined, a cycle or a function. */
  odd: false,
  promises: new Set<Promise<unknown>>(),
  /** The results of promises that were found earlier. */
  settled: new Map<Promise<unknown>, unknown>(),
};

/** Returns JSON of any value, or undefined for undefined. Values that JSON lacks become a readable text. */
export function encode(value: unknown, indent?: number): string | undefined {
  if (value === undefined) return undefined;
  const path: object[] = [];
  return stringify(
    value,
    function (this: unknown, key, given) {
      // JSON.stringify has already called toJSON. The original value tells a Date from a string.
      const original = key === "" ? given : (this as Record<string, unknown>)[key];
      while (path.length > 0 && path[path.length - 1] !== this) path.pop();
      const plain =
        original instanceof Date && given === null
          ? "Invalid Date"
          : plainValue(given === undefined ? original : given);
      if (plain === undefined) met.odd = true;
      if (typeof plain === "object" && plain !== null) {
        if (path.includes(plain)) {
          met.odd = true;
          return "[Circular]";
        }
        path.push(plain);
      }
      return plain;
    },
    indent,
  );
}

function plainValue(value: unknown): unknown {
  switch (typeof value) {
    case "bigint":
      return `${value}n`;
    case "number":
      if (Number.isFinite(value)) return value;
      met.odd = true;
      return String(value);
    case "function":
      met.odd = true;
      return `[Function: ${value.name || "anonymous"}]`;
    case "symbol":
      return String(value);
    case "object":
      break;
    default:
      return value;
  }
  if (value instanceof Map) {
    const keys = [...value.keys()];
    return keys.every((key) => typeof key === "string") ? Object.fromEntries(value) : [...value];
  }
  if (value instanceof Set) return [...value];
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof RegExp) return String(value);
  if (value instanceof Promise) {
    if (met.settled.has(value)) return plainValue(met.settled.get(value));
    met.promises.add(value);
    return "[Promise: not awaited]";
  }
  if (value instanceof ArrayBuffer) return [...new Uint8Array(value)];
  const tag = String((value as Record<symbol, unknown> | null)?.[Symbol.toStringTag] ?? "");
  // Built-in iterators such as `map.values()` are finite. A generator may never end.
  if (/^(?:Array|Map|Set|RegExp String) Iterator$/.test(tag)) return [...(value as Iterable<unknown>)];
  if (tag === "URLSearchParams") return String(value);
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return [...(value as Uint8Array)];
  return value;
}

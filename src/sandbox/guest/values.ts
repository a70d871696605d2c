/** Values as JSON: what returned and displayed things look like to whoever reads them. */

const { stringify } = JSON;

/** What was met in a value; counted from the start of the program. */
export const met = {
  /** Something that a value seldom has on purpose: NaN, undefined, a circle, a function. */
  odd: false,
  promises: new Set<Promise<unknown>>(),
  /** What promises that were met before have become. */
  settled: new Map<Promise<unknown>, unknown>(),
};

/** JSON of any value, or undefined for undefined. What JSON has no word for becomes the text a person would expect. */
export function encode(value: unknown, indent?: number): string | undefined {
  if (value === undefined) return undefined;
  const path: object[] = [];
  return stringify(
    value,
    function (this: unknown, key, given) {
      // JSON has called toJSON already; what came before it tells a Date from a string.
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
  // What `map.values()` and the like give; a generator may never end.
  if (/^(?:Array|Map|Set|RegExp String) Iterator$/.test(tag)) return [...(value as Iterable<unknown>)];
  if (tag === "URLSearchParams") return String(value);
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return [...(value as Uint8Array)];
  return value;
}

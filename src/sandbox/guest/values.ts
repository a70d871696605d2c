/** Values as text: what returned and logged things look like to whoever reads them. */

const { stringify } = JSON;
const { isArray } = Array;

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
      const plain = plainValue(given === undefined ? original : given);
      if (typeof plain === "object" && plain !== null) {
        if (path.includes(plain)) return "[Circular]";
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
      return Number.isFinite(value) ? value : String(value);
    case "function":
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
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return [...(value as Uint8Array)];
  return value;
}

/** One argument of console.log as text: strings as they are, everything else as readable JSON. */
export function show(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined) return "undefined";
  if (value instanceof Error)
    return value.stack ? `${value.name}: ${value.message}\n${value.stack}`.trimEnd() : String(value);
  if (typeof value !== "object" || value === null) return String(plainValue(value));
  const short = encode(value) ?? "undefined";
  return short.length <= 72 && !isArray(value)
    ? spaced(short)
    : short.length <= 72
      ? short
      : (encode(value, 2) ?? short);
}

function spaced(json: string): string {
  return json.replace(/("(?:[^"\\]|\\.)*")(:)?|,/g, (match, text, colon) =>
    text ? text + (colon ? ": " : "") : `${match} `,
  );
}

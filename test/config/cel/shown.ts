/** Writes a value of CEL as a text, to compare it with another one. */
import { Duration, Fields, List, Timestamp, TypeName, type Value } from "../../../src/config/cel/values.ts";
import { Work } from "../../../src/config/cel/work.ts";

export function shown(value: Value): string {
  if (value instanceof List) {
    return `[${Array.from({ length: value.size }, (_, index) => shown(value.at(index))).join(", ")}]`;
  }
  if (value instanceof Fields) {
    const entries = value.keys(new Work()).map((key) => `${shown(key)}: ${shown(value.get(key)!)}`);
    return `{${entries.toSorted().join(", ")}}`;
  }
  if (value instanceof TypeName) return value.name;
  if (value instanceof Timestamp || value instanceof Duration) return `${value.nanos}`;
  if (typeof value === "string") return JSON.stringify(value);
  // Integers and doubles are different values.
  return typeof value === "bigint" ? `${value}` : typeof value === "number" ? `double ${value}` : String(value);
}

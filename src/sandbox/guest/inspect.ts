/** Shows values as Node's `util.inspect` does. Errors need their own code, because the stacks of the engine have no first line. */
import type { InspectOptions } from "node-inspect-extracted";
import { inspect as library } from "./library.ts";
import { define } from "./named.ts";

const { format, formatWithOptions, inspect: nodeInspect } = library;

/** The options for logged values. */
export const logOptions = { depth: 4, breakLength: 100, compact: 8, colors: false } satisfies InspectOptions;

export const customInspect = Symbol.for("nodejs.util.inspect.custom");

export type Inspect = (value: unknown, options?: InspectOptions) => string;

/** Shows an error: `Name: message`, the frames of the program, its own properties and its cause. */
function showError(this: Error, depth: number, options: InspectOptions, inspect: Inspect): string {
  const name = String(this.name);
  const head = this.message ? `${name}: ${this.message}` : name;
  if (depth !== null && depth < 0) return `[${head}]`;
  const frames = framesOf(this.stack);
  const own = Object.entries(this).filter(([key]) => !["stack", "message", "name"].includes(key));
  const shown: Record<string, unknown> = Object.fromEntries(own);
  if (this.cause !== undefined) shown["[cause]"] = this.cause;
  if (this instanceof AggregateError) shown["[errors]"] = this.errors;
  const more = Object.keys(shown).length > 0 ? ` ${inspect(shown, options).replace(/'(\[\w+\])':/g, "$1:")}` : "";
  return `${frames.length === 0 ? head : `${head}\n${frames.join("\n")}`}${more}`;
}

/** Returns the frames of the program by their lines. Columns are removed, because they belong to the transpiled code. */
function framesOf(stack: unknown): string[] {
  return String(stack ?? "")
    .split("\n")
    .filter((line) => line.includes("main.ts:"))
    .map((line) => line.replace(/main\.ts:(\d+)(?::\d+)?/, "main.ts:$1").replace(/<\w+> \((.*)\)$/, "$1"));
}

define(Error.prototype, { [customInspect]: showError });

export type { InspectOptions };
export { format, formatWithOptions, nodeInspect as inspect };

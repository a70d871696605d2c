/**
 * The guest's script has parts, which run one after another. Compiling needs six times the memory of the text, and freed memory stays part
 * of every program's memory. With several parts, each one reuses the memory that the previous one has freed.
 */

/** The files of the parts, in their order. */
export const guestParts: readonly string[] = [
  "libraries/core-js.ts",
  "libraries/inspect.ts",
  "libraries/buffer.ts",
  "libraries/smaller.ts",
  "main.ts",
];

/** A line between two parts. */
const boundary = "\n//# next part\n";

export const joinParts = (parts: readonly string[]): string => parts.join(boundary);
export const partsOf = (script: string): string[] => script.split(boundary);

/** What the worker that checks programs gets, and what it answers. */
import type { Namespace } from "../../sandbox/contract.ts";

/** Mistakes of one program. */
export const maxCodeMistakes = 50;

/** A place in the code, which counts lines and columns from 1, and what is wrong there. */
export interface PlacedMistake {
  line: number;
  column: number;
  message: string;
  /** The corrected call, or the signatures of the tools that may be meant. */
  hint?: string | undefined;
  /** Whether such a program runs all the same, because the config says so. */
  isWarning: boolean;
}

export interface CheckJob {
  source: string;
  namespaces: Namespace[];
  /** The functions that accept wrong arguments, as `namespace.name`. */
  tolerant: string[];
  /** Whether only the syntax is checked. */
  isSyntaxOnly: boolean;
  isWarning: boolean;
}

export function functionKey(namespace: string, name: string): string {
  return `${namespace}.${name}`;
}

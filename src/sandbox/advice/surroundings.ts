/** What advice is made of: the failing code, the tools there are, and what they gave. */
import type { Scope } from "../code/check.ts";
import type { FailureReason, Suggestion } from "../contract.ts";
import type { SeenValues } from "./seen-values.ts";

export interface Failing {
  reason: FailureReason;
  name: string;
  message: string;
  code: string | undefined;
  hint: string | undefined;
  /** Offset in the program, where it is known. */
  at: number | undefined;
  /** Line of the code, which is the original's. */
  line: number | undefined;
  /** Tools that were asked for and are not there, `demo.nope`: those asked for last come last. */
  missed: readonly string[];
  /** Properties that were read from promises of calls, which have none such. */
  unawaited: readonly { tool: string; key: string }[];
}

export interface Surroundings {
  values: SeenValues;
  scope: Scope;
  /** How often each tool was called, by its id. */
  calls: readonly CallCount[];
  /** Tools that may do what the words say, best first. */
  suggest(words: string, limit: number): Suggestion[];
}

export interface CallCount {
  tool: string;
  calls: number;
  failures: number;
  /** Calls whose arguments were those of the call before. */
  repeated: number;
  /** Calls that have no answer yet. */
  open: number;
}

/** Better words for a failure, what to do about it, and where it is, each where there is something to say. */
export interface Advice {
  message?: string | undefined;
  hint?: string | undefined;
  /** Offset in the program. */
  at?: number | undefined;
}

export type Advisor = (error: Failing, around: Surroundings) => Advice | undefined;

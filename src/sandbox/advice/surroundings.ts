/** What advice is made from: the program, its tools, and their results. */
import { type Scope, scopeOf } from "../ast/tool-calls.ts";
import { type ParsedCode, Tree } from "../ast/tree.ts";
import { parsedValue, textOf } from "../binding-value.ts";
import type { BindingValue, FailureReason, Suggestion } from "../contract.ts";
import type { KnownTools } from "../known-tools.ts";
import type { RecordedCalls } from "../seen-calls.ts";
import { type ResultsOf, SeenValues } from "./seen-values.ts";

export interface Failing {
  reason: FailureReason;
  name: string;
  message: string;
  code: string | undefined;
  hint: string | undefined;
  /** Offset in the program, if it is known. */
  at: number | undefined;
  /** Line of the code as it was written. */
  line: number | undefined;
  /** Tools that the program asked for and that do not exist (`demo.nope`), the latest last. */
  missed: readonly string[];
  /** Properties that were read from promises of calls, and that no promise has. */
  unawaited: readonly { tool: string; key: string }[];
}

export interface Surroundings {
  values: SeenValues;
  scope: Scope;
  calls: readonly CallCount[];
  /** The recorded results of a tool: the first one and the last ones. */
  resultsOf: ResultsOf;
  /** Tools that fit a query, best first. */
  suggest(words: string, limit: number): Suggestion[];
}

/** How often a tool was called, by its id. */
export interface CallCount {
  tool: string;
  calls: number;
  failures: number;
  /** Calls with the same arguments as the previous call. */
  repeated: number;
  /** Calls without an answer yet. */
  open: number;
}

/** A better message, what to do next, and where the failure is, as far as they are known. */
export interface Advice {
  message?: string | undefined;
  hint?: string | undefined;
  /** Offset in the program. */
  at?: number | undefined;
}

/** Maximum number of characters of results that are parsed again. */
const maxRead = 8_000_000;

export function surroundingsOf(
  { program, code }: ParsedCode,
  known: KnownTools,
  calls: readonly RecordedCalls[],
): Surroundings {
  const scope = scopeOf(program, code, known.namespaces);
  const parsed = new Map<string, unknown[]>();
  let left = maxRead;
  const readable = (value: BindingValue) => {
    left -= textOf(value).length;
    return left >= 0;
  };
  const resultsOf = (tool: string): unknown[] => {
    let results = parsed.get(tool);
    if (!results) {
      results = (calls.find((each) => each.tool === tool)?.results ?? []).filter(readable).map(parsedValue);
      parsed.set(tool, results);
    }
    return results;
  };
  return {
    values: new SeenValues(new Tree(program, code), scope, resultsOf),
    scope,
    resultsOf,
    calls: calls.map(({ results: _, failure: __, ...count }): CallCount => count),
    suggest: (words, limit) => (words === "" ? [] : known.suggest(words, limit)),
  };
}

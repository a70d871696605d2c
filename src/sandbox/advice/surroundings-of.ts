/** The program, what its tools gave, and the tools there are, as advice needs them. Results are read when asked for. */
import { parsedValue, textOf } from "../binding-value.ts";
import { scopeOf } from "../code/check.ts";
import type { Transpiled } from "../code/transpile.ts";
import type { BindingValue } from "../contract.ts";
import type { KnownTools } from "../known-tools.ts";
import type { RecordedCalls } from "../seen-calls.ts";
import { type ResultsOf, SeenValues } from "./seen-values.ts";
import type { CallCount, Surroundings } from "./surroundings.ts";
import { Tree } from "./tree.ts";

export function surroundingsOf(
  { program, code }: Transpiled["plain"],
  known: KnownTools,
  calls: readonly RecordedCalls[],
): { surroundings: Surroundings; resultsOf: ResultsOf } {
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
  const surroundings: Surroundings = {
    values: new SeenValues(new Tree(program, code), scope, resultsOf),
    scope,
    calls: calls.map(({ results: _, failure: __, ...count }): CallCount => count),
    suggest: (words, limit) => (words === "" ? [] : known.suggest(words, limit)),
  };
  return { surroundings, resultsOf };
}

/** Characters of results that are read again. */
const maxRead = 8_000_000;

/** A look at an outcome that is ok and seems wrong: what to say about it, as lines of its logs. */
import type { ParsedCode } from "../ast/tree.ts";
import type { LogEntry } from "../contract.ts";
import type { KnownTools } from "../known-tools.ts";
import type { RecordedCalls } from "../seen-calls.ts";
import type { Notes } from "./odd-values.ts";
import { orNothing } from "./or-nothing.ts";
import { surroundingsOf } from "./surroundings.ts";
import { warningsFor } from "./warnings.ts";

interface Ended {
  json: string | undefined;
  /** What the guest noticed, as JSON. */
  notes: string | undefined;
  logs: readonly LogEntry[];
  displayed: boolean;
  calls: readonly RecordedCalls[];
}

export async function warn(
  { json, notes, logs, displayed, calls }: Ended,
  plain: ParsedCode,
  known: KnownTools,
): Promise<LogEntry[]> {
  const failures = calls.flatMap(({ tool, calls: made, failures: failed, failure }) =>
    failure ? [{ tool, calls: made, failures: failed, ...failure }] : [],
  );
  const result = {
    program: plain.program,
    json,
    notes: notes === undefined ? undefined : (JSON.parse(notes) as Notes),
    logs,
    displayed,
    failures,
  };
  const warnings = await known.resolved(() =>
    orNothing(() => {
      return warningsFor(result, surroundingsOf(plain, known, calls));
    }, []),
  );
  return warnings.map((text) => ({ level: "warn", text }));
}

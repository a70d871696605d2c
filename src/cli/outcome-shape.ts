/** The shape of outcomes, as `exec --json` prints them. */
import { about, anything, byName, list, named, number, oneOf, record, text } from "./shapes.ts";

const common = {
  logs: list(named("LogEntry", record({ level: oneOf("debug", "log", "info", "warn", "error"), text }))),
  display: about("Content blocks for hosts", list(anything)),
  receipt: named(
    "Receipt",
    record({
      id: text,
      durationMs: number,
      calls: number,
      failures: number,
      tools: about(
        "By tool id",
        byName(record({ calls: number, failures: number, durationMs: number, resultChars: number })),
      ),
      charsIn: about("Of the tools' results", number),
      charsOut: about("Of the value, the logs and what is displayed", number),
      "registry?": about("What was asked of the registry first", text),
    }),
  ),
};

/** A value that JSON has no word for is left out. */
export const doneShape = record({ ok: { const: true }, "value?": anything, ...common });

export const failedShape = named(
  "Failed",
  record({
    ok: { const: false },
    reason: oneOf("threw", "check", "timeout", "cpu", "memory", "stack", "cancelled", "crashed"),
    error: record({
      name: text,
      message: text,
      "code?": text,
      "hint?": text,
      stack: text,
      "line?": number,
      "column?": number,
      "source?": text,
    }),
    ...common,
  }),
);

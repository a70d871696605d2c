/** The shape of outcomes, as `exec --json` prints them. */
import { about, anything, byName, list, named, number, oneOf, record, text } from "./shapes.ts";

const common = {
  logs: list(named("LogEntry", record({ level: oneOf("debug", "log", "info", "warn", "error"), text }))),
  display: about("Content blocks for agents", list(anything)),
  receipt: named(
    "Receipt",
    record({
      id: text,
      durationMs: number,
      calls: number,
      failures: number,
      tools: about(
        "By tool id",
        byName(
          record({
            calls: number,
            failures: number,
            durationMs: number,
            resultChars: number,
            "hiddenFailure?": about(
              "Message of the first failure, if every call failed and the output does not show it",
              text,
            ),
          }),
        ),
      ),
      charsIn: about("Characters of the tools' results", number),
      charsOut: about("Characters of the value, the logs and what is displayed", number),
      "registry?": about("The first query to the registry", text),
    }),
  ),
};

/** Values that JSON cannot represent are omitted. */
export const filesShape = about("With --output", list(record({ file: text, mimeType: text, bytes: number })));

export const doneShape = record({ ok: { const: true }, "value?": anything, ...common, "files?": filesShape });

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

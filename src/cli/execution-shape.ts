/** The shapes of executions, as `trace --json` prints them. */
import { about, either, list, named, nothing, number, oneOf, record, text, time, yesOrNo } from "./shapes.ts";

const summary = {
  version: { const: 1 },
  id: text,
  at: time,
  door: oneOf("exec", "serve"),
  config: about("The config file; null for the demo", either(text, nothing)),
  ok: yesOrNo,
  "reason?": about(
    "Why it is not",
    oneOf("threw", "check", "timeout", "cpu", "memory", "stack", "cancelled", "crashed"),
  ),
  durationMs: number,
  beforeMs: about("Before the code ran, of asking servers", number),
  calls: number,
  failures: number,
  charsIn: about("Of the tools' results", number),
  charsOut: about("Of the value, the logs and what is displayed", number),
  hasContents: about("Whether it was recorded with --record", yesOrNo),
  receipt: about("The id that its receipt has", text),
};

const excerpt = named("Excerpt", about("The beginning of a text, without secrets", record({ text, isWhole: yesOrNo })));

const call = named(
  "Call",
  record({
    server: text,
    tool: text,
    "line?": about("Of the code", number),
    startMs: about("Since the code began", number),
    endMs: number,
    outcome: oneOf("ok", "failed", "cancelled"),
    argumentChars: number,
    resultChars: number,
    "code?": about("Of the error", text),
    "message?": text,
    "arguments?": excerpt,
    "result?": excerpt,
  }),
);

const execution = named(
  "Execution",
  about(
    "With an id; texts only where hasContents",
    record({
      ...summary,
      code: record({ chars: number, lines: number, "text?": text }),
      timeline: list(call),
      moreCalls: about("After those, and not recorded each", number),
      logs: record({ lines: number, chars: number, "entries?": list(record({ level: text, text })) }),
      "error?": record({ "code?": text, "line?": number, "name?": text, "message?": text, "hint?": text }),
      "value?": excerpt,
    }),
  ),
);

export const traceShape = either(
  named("Executions", record({ executions: list(named("Summary", record(summary))) })),
  execution,
  named("Written", about("With --html", record({ written: text }))),
  named("Cleared", about("With --clear", record({ cleared: list(text) }))),
);

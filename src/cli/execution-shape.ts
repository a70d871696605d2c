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
    "Why it failed",
    oneOf("threw", "check", "timeout", "cpu", "memory", "stack", "cancelled", "crashed"),
  ),
  durationMs: number,
  beforeMs: about("Time spent fetching tools from servers before the code ran", number),
  calls: number,
  failures: number,
  charsIn: about("Characters of the tools' results", number),
  charsOut: about("Characters of the value, the logs and what is displayed", number),
  hasContents: about("Whether it was recorded with --record", yesOrNo),
  receipt: about("Id of its receipt", text),
};

const excerpt = named("Excerpt", about("The beginning of a text, without secrets", record({ text, isWhole: yesOrNo })));

const call = named(
  "Call",
  record({
    server: text,
    tool: text,
    "line?": about("Line of the code", number),
    startMs: about("Since the code started", number),
    endMs: number,
    outcome: oneOf("ok", "failed", "cancelled"),
    argumentChars: number,
    resultChars: number,
    "code?": about("Error code", text),
    "message?": text,
    "arguments?": excerpt,
    "result?": excerpt,
  }),
);

const execution = named(
  "Execution",
  about(
    "With an id; texts are present only if hasContents is true",
    record({
      ...summary,
      code: record({ chars: number, lines: number, "text?": text }),
      timeline: list(call),
      moreCalls: about("Number of later calls, which are not recorded individually", number),
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

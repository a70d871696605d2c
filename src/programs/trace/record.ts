/** The record of one execution: time, result, calls and sizes. Contents are kept only on request. */
import {
  about,
  byName,
  either,
  exactly,
  list,
  named,
  nothing,
  number,
  oneOf,
  record,
  text,
  time,
  type ValueOf,
  yesOrNo,
} from "../../base/json-shape.ts";

/** The commands that run code, schedules, and events. */
export const startedByShape = oneOf("exec", "serve", "schedule", "event");
export type StartedBy = ValueOf<typeof startedByShape>;

/** What starts a program while nobody looks. */
export type Unattended = Extract<StartedBy, "schedule" | "event">;

/** How a program came, whatever process runs it now. */
export function startedByOf({
  isForAgent,
  unattended,
}: {
  isForAgent?: boolean | undefined;
  unattended?: Unattended | undefined;
}): StartedBy {
  if (unattended) return unattended;
  return isForAgent ? "serve" : "exec";
}

/** A person who has signed in to `serve --http`. */
export const personShape = record({ id: text, name: text });

/** Why a program failed. */
export const failureReason = oneOf("threw", "check", "timeout", "cpu", "memory", "stack", "cancelled", "crashed");

const calledToolShape = record({ server: text, tool: text, calls: number });
/** A tool that an execution has called, and how often. */
export type CalledTool = ValueOf<typeof calledToolShape>;

const summary = {
  version: exactly(1),
  id: text,
  at: about("The start, in milliseconds since 1970", time),
  startedBy: startedByShape,
  "program?": about("The name of the saved program that it ran", text),
  "repeats?": about("Id of the execution whose code it runs again, perhaps changed in the editor of the page", text),
  "dryRun?": about("Whether it was a dry run", exactly(true)),
  config: about("The config file; null for the demo", either(text, nothing)),
  "door?": about("The door of the config behind which it ran", text),
  "person?": about("The person for whom it ran, who has signed in to serve --http", personShape),
  "agent?": about("With serve: the agent, as it names itself. For the editor of the page: claudikins ui", text),
  "session?": about("With serve: a short name of the agent's session, the same for all its executions", text),
  "folder?": about("The working folder, except for people who have signed in", text),
  "comment?": about("The comment at the beginning of the code, if contents were recorded", text),
  ok: yesOrNo,
  "reason?": about("Why it failed", failureReason),
  "failedWith?": about("The code of the error with which it failed", text),
  durationMs: number,
  beforeMs: about("Time spent fetching tools from servers before the code ran", number),
  calls: number,
  failures: number,
  "denied?": about("The failed calls that the policy or a person denied", number),
  "tools?": about("The called tools, the first called first", list(calledToolShape)),
  charsIn: about("Characters of the tools' results", number),
  charsOut: about("Characters of the value, the logs and what is displayed", number),
  hasContents: about("Whether it was recorded with --record", yesOrNo),
  "codeDigest?": about("The same for the same code, if contents were recorded", text),
  receipt: about("Id of its receipt", text),
};

/** The first line of each file, which lists show. */
export const summaryShape = named("Summary", record(summary));
export type Summary = ValueOf<typeof summaryShape>;

/** How an execution has ended, for lists. */
export const endStates = ["done", "failed", "denied", "cancelled"] as const;
export type EndState = (typeof endStates)[number];

export function endStateOf({ ok, reason, failedWith }: Pick<Summary, "ok" | "reason" | "failedWith">): EndState {
  if (ok) return "done";
  if (failedWith === "POLICY_DENIED") return "denied";
  return reason === "cancelled" ? "cancelled" : "failed";
}

const hostShape = record({ "name?": text, "version?": text, "protocol?": text });
/** An agent, as it names itself. */
export type HostIdentity = ValueOf<typeof hostShape>;

/** The agent of programs that were written on the page of `claudikins ui`. */
export const pageAgent = "claudikins ui";

/** `codex 1.2`. Undefined if the agent has not named itself. */
export function agentText({ name, version }: HostIdentity): string | undefined {
  return [name, version].filter(Boolean).join(" ") || undefined;
}

const excerptShape = named(
  "Excerpt",
  about("The beginning of a text, without secrets", record({ text, isWhole: yesOrNo })),
);
export type Excerpt = ValueOf<typeof excerptShape>;

export const callShape = named(
  "Call",
  record({
    server: text,
    tool: text,
    "line?": about("Line of the code, counting from 1", number),
    startMs: about("Since the code started", number),
    endMs: number,
    "waitedMs?": about("How much of this time a person was asked", number),
    outcome: oneOf("ok", "failed", "cancelled"),
    "notMade?": about("Whether a dry run has made up the result", exactly(true)),
    argumentChars: number,
    resultChars: number,
    "code?": about("Error code", text),
    "message?": text,
    "arguments?": excerptShape,
    "result?": excerptShape,
  }),
);
export type RecordedCall = ValueOf<typeof callShape>;

export const executionShape = named(
  "Execution",
  about(
    "With an id; texts are present only if hasContents is true",
    record({
      ...summary,
      "host?": about("With serve: the agent, and the revision of MCP that it spoke", hostShape),
      "protocols?": about("The revision of MCP that each called server spoke", byName(text)),
      code: record({ chars: number, lines: number, "text?": text }),
      // In the order in which the calls were made.
      timeline: list(callShape),
      moreCalls: about("Number of later calls, which are not recorded individually", number),
      logs: record({ lines: number, chars: number, "entries?": list(record({ level: text, text })) }),
      "error?": record({ "code?": text, "line?": number, "name?": text, "message?": text, "hint?": text }),
      "value?": excerptShape,
      "labels?": about(
        "What its session had read when it ended",
        list(record({ label: oneOf("private", "untrusted"), source: text })),
      ),
    }),
  ),
);
export type ExecutionRecord = ValueOf<typeof executionShape>;
export type RecordedError = NonNullable<ExecutionRecord["error"]>;

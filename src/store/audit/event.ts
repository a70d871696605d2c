/** What the audit log records: decisions about calls, changes of the policy, and damage to the log itself. */
import { list, number, oneOf, record, text, texts, time, type ValueOf, yesOrNo } from "../../base/json-shape.ts";

/** Maximum length of one text of an event, in characters. Names come from servers. */
const maxAuditTextChars = 500;

export const decisions = [
  "approved",
  "denied",
  "expired",
  "withdrawn",
  "policy",
  "trusted",
  "untrusted",
  "issued",
  "revoked",
  "restored",
  "deleted",
  "broken",
  "cut",
  // Of saved programs and their schedules.
  "saved",
  "replaced",
  "shared",
  "accepted",
  "removed",
  "scheduled",
  "unscheduled",
  // Of executions.
  "cancelled",
  // Of people, at the page of `serve --http`.
  "signed-in",
  "signed-out",
] as const;

/** A person who has signed in to `serve --http`. */
const personShape = record({ id: text, name: text });

/** The process in which a decision was made. */
const deciderKeys = {
  /** In the agent, at the program's terminal, on the page, or with a command. Missing if nobody decided: a time limit did. */
  "place?": oneOf("agent", "terminal", "page", "command"),
  /** The person who has decided. Missing for the user of the process. */
  "person?": personShape,
  user: text,
  pid: number,
  /** Whether its stdin and stderr are terminals. */
  terminal: yesOrNo,
  /** The name of the program that started it, on Linux. */
  "parent?": text,
};

const changeShape = record({
  /** The path of the value in the config, such as `mcpServers.github.deny`. */
  at: text,
  /** JSON, shortened. Missing if there was no value. */
  "before?": text,
  "after?": text,
});

const eventKeys = {
  decision: oneOf(...decisions),
  /** The config file. Missing for the demo. */
  "config?": text,
  "approval?": text,
  /** The door of the config behind which a program runs. */
  "door?": text,
  "execution?": text,
  "call?": number,
  "line?": number,
  "server?": text,
  "tool?": text,
  /** The arguments are not recorded: only a digest of their canonical JSON, and its size in bytes. */
  "arguments?": record({ sha256: text, bytes: number }),
  /** Whether an approval counts for the call alone, or for the tool until the program or the session ends. */
  "scope?": oneOf("once", "program", "session"),
  "why?": text,
  /** The last entry that a cut of the log has removed, with those before it: its number and its hash. */
  "cut?": record({ entry: number, sha256: text }),
  "changes?": list(changeShape),
  "servers?": texts,
  /** The person for whom a program runs, whose access was taken away or given back, or whose data was deleted. */
  "person?": personShape,
  /** The token of `serve --http` that was issued or revoked, without the token itself. */
  "token?": record({ id: text, "name?": text, "door?": text, "expiresAt?": time }),
};

const eventShape = record(eventKeys);
export type AuditEvent = ValueOf<typeof eventShape>;

const deciderShape = record(deciderKeys);
export type Decider = ValueOf<typeof deciderShape>;

/** One line of the log. */
export const lineShape = record({
  /** Lines count from 1, through all files. */
  entry: number,
  /** The SHA-256 of the line before, as hexadecimal; zeros in the first line. */
  previous: text,
  at: time,
  ...eventKeys,
  by: deciderShape,
});
export type AuditLine = ValueOf<typeof lineShape>;

/** The event with texts of bounded length. */
export function bounded<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_, each) =>
    typeof each === "string" && each.length > maxAuditTextChars ? `${each.slice(0, maxAuditTextChars)}…` : each,
  );
}

/** An approval as JSON, for the commands that show it. */
import { parseExact } from "../../base/exact-json.ts";
import {
  about,
  anything,
  byName,
  either,
  nothing,
  number,
  oneOf,
  record,
  text,
  texts,
  time,
} from "../../base/json-shape.ts";
import { personShape } from "../../programs/trace/record.ts";
import { type Approval, approvalScopes, hasWhole } from "../../store/approval.ts";

export const approvalKeys = {
  id: text,
  state: oneOf("open", "approved", "denied", "expired", "withdrawn"),
  config: about("The config file; null for the demo", either(text, nothing)),
  "door?": about("The door of the config behind which the execution runs", text),
  "person?": about("The person for whom the execution runs, who has signed in to serve --http", personShape),
  server: text,
  tool: text,
  "args?": about(
    "All arguments, without the secrets of the config. Missing where only their beginning is stored, and in lists if they are long",
    byName(anything),
  ),
  excerpt: about("The beginning of the arguments as indented JSON", text),
  argsBytes: about("Bytes of all arguments as JSON", number),
  why: about('The end of "You are asked because …"', text),
  told: about("The same for the agent, without data", text),
  "changed?": about("What has changed since an earlier permission", texts),
  execution: text,
  call: about("The number of the call in its execution", number),
  "line?": about("The line of the code that makes the call", number),
  "code?": text,
  askedAt: time,
  expiresAt: time,
  "decidedAt?": time,
  "decidedBy?": oneOf("agent", "terminal", "page", "command"),
  "scope?": oneOf(...approvalScopes),
  "reason?": about("Why it was denied, as the program was told", text),
};
export const approvalShape = record(approvalKeys);

export function jsonOf(approval: Approval) {
  const {
    bound: _,
    owner: _owner,
    argsChars: _chars,
    door,
    person,
    personName,
    changed,
    line,
    code,
    decidedAt,
    decidedBy,
    scope,
    reason,
    ...row
  } = approval;
  const ofPerson = person === null ? null : { id: person, name: personName ?? person };
  const known = { door, person: ofPerson, changed, line, code, decidedAt, decidedBy, scope, reason };
  const args = hasWhole(approval) ? { args: parseExact(row.excerpt) } : {};
  return { ...row, ...args, ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null)) };
}

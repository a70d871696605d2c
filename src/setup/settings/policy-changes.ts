/** Records changes of servers and policies in a config file in the audit log. */

import { ClaudikinsError, messageOf, toClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject, objectAt, valueAt } from "../../base/json-object.ts";
import { parseJson } from "../../config/edit/json.ts";
import type { Environment } from "../../config/environment.ts";
import { commonKeys, pathText, policyKeys } from "../../config/policy.ts";
import { digestOf } from "../../config/trust/marks.ts";
import { thisProcess } from "../../store/audit/decider.ts";
import type { AuditEvent, Decider } from "../../store/audit/event.ts";
import { record } from "../../store/audit/record.ts";

export type AuditedChange = NonNullable<AuditEvent["changes"]>[number];

/** The keys of an entry that control calls. They are recorded with their values. */
const ruleKeys = [...policyKeys, "disabled"];

/** Keys of an entry that neither choose the server nor control calls. */
const otherKeys = ["category", "description", "startTimeoutMs", "callTimeoutMs", "idleTimeoutMs", "keepAlive"];

/**
 * The differences in `allow`, `deny`, `confirm`, `labels` and `disabled`, of `policy` and of all servers, and in the entries of the servers. An entry
 * may contain secrets, so only its digest is recorded.
 */
export function policyChanges(before: JsonObject, after: JsonObject): AuditedChange[] {
  const names = new Set([before, after].flatMap((config) => Object.keys(objectAt(config, ["mcpServers"]))));
  const changes = (path: string[], textOf: (value: unknown) => string | undefined): AuditedChange[] => {
    const [one, other] = [before, after].map((config) => textOf(valueAt(config, path)));
    if (one === other) return [];
    return [
      {
        at: pathText(path),
        ...(one === undefined ? {} : { before: one }),
        ...(other === undefined ? {} : { after: other }),
      },
    ];
  };
  return [
    ...commonKeys.flatMap((key) => changes(["policy", key], jsonOf)),
    ...[...names].flatMap((name) => [
      ...changes(["mcpServers", name], entryText),
      ...ruleKeys.flatMap((key) => changes(["mcpServers", name, key], jsonOf)),
    ]),
  ];
}

const jsonOf = (value: unknown) => JSON.stringify(value);

/** Such as `sha256:4d96…`. Undefined without an entry. */
function entryText(entry: unknown): string | undefined {
  if (!isObject(entry)) return undefined;
  const others = new Set([...ruleKeys, ...otherKeys]);
  return `sha256:${digestOf(Object.fromEntries(Object.entries(entry).filter(([key]) => !others.has(key))))}`;
}

/** The texts of a config file before and after a change. */
export interface ChangedText {
  file: string;
  before: string;
  after: string;
}

/**
 * Records the differences that a change of a config file makes, and then makes the change with `make`. If the log cannot be written,
 * nothing is changed. If `make` fails, the log says that the change was not made. Throws FILE_NOT_WRITABLE, and what `make` throws.
 */
export async function recordedChange(
  change: ChangedText,
  env: Environment,
  place: Decider["place"],
  make: () => void,
): Promise<void> {
  const event = eventOf(change);
  if (!event) return make();
  const by = thisProcess(place);
  try {
    await record(env, [event], by);
  } catch (thrown) {
    const { code, message, hint } = toClaudikinsError(thrown);
    const what = `${change.file} was not changed, because the change cannot be recorded: ${message}`;
    throw new ClaudikinsError(code, what, { hint });
  }
  try {
    make();
  } catch (error) {
    const why = `not made: ${messageOf(error)}`;
    await record(env, [{ ...event, changes: event.changes.map(undone), why }], by);
    throw error;
  }
}

/** Records a change that another program has made, such as an editor. Call `requireLog` before that program starts. */
export async function recordMadeChange(change: ChangedText, env: Environment): Promise<void> {
  const event = eventOf(change);
  if (!event) return;
  try {
    await record(env, [event], thisProcess("command"));
  } catch (thrown) {
    const { code, message, hint } = toClaudikinsError(thrown);
    const what = `${change.file} was changed, but the change is not in the audit log: ${message}`;
    throw new ClaudikinsError(code, what, { hint });
  }
}

function eventOf({ file, before, after }: ChangedText): (AuditEvent & { changes: AuditedChange[] }) | undefined {
  const changes = policyChanges(parseJson(before, file), parseJson(after, file));
  return changes.length === 0 ? undefined : { decision: "policy", config: file, changes };
}

function undone({ at, before, after }: AuditedChange): AuditedChange {
  return { at, ...(after === undefined ? {} : { before: after }), ...(before === undefined ? {} : { after: before }) };
}

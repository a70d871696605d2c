/** Records in the audit log what a change of a config file changes in its policy. */
import { thisProcess } from "../audit/decider.ts";
import type { AuditEvent, Decider } from "../audit/event.ts";
import { auditing } from "../audit/log.ts";
import type { Environment } from "../config/environment.ts";
import { auditFolder } from "../config/locations.ts";
import { pathText, policyKeys } from "../config/policy.ts";
import { ClaudikinsError, toClaudikinsError } from "../errors.ts";
import { type JsonObject, objectAt, valueAt } from "../json-object.ts";
import { parseJson } from "./edit/json.ts";

type Change = NonNullable<AuditEvent["changes"]>[number];

/** The differences in `allow`, `deny`, `confirm` and `disabled`, of `policy` and of all servers. */
export function policyChanges(before: JsonObject, after: JsonObject): Change[] {
  const names = new Set([before, after].flatMap((config) => Object.keys(objectAt(config, ["mcpServers"]))));
  const paths = [
    ...policyKeys.map((key) => ["policy", key]),
    ...[...names].flatMap((name) => [...policyKeys, "disabled"].map((key) => ["mcpServers", name, key])),
  ];
  return paths.flatMap((path) => {
    const [one, other] = [before, after].map((config) => JSON.stringify(valueAt(config, path)));
    if (one === other) return [];
    return [
      {
        at: pathText(path),
        ...(one === undefined ? {} : { before: one }),
        ...(other === undefined ? {} : { after: other }),
      },
    ];
  });
}

/** Call this after the file was written. Throws FILE_NOT_WRITABLE. */
export async function recordPolicyChange(
  { file, before, after }: { file: string; before: string; after: string },
  env: Environment,
  place: Decider["place"] = "command",
): Promise<void> {
  const changes = policyChanges(parseJson(before, file), parseJson(after, file));
  if (changes.length === 0) return;
  const event: AuditEvent = { decision: "policy", config: file, changes };
  try {
    await auditing(auditFolder(env), (write) => write(event, thisProcess(place)));
  } catch (thrown) {
    const { code, message, hint } = toClaudikinsError(thrown);
    throw new ClaudikinsError(code, `${file} was changed, but the change is not in the audit log: ${message}`, {
      hint,
    });
  }
}

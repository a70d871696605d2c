/** Digests of the parts of a config that need trust. A changed command, address, variable or rule changes a digest. */

import { isObject } from "../../base/json-object.ts";
import { sha256 } from "../../base/sha256.ts";
import type { ParsedConfig } from "../parse.ts";
import type { ServerEntry } from "../schema.ts";

export interface Marks {
  /** Digest of everything that does not belong to a server: policy, model, folders. */
  rules: string;
  /** Digests of the enabled servers, by name. */
  servers: Record<string, string>;
}

/** Keys that start nothing, leak nothing and allow nothing. All other keys need trust, including keys of later versions. */
const harmlessOfServer = [
  "disabled",
  // These say how to connect. The command or the address is part of the digest.
  "type",
  "transport",
  "category",
  "description",
  "startTimeoutMs",
  "callTimeoutMs",
  "idleTimeoutMs",
  "session",
  "keepAlive",
  "maxCallsInFlight",
  "quotas",
];
const harmlessOfConfig = [
  "$schema",
  "servers",
  // They are not used.
  "mistakes",
  // The user trusts these servers anyway. The question names them.
  "extends",
  "limits",
  "quotas",
  "executions",
  "check",
  "observe",
  "surfaceTokens",
  "surfaceLearns",
  "mode",
  "prefix",
  "directTokens",
  "stats",
  // It is kept for the calls of this config alone.
  "callLog",
  "hooks",
  "logs",
  "upgradeHint",
  // A call waits longer, or fails earlier. It is never allowed by this. `notify` in it counts, see `rulesOf`.
  "approvals",
  // They count in the user's own config only.
  "registries",
];

export function marksOf(config: ParsedConfig): Marks {
  const servers = enabledServers(config).map(([name, entry]) => [name, digestOf(thatCounts(entry))] as const);
  return { rules: digestOf(rulesOf(config)), servers: Object.fromEntries(servers) };
}

export function enabledServers({ servers }: ParsedConfig): [string, ServerEntry][] {
  return [...servers].filter(([, { disabled }]) => !disabled);
}

/** Returns an entry without its harmless keys. */
export function thatCounts(entry: ServerEntry): Record<string, unknown> {
  return without(entry, harmlessOfServer);
}

/** Returns the keys that need trust beside the servers, without values that have no effect. */
export function rulesOf(config: ParsedConfig): Record<string, unknown> {
  const { executeTask, askModel, record, ...rest } = without(config, harmlessOfConfig);
  return {
    ...rest,
    ...(executeTask === true ? { executeTask } : {}),
    ...(askModel ? { askModel } : {}),
    ...(record === "contents" ? { record } : {}),
    // It tells others that something waits.
    ...(config.approvals?.notify ? { notify: config.approvals.notify } : {}),
  };
}

/** Returns whether trust in `by` is also trust in `marks`: the rules are equal, and no server is new or different. */
export function isCovered(marks: Marks, by: Marks): boolean {
  const known = new Map(Object.entries(by.servers));
  return marks.rules === by.rules && Object.entries(marks.servers).every(([name, mark]) => known.get(name) === mark);
}

/**
 * Returns whether a config starts nothing and sets no rules. Such a config needs no trust, unless the user's own servers are used with it:
 * programs of the agent would then find the files of the project beside them.
 */
export function isHarmless(config: ParsedConfig, ownServers: readonly string[]): boolean {
  return (
    ownServers.length + config.mistakes.size + enabledServers(config).length === 0 &&
    Object.keys(rulesOf(config)).length === 0
  );
}

function without(value: object, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([key, each]) => !keys.includes(key) && each !== undefined));
}

/** Returns the same digest for the same JSON, whatever the order of its keys. */
export function digestOf(value: unknown): string {
  return sha256(JSON.stringify(sorted(value)) ?? "");
}

/** A copy with sorted keys. A replacer of `JSON.stringify` would take several times as long. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  if (typeof value["toJSON"] === "function") return sorted(value["toJSON"]());
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

/** Changes the settings of one tool in claudikins.json: whether it may be called, and when a person is asked. */

import { ClaudikinsError } from "../../base/errors.ts";
import { eventLoopTurn } from "../../base/event-loop.ts";
import { isObject } from "../../base/json-object.ts";
import {
  type ConfigFile,
  configAsText,
  noSuchServer,
  openConfigFile,
  type PortableEntry,
  type WhichConfig,
} from "../../config/config-file.ts";
import { parseJson, removeMembers, setMember } from "../../config/edit/json.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config } from "../../config/load.ts";
import type { ConfirmMode } from "../../config/policy.ts";
import { allowingLine, confirmationOf } from "../../policy/decision.ts";
import type { Decider } from "../../store/audit/event.ts";
import { toolId } from "../../tools/model.ts";
import { isTrustedFile, saveConfig, untrustedText } from "../trust/trust-config.ts";
import { type AuditedChange, type ChangedText, policyChanges } from "./policy-changes.ts";
import { checkOn, entryIn, type Switch, switchedOff, switchedOn } from "./switches.ts";

/** A tool of a server. With `access`, the tool may be a pattern. */
export type PolicyChange = Required<Switch> & ({ access: "allowed" | "denied" } | { confirm: WantedMode });

/** `default` removes the setting from the server's entry. */
type WantedMode = ConfirmMode | "default";

export interface PolicyChangeOptions {
  /** The user has confirmed the change, so the file need not be trusted. */
  isAnswered?: boolean;
  /** The place where the user decided, for the audit log. */
  place?: Decider["place"];
}

/** A change of a config file that can be shown before it is written. */
export interface PlannedChange extends ChangedText {
  /** The differences, as the audit log records them. */
  changes: AuditedChange[];
  /** Throws what writing the file throws. */
  save(): Promise<ChangedText>;
}

/** Like `changePolicies`, for one change. Returns whether the file had to be changed. */
export async function changePolicy(
  change: PolicyChange,
  which: WhichConfig,
  options: PolicyChangeOptions = {},
): Promise<boolean> {
  return (await changePolicies([change], which, options)) !== undefined;
}

/**
 * Writes all changes, or none. Returns undefined if the file need not be changed. Throws what `plannedPolicies` throws, and what writing the
 * file throws.
 */
export async function changePolicies(
  changes: readonly PolicyChange[],
  which: WhichConfig,
  options: PolicyChangeOptions = {},
): Promise<ChangedText | undefined> {
  const planned = await plannedPolicies(changes, which, options);
  await planned?.save();
  return planned;
}

/**
 * The changes as one, which keeps the file's formatting and its trust. Undefined if the file need not be changed. Throws POLICY_DENIED if
 * another line of the config has precedence. Throws CONFIG_NOT_TRUSTED, SERVER_NOT_FOUND, and what opening the file throws.
 */
export async function plannedPolicies(
  changes: readonly PolicyChange[],
  which: WhichConfig,
  { isAnswered = false, place }: PolicyChangeOptions = {},
): Promise<PlannedChange | undefined> {
  const configFile = openConfigFile(which);
  const { text, entries, file } = configFile;
  const { env } = which;
  await requireTrusted(configFile, env, isAnswered);
  const servers = new Set(changes.map(({ server }) => server));
  for (const server of servers) if (!entries.has(server)) throw noSuchServer(server, configFile);
  const before = await configAsText(configFile, text, env, (server) => servers.has(server));
  let edited = text;
  for (const change of changes) {
    edited = editedText(change, { ...configFile, text: edited }, before);
    // Each edit reads the whole file.
    if (changes.length > 1) await eventLoopTurn();
  }
  if (edited === text) return undefined;
  const after = await configAsText(configFile, edited, env);
  for (const change of changes) check(change, after);
  return {
    file,
    before: text,
    after: edited,
    changes: policyChanges(parseJson(text, file), parseJson(edited, file)),
    save: () => saveConfig(configFile, edited, env, { place }),
  };
}

/** Writes the text from before a change. Throws USAGE if the file has other text since, CONFIG_NOT_TRUSTED, and what writing the file throws. */
export async function undoChange(
  { file, before, after }: ChangedText,
  env: Environment,
  { isAnswered = false, place }: PolicyChangeOptions = {},
): Promise<void> {
  const configFile = openConfigFile({ flag: file, cwd: "/", env });
  await requireTrusted(configFile, env, isAnswered);
  if (configFile.text !== after) {
    throw new ClaudikinsError("USAGE", `${file} was changed since, so nothing was undone`, {
      hint: "Change it back by hand.",
    });
  }
  await saveConfig(configFile, before, env, { place });
}

/** Throws CONFIG_NOT_TRUSTED, unless the user vouches for the file. */
export async function requireTrusted(configFile: ConfigFile, env: Environment, isAnswered: boolean): Promise<void> {
  if (isAnswered || (await isTrustedFile(configFile, env))) return;
  throw new ClaudikinsError("CONFIG_NOT_TRUSTED", untrustedText(configFile));
}

function editedText(change: PolicyChange, configFile: ConfigFile, before: Config): string {
  const { file, text } = configFile;
  const entry = entryIn(parseJson(text, file), change.server);
  if ("access" in change) {
    return change.access === "denied"
      ? switchedOff(change, configFile, text, entry)
      : switchedOn(change, configFile, text, entry);
  }
  if (change.confirm === "default") return unconfirmed(change, configFile, entry);
  return modeOf(change, before) === change.confirm ? text : confirmed(change, configFile, entry);
}

/** The changed text, in which the server's `confirm` has the mode for the tool. */
function confirmed(
  { server, tool, confirm }: PolicyChange & { confirm: WantedMode },
  { file, text }: ConfigFile,
  entry: PortableEntry,
): string {
  const path = ["mcpServers", server, "confirm"];
  const { confirm: own } = entry;
  if (!isObject(own)) {
    const modes = typeof own === "string" ? { "*": own, [tool]: confirm } : { [tool]: confirm };
    return setMember(text, path, modes, file);
  }
  // The tool may be written with the server's name before it.
  const keys = [tool, toolId(server, tool)].filter((key) => Object.hasOwn(own, key));
  return (keys.length > 0 ? keys : [tool]).reduce(
    (edited, key) => setMember(edited, [...path, key], confirm, file),
    text,
  );
}

/** The changed text, in which the server's `confirm` does not mention the tool. */
function unconfirmed({ server, tool }: Required<Switch>, { file, text }: ConfigFile, entry: PortableEntry): string {
  const path = ["mcpServers", server];
  const { confirm: own } = entry;
  const isAll = typeof own === "string" && tool === "*";
  if (!isObject(own)) return isAll ? removeMembers(text, path, ["confirm"], file) : text;
  const keys = [tool, toolId(server, tool)].filter((key) => Object.hasOwn(own, key));
  if (keys.length === 0) return text;
  const isEmpty = keys.length === Object.keys(own).length;
  return isEmpty ? removeMembers(text, path, ["confirm"], file) : removeMembers(text, [...path, "confirm"], keys, file);
}

function check(change: PolicyChange, config: Config): void {
  const { server, tool } = change;
  if ("access" in change) {
    if (change.access === "allowed") checkOn(change, config);
    return;
  }
  if (change.confirm === "default" || modeOf(change, config) === change.confirm) return;
  const { policy } = config.servers.get(server) ?? {};
  const found = policy && confirmationOf(policy, tool);
  throw new ClaudikinsError(
    "POLICY_DENIED",
    `${toolId(server, tool)} keeps "${found?.mode ?? "never"}"${found ? ` by ${found.line}` : ""}`,
    { hint: policy && allowingLine(server, policy, tool) },
  );
}

function modeOf({ server, tool }: Switch & { tool: string }, config: Config): ConfirmMode {
  const { policy } = config.servers.get(server) ?? {};
  return (policy && confirmationOf(policy, tool)?.mode) ?? "never";
}

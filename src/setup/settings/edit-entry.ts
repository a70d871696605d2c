/** Changes the entry of a server in claudikins.json: the same for the command line and the page. */
import { dirname } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import { readIfThere } from "../../base/files.ts";
import { isObject, type JsonObject, withTexts } from "../../base/json-object.ts";
import { addressKeys } from "../../config/address.ts";
import { type ConfigFile, noSuchServer, type PortableEntry } from "../../config/config-file.ts";
import { parseJson, removeMembers, setItems, setMember } from "../../config/edit/json.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config } from "../../config/load.ts";
import { bundlesFolder } from "../../config/locations.ts";
import { pathText } from "../../config/policy.ts";
import { requireSecretName } from "../../config/secrets/change.ts";
import { referencesIn, referringParts } from "../../config/secrets/references.ts";
import { sourceKinds } from "../../config/sources.ts";
import type { Decider } from "../../store/audit/event.ts";
import type { ToolCatalog } from "../../tools/catalog/tool-catalog.ts";
import type { RegistryServer } from "../../tools/model.ts";
import type { CheckedEntry } from "./add-server.ts";
import { configToTry, tryAndSave } from "./add-servers.ts";
import { type EntrySecret, withEntrySecrets } from "./entry-secrets.ts";
import type { ChangedText } from "./policy-changes.ts";
import { entryIn } from "./switches.ts";

/** The keys of an entry that can be changed. Its rules have commands of their own. */
export const entryKeys: readonly string[] = [
  "command",
  "args",
  "env",
  "inherit",
  "cwd",
  "sandbox",
  ...addressKeys,
  "type",
  "headers",
  "headersHelper",
  ...sourceKinds,
  "baseUrl",
  "schema",
  "include",
  "exclude",
  "overlays",
  "auth",
  "oauth",
  "account",
  "category",
  "description",
  "startTimeoutMs",
  "callTimeoutMs",
  "idleTimeoutMs",
  "keepAlive",
  "maxCallsInFlight",
  "session",
  "definitions",
];

/** The keys whose members are changed one by one. */
const keysOfTexts: readonly string[] = ["env", "headers"];

/** A change of one member. Without a value, it is removed. */
export interface EntryChange {
  /** A key of the entry, or `env` or `headers` and a name. */
  at: readonly [key: string, name?: string];
  value?: unknown;
}

export interface PlannedEntry {
  server: string;
  configFile: ConfigFile;
  /** The file afterwards. */
  text: string;
  config: Config;
  entry: PortableEntry;
  /** The places of the entry that differ, such as `env.API_KEY`. */
  changed: string[];
}

/**
 * The change without an effect. Throws SERVER_NOT_FOUND, USAGE for a key that cannot be changed here, and CONFIG_INVALID if the entry would be
 * wrong.
 */
export async function plannedEntry(
  server: string,
  changes: readonly EntryChange[],
  configFile: ConfigFile,
  env: Environment,
): Promise<PlannedEntry> {
  const { file } = configFile;
  const before = configFile.entries.get(server);
  if (!before) throw noSuchServer(server, configFile);
  const { cwd } = before;
  if (typeof cwd === "string" && dirname(cwd) === bundlesFolder(env) && changes.some(({ at }) => at[0] === "cwd")) {
    throw new ClaudikinsError("USAGE", `${server} is a bundle, and its folder is the bundle's own`, {
      hint: `To replace it: claudikins add FILE.mcpb --as ${server} --force`,
    });
  }
  const text = changes.reduce((done, change) => changedText(done, server, change, file), configFile.text);
  const entry = entryIn(parseJson(text, file), server);
  return {
    server,
    configFile,
    text,
    config: await configToTry(text, [server], configFile, env),
    entry,
    changed: differences(before, entry),
  };
}

function changedText(text: string, server: string, { at: [key, name], value }: EntryChange, file: string): string {
  if (!entryKeys.includes(key) || (name !== undefined && !keysOfTexts.includes(key))) {
    throw new ClaudikinsError("USAGE", `"${key}" of an entry cannot be changed here`, {
      hint: `The keys are ${entryKeys.join(", ")}. For the others: claudikins config edit`,
    });
  }
  const path = ["mcpServers", server];
  const entry = entryIn(parseJson(text, file), server);
  if (value !== undefined) {
    const whole = name === undefined ? [...path, key] : [...path, key, name];
    const current = name === undefined ? entry[key] : Object(entry[key])[name];
    if (current !== undefined && Bun.deepEquals(current, value)) return text;
    const isList = Array.isArray(value) && value.every((each) => typeof each === "string");
    return isList ? setItems(text, whole, value, file) : setMember(text, whole, value, file);
  }
  if (name === undefined) return removeMembers(text, path, [key], file);
  const members = Object.keys(isObject(entry[key]) ? entry[key] : {});
  const isLast = members.length > 0 && members.every((each) => each === name);
  return isLast ? removeMembers(text, path, [key], file) : removeMembers(text, [...path, key], [name], file);
}

function differences(before: PortableEntry, after: PortableEntry): string[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => {
    const [one, other] = [before[key], after[key]];
    if (Bun.deepEquals(one, other)) return [];
    if (!keysOfTexts.includes(key)) return [pathText([key])];
    const members = [one, other].map((each): JsonObject => (isObject(each) ? each : {}));
    const names = [...new Set(members.flatMap((each) => Object.keys(each)))];
    return names.flatMap((name) => (members[0]?.[name] === members[1]?.[name] ? [] : [pathText([key, name])]));
  });
}

/**
 * The changes after which an entry refers to the secret: in the place of the variable of this name, or else in a new variable of its program.
 * Empty if it refers to the secret already. Throws USAGE if a server on the network refers to neither.
 */
export function referringTo(secret: string, entry: PortableEntry): EntryChange[] {
  requireSecretName(secret);
  const reference = `\${secret:${secret}}`;
  const changes = Object.entries(referringParts(entry)).flatMap(([key, value]): EntryChange[] => {
    const replaced = (each: unknown) => withTexts(each, (text) => text.replaceAll(`\${${secret}}`, () => reference));
    if (!keysOfTexts.includes(key) || !isObject(value)) {
      const after = replaced(value);
      return Bun.deepEquals(after, value) ? [] : [{ at: [key], value: after }];
    }
    return Object.entries(value).flatMap(([name, each]): EntryChange[] => {
      const after = replaced(each);
      return after === each ? [] : [{ at: [key, name], value: after }];
    });
  });
  if (changes.length > 0 || referencesIn(referringParts(entry)).has(reference)) return changes;
  if (typeof entry["command"] === "string") return [{ at: ["env", secret], value: reference }];
  throw new ClaudikinsError("USAGE", `Nothing in the entry refers to ${secret}`, {
    hint: `Refer to it in a header: --header 'Authorization: Bearer ${reference}'`,
  });
}

interface ChangeOptions {
  env: Environment;
  /** New secrets. They are set before the server is tried, and removed again if it fails. */
  secrets: readonly EntrySecret[];
  /** Whether the server is started before anything is written. */
  isChecked: boolean;
  signal: AbortSignal;
  place?: Decider["place"];
  /** Opens an app with the new config. */
  open(config: Config): Promise<AsyncDisposable & { catalog: ToolCatalog }>;
  onStart?: <T>(name: string, started: Promise<T>) => Promise<T>;
}

export interface ChangedEntry extends ChangedText {
  /** The result of the first start. Undefined if the server was not started. */
  checked: CheckedEntry | undefined;
  /** Its tools, if it was started. */
  listed: RegistryServer | undefined;
  /** What to know about the secrets that were set. */
  notes: string[];
}

/** Tries the changed server, and then writes the file. Throws what the start throws, and then neither the file nor a secret is changed. */
export async function changeEntry(
  { server, configFile, text, config, entry }: PlannedEntry,
  { env, secrets, isChecked, signal, place, open, onStart }: ChangeOptions,
): Promise<ChangedEntry> {
  // The file may be written, and the list of tools not.
  const isWritten = () => readIfThere(configFile.file) === text;
  const { done, notes } = await withEntrySecrets(secrets, { env, isWritten }, async () => {
    await using app = await open(config);
    const options = { catalog: app.catalog, env, isChecked, signal, place, ...(onStart ? { onStart } : {}) };
    const checked = await tryAndSave([{ name: server, entry, notes: [] }], { configFile, text }, options);
    const found = checked.get(server);
    return { checked: found, listed: found?.tools === undefined ? undefined : app.catalog.find(server) };
  });
  return { file: configFile.file, before: configFile.text, after: text, ...done, notes };
}

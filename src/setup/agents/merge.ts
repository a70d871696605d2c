/** Joins the servers of many agents into one list without duplicates, and finds the conflicts that a person has to settle. */

import { isObject } from "../../base/json-object.ts";
import { sha256 } from "../../base/sha256.ts";
import { networkTypeOf } from "../../config/address.ts";
import type { ConfigFile, PortableEntry } from "../../config/config-file.ts";
import type { FoundFile, FoundServer } from "./find-servers.ts";
import type { Supplied } from "./supported/model.ts";

/** Where an entry comes from: an agent, or the existing config. */
export interface EntryOrigin {
  host: string;
  file: string;
  folder?: string | undefined;
  /** The server as it was found; undefined for the existing config. */
  server?: FoundServer;
}

export interface MergedServer {
  name: string;
  entry: PortableEntry;
  from: EntryOrigin[];
  notes: string[];
  supplied: Supplied[];
  /** Whether the config has the server already. */
  isThere: boolean;
}

/** Different servers with the same name. */
export interface Conflict {
  name: string;
  choices: Omit<MergedServer, "name">[];
}

/** The servers for one config: the user's servers for the user's config, a project's for the project's config. */
export interface Inventory {
  servers: MergedServer[];
  conflicts: Conflict[];
  configFile: ConfigFile;
  files: FoundFile[];
  /** All server names in the files. */
  names: ReadonlySet<string>;
  /** Names that one server got, with the entries that stay in their files. */
  decided: { name: string; left: PortableEntry[] }[];
}

/** The `host` of servers that come from the existing config. They are the first choice. */
export const configOrigin = "claudikins";

/**
 * `file` is the config that has the `existing` servers, and `entryOf` makes the config entry of a found server. Results are in the order in
 * which the names were found.
 */
export function merge(
  found: readonly FoundServer[],
  existing: ReadonlyMap<string, PortableEntry>,
  file: string,
  entryOf: (server: FoundServer) => PortableEntry = ({ entry }) => entry,
): Pick<Inventory, "servers" | "conflicts"> {
  const byName = new Map<string, Conflict["choices"]>();
  for (const [name, entry] of existing) {
    byName.set(name, [{ entry, from: [{ host: configOrigin, file }], notes: [], supplied: [], isThere: true }]);
  }
  const wanted = new Set<string>();
  for (const server of found) {
    const { name, host, file, folder, notes, supplied } = server;
    const entry = entryOf(server);
    wanted.add(name);
    const choices = byName.get(name) ?? [];
    byName.set(name, choices);
    const origin = { host, file, folder, server };
    const same = choices.find((choice) => isSameServer(choice.entry, entry) || isFromBefore(choice, entry, supplied));
    if (!same) choices.push({ entry, from: [origin], notes, supplied, isThere: false });
    else {
      same.from.push(origin);
      // A server is disabled only if it is disabled everywhere. If one agent asked before calls, claudikins asks for all agents.
      if (!same.isThere && entry["confirm"] !== undefined) same.entry = { confirm: entry["confirm"], ...same.entry };
      if (!same.isThere && entry["disabled"] !== true) {
        const { disabled: _, ...rest } = same.entry;
        same.entry = rest;
      }
    }
  }
  const all = [...byName].filter(([name]) => wanted.has(name));
  return {
    servers: all.flatMap(([name, [only, ...others]]) => (only && others.length === 0 ? [{ name, ...only }] : [])),
    conflicts: all.flatMap(([name, choices]) => (choices.length > 1 ? [{ name, choices }] : [])),
  };
}

/** Whether both entries start or reach the same server with the same values. */
export function isSameServer(one: PortableEntry, other: PortableEntry): boolean {
  return Bun.deepEquals(essence(one), essence(other));
}

/** A digest that is equal for entries that start or reach the same server with the same values. It reveals nothing about the entry. */
export function entryDigest(entry: PortableEntry): string {
  return sha256(JSON.stringify(sorted(essence(entry))));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([key, member]) => [key, sorted(member)]));
}

/**
 * Whether the config has this entry from an earlier run, with values that the user entered for variables, and without secrets that were moved to
 * the user's.
 */
function isFromBefore(
  { entry: own, isThere }: Conflict["choices"][number],
  entry: PortableEntry,
  supplied: readonly Supplied[],
): boolean {
  const variables = supplied.map(({ variable }) => `\\$\\{${variable}\\}`).join("|");
  const filledIn = variables === "" ? undefined : new RegExp(variables);
  const isLike = (one: unknown, other: unknown): boolean => {
    if (typeof one === "string" && typeof other === "string") {
      return one === other || fits(other, one, movedSecret) || (filledIn !== undefined && fits(one, other, filledIn));
    }
    if (Array.isArray(one) && Array.isArray(other)) {
      return one.length === other.length && one.every((each, index) => isLike(each, other[index]));
    }
    if (!isObject(one) || !isObject(other)) return one === other;
    const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...keys].every((key) => isLike(one[key], other[key]));
  };
  return isThere && isLike(essence(own), essence(entry));
}

const movedSecret = /\$\{secret:\w+\}/;

/** Whether the text equals the pattern, with any text in the place of each reference. */
function fits(text: string, pattern: string, references: RegExp): boolean {
  const pieces = pattern.split(references);
  return pieces.length > 1 && new RegExp(`^${pieces.map((piece) => RegExp.escape(piece)).join("[^]*")}$`).test(text);
}

/** Keys that only a config of claudikins has. A person may have added them. They do not affect which server an entry starts or reaches. */
const besideThePoint = [
  "confirm",
  "account",
  "disabled",
  "description",
  "category",
  "startTimeoutMs",
  "callTimeoutMs",
  "idleTimeoutMs",
  "keepAlive",
  "session",
  "inherit",
  "confirm",
  "account",
  "maxCallsInFlight",
];

/** The part of the entry that decides how the server is started or reached. */
export function essence(entry: PortableEntry): PortableEntry {
  const { type, command, args = [], env = {}, headers = {}, url, serverUrl, httpUrl, ...rest } = entry;
  for (const key of besideThePoint) delete rest[key];
  if (command !== undefined && url === undefined) return { ...rest, command, args, env };
  // Without a type, Streamable HTTP is tried first anyway.
  const transport = networkTypeOf(type) ?? "auto";
  return { ...rest, headers, url: url ?? serverUrl ?? httpUrl, transport: transport === "http" ? "auto" : transport };
}

/** The record of a server: the definitions that were accepted, with their texts, and the held ones. Only the user's data folder has it. */
import { readIfThere, writeWhenChanged } from "../../base/files.ts";
import { isObject, type JsonObject, parsedJson } from "../../base/json-object.ts";
import { isNewer, writtenByNewer } from "../../base/newer.ts";
import { version as claudikins } from "../../base/version.ts";
import { type Label, labels } from "../../config/policy.ts";
import {
  type AcceptedDefinition,
  acceptedNow,
  type Definition,
  isFingerprint,
  type NamedDefinition,
} from "./definition.ts";

export interface ServerRecord {
  server: string;
  /** How the server was started or reached when its definitions were accepted. */
  entry: string;
  /** The server's own version then. */
  version?: string | undefined;
  /** The accepted definitions, by the own names of the tools, in the order in which they were accepted. */
  accepted: Map<string, AcceptedDefinition>;
  held: Map<string, HeldDefinition>;
  /** The server's entry and version when the held definitions were listed. */
  heldFrom?: { entry: string; version?: string | undefined } | undefined;
  /** The file was damaged, so the accepted definitions are lost. Every tool is held until a person accepts it. */
  isLost?: true | undefined;
}

export interface HeldDefinition extends NamedDefinition {
  /** Short sentences without their end. */
  why: string[];
  /** The vanished tool that a new one is nearly equal to. */
  former?: string | undefined;
}

/** Undefined if there is none: the server is then new. Throws VERSION_TOO_OLD and FILE_NOT_FOUND. */
export function readRecord(file: string): ServerRecord | undefined {
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  const value = parsedJson(text);
  if (isNewer(value, 1)) throw writtenByNewer("the accepted definitions");
  const { version, server, entry, serverVersion, accepted, held, heldFrom, isLost, labelledBy } = Object(
    value,
  ) as JsonObject;
  const known = listed(accepted, (each) => acceptedIn(each, labelledBy === claudikins));
  const waiting = listed(held, heldIn);
  const isWhole = version === 1 && typeof server === "string" && known && waiting;
  return {
    server: String(server),
    entry: String(entry),
    ...versionIn(serverVersion),
    accepted: known ?? new Map(),
    held: waiting ?? new Map(),
    ...(isObject(heldFrom)
      ? { heldFrom: { entry: String(heldFrom["entry"]), ...versionIn(heldFrom["version"]) } }
      : {}),
    ...(isLost === true || !isWhole ? { isLost: true } : {}),
  };
}

/** Throws FILE_NOT_WRITABLE. */
export function writeRecord(file: string, record: ServerRecord): void {
  const { server, entry, version, accepted, held, heldFrom, isLost } = record;
  const document = {
    version: 1,
    server,
    entry,
    serverVersion: version,
    accepted: [...accepted.values()],
    held: [...held.values()],
    ...(held.size > 0 ? { heldFrom } : {}),
    isLost,
    labelledBy: claudikins,
  };
  writeWhenChanged(file, `${JSON.stringify(document)}\n`, undefined, 0o600);
}

/** Undefined if the list or something in it is not valid. */
function listed<Named extends { name: string }>(
  list: unknown,
  read: (each: JsonObject) => Named | undefined,
): Map<string, Named> | undefined {
  if (!Array.isArray(list)) return undefined;
  const entries = list.map((each) => (isObject(each) ? read(each) : undefined));
  return entries.every((each) => each !== undefined) ? new Map(entries.map((each) => [each.name, each])) : undefined;
}

/** Another version of claudikins may have given other labels. These do not count as lost. */
function acceptedIn(each: JsonObject, areOwnLabels: boolean): AcceptedDefinition | undefined {
  const { name, fingerprint, definition, labels: stated } = each;
  const replaced = isFingerprint(each["replaced"]) ? { replaced: each["replaced"] } : {};
  if (typeof name !== "string" || !isFingerprint(fingerprint) || !Array.isArray(stated)) return undefined;
  if (!stated.every((one): one is Label => labels.includes(one))) return undefined;
  if (definition === undefined) return { name, fingerprint, labels: stated, ...replaced };
  if (!isDefinition(definition)) return undefined;
  return areOwnLabels
    ? { name, fingerprint, definition, labels: stated, ...replaced }
    : { ...acceptedNow({ name, fingerprint, definition }), ...replaced };
}

function heldIn({ name, fingerprint, definition, why, former }: JsonObject): HeldDefinition | undefined {
  if (typeof name !== "string" || !isFingerprint(fingerprint) || !isDefinition(definition)) return undefined;
  return {
    name,
    fingerprint,
    definition,
    why: Array.isArray(why) ? why.map(String) : [],
    ...(typeof former === "string" ? { former } : {}),
  };
}

function isDefinition(value: unknown): value is Definition {
  return isObject(value) && typeof value["description"] === "string" && isObject(value["inputSchema"]);
}

const versionIn = (version: unknown) => (typeof version === "string" ? { version } : {});

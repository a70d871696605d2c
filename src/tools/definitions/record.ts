/** The record of a server: the definitions that were accepted, with their texts, and those that are held. Only the user's data folder has it. */
import { readIfThere, writeWhenChanged } from "../../base/files.ts";
import { isObject, type JsonObject, parsedJson } from "../../base/json-object.ts";
import { isNewer, writtenByNewer } from "../../base/newer.ts";
import { type Definition, isFingerprint, type NamedDefinition } from "./definition.ts";

export interface ServerRecord {
  server: string;
  /** How the server was started or reached when its definitions were accepted. */
  entry: string;
  /** The server's own version then. */
  version?: string | undefined;
  /** The accepted definitions, by the own names of the tools. */
  accepted: Map<string, NamedDefinition>;
  held: Map<string, HeldDefinition>;
  /** What the server was when the held definitions were listed. */
  heldFrom?: { entry: string; version?: string | undefined } | undefined;
}

export interface HeldDefinition extends NamedDefinition {
  /** Short sentences without their end. */
  why: string[];
  /** The vanished tool that a new one nearly is. */
  former?: string | undefined;
}

/** Undefined if there is none, or if the file is damaged: the server is then new. Throws VERSION_TOO_OLD and FILE_NOT_FOUND. */
export function readRecord(file: string): ServerRecord | undefined {
  const text = readIfThere(file);
  const value = text === undefined ? undefined : parsedJson(text);
  if (isNewer(value, 1)) throw writtenByNewer("the accepted definitions");
  if (!isObject(value) || value["version"] !== 1 || typeof value["server"] !== "string") return undefined;
  const { server, entry, serverVersion, accepted, held, heldFrom } = value;
  return {
    server,
    entry: String(entry),
    ...versionIn(serverVersion),
    accepted: new Map(definitionsIn(accepted).map((each) => [each.name, each])),
    held: new Map(definitionsIn(held).map((each) => [each.name, { ...each, ...heldIn(each) }])),
    ...(isObject(heldFrom)
      ? { heldFrom: { entry: String(heldFrom["entry"]), ...versionIn(heldFrom["version"]) } }
      : {}),
  };
}

/** Throws FILE_NOT_WRITABLE. */
export function writeRecord(file: string, record: ServerRecord): void {
  const { server, entry, version, accepted, held, heldFrom } = record;
  const document = {
    version: 1,
    server,
    entry,
    serverVersion: version,
    accepted: sorted(accepted),
    held: sorted(held),
    ...(held.size > 0 ? { heldFrom } : {}),
  };
  writeWhenChanged(file, `${JSON.stringify(document)}\n`, undefined, 0o600);
}

function sorted<Named extends NamedDefinition>(definitions: ReadonlyMap<string, Named>): Named[] {
  return [...definitions.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function definitionsIn(list: unknown): (NamedDefinition & JsonObject)[] {
  return (Array.isArray(list) ? list : []).filter((each): each is NamedDefinition & JsonObject => {
    if (!isObject(each) || typeof each["name"] !== "string" || !isFingerprint(each["fingerprint"])) return false;
    const definition = each["definition"] as Partial<Definition> | undefined;
    return isObject(definition) && typeof definition.description === "string" && isObject(definition.inputSchema);
  });
}

function heldIn({ why, former }: JsonObject): Pick<HeldDefinition, "why" | "former"> {
  return {
    why: Array.isArray(why) ? why.map(String) : [],
    ...(typeof former === "string" ? { former } : {}),
  };
}

const versionIn = (version: unknown) => (typeof version === "string" ? { version } : {});

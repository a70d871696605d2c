/** Shows the held tools with their reasons, and accepts them. Their server is listed again when it is used next. */
import { stampOf } from "../../base/files.ts";
import { withLock } from "../../base/lock.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config } from "../../config/load.ts";
import { definitionsLock } from "../../config/locations.ts";
import { acceptedNow, type Definition } from "./definition.ts";
import { type LockFile, readLockFile, writeLockFile } from "./lock-file.ts";
import { type DefinitionsPlace, placeOf } from "./place.ts";
import { readRecord, type ServerRecord, writeRecord } from "./record.ts";
import { suspicionsOf } from "./suspicious.ts";

export interface ReviewedTool {
  server: string;
  /** The tool's own name. */
  tool: string;
  /** Short sentences without their end. */
  why: string[];
  /** The suspicious parts of the new definition, as ends of sentences. */
  suspicions: string[];
  /** The accepted definition. Undefined for a new tool, and if its text is not on this machine or no longer kept. */
  before: Definition | undefined;
  now: Definition;
  /** Whether it is the definition from before the last accepted change: the server may still run its earlier program. */
  isReplaced: boolean;
}

export interface ReviewedServer {
  server: string;
  /** Whether the server has another version or is started in another way than when its definitions were accepted. */
  isUpgrade: boolean;
  /** The server's own versions. */
  before: string | undefined;
  now: string | undefined;
  /** Sorted by name. */
  tools: ReviewedTool[];
}

export interface Surroundings {
  config: Config;
  env: Environment;
  cwd: string;
}

function placesOf({ config, env, cwd }: Surroundings): DefinitionsPlace[] {
  const person = config.person?.id;
  return [...config.servers.values()].flatMap((server) => placeOf(server, { env, cwd, person }) ?? []);
}

/** A text that changes with the records of the servers, and with which servers there are. */
export function recordsStamp(surroundings: Surroundings): string {
  return placesOf(surroundings)
    .map(({ server, record }) => `${server} ${record} ${stampOf(record)}`)
    .join("\n");
}

/** The servers with held tools, in the order of the config. Starts nothing. Throws VERSION_TOO_OLD. */
export function heldServers(surroundings: Surroundings): ReviewedServer[] {
  return placesOf(surroundings).flatMap((place) => {
    const record = readRecord(place.record);
    return record && record.held.size > 0 ? [reviewed(place.server, record)] : [];
  });
}

/** The accepted tools whose definitions seem to talk to the model, in the order of the config. Throws VERSION_TOO_OLD. */
export function suspiciousTools(surroundings: Surroundings): Pick<ReviewedTool, "server" | "tool" | "suspicions">[] {
  return placesOf(surroundings).flatMap(({ record: file, server }) =>
    [...(readRecord(file)?.accepted.values() ?? [])].flatMap(({ name: tool, definition }) => {
      const suspicions = definition ? suspicionsOf(definition) : [];
      return suspicions.length === 0 ? [] : [{ server, tool, suspicions }];
    }),
  );
}

function reviewed(server: string, { accepted, held, entry, version, heldFrom }: ServerRecord): ReviewedServer {
  return {
    server,
    isUpgrade: heldFrom !== undefined && (heldFrom.entry !== entry || heldFrom.version !== version),
    before: version,
    now: heldFrom?.version,
    tools: [...held.values()].map(({ name, fingerprint, definition, why, former }) => ({
      server,
      tool: name,
      why,
      suspicions: suspicionsOf(definition),
      before: (accepted.get(name) ?? accepted.get(former ?? ""))?.definition,
      now: definition,
      isReplaced: accepted.get(name)?.replaced === fingerprint,
    })),
  };
}

/** Accepts the held definitions of these tools as they were shown. Throws CONFIG_INVALID, VERSION_TOO_OLD and FILE_NOT_WRITABLE. */
export async function acceptTools(tools: readonly ReviewedTool[], surroundings: Surroundings): Promise<void> {
  const byServer = Map.groupBy(tools, ({ server }) => server);
  await withLock(definitionsLock(surroundings.env), "the accepted definitions", () => {
    for (const place of placesOf(surroundings)) {
      const chosen = byServer.get(place.server);
      if (chosen) accept(place, chosen);
    }
  });
}

function accept({ record: file, lockFile, server }: DefinitionsPlace, chosen: readonly ReviewedTool[]): void {
  const record = readRecord(file);
  if (!record) return;
  const lock = readLockFile(lockFile);
  const locked = lock?.get(server) ?? { tools: new Map<string, string>() };
  for (const { tool, now } of chosen) {
    const held = record.held.get(tool);
    // The server may have changed it once more since it was shown.
    if (!held || !Bun.deepEquals(held.definition, now)) continue;
    record.held.delete(tool);
    // A tool that was renamed stays known by its former name: it may come back.
    const replaced = record.accepted.get(tool)?.fingerprint;
    record.accepted.set(tool, { ...acceptedNow(held), ...(replaced === undefined ? {} : { replaced }) });
    locked.tools.set(tool, held.fingerprint);
  }
  if (record.held.size === 0) {
    Object.assign(record, record.heldFrom);
    record.isLost = undefined;
  }
  // A lock file that would be too large is refused. Nothing is accepted in that case.
  if (lock) writeLockFile(lockFile, lock.set(server, { ...locked, version: record.version }));
  writeRecord(file, record);
}

/** The lock files that the config's servers have or could have. */
export interface LockFilePlace {
  file: string;
  servers: string[];
}

/**
 * Writes the lock file beside the config from the accepted definitions, or adds the servers and tools that it lacks. Servers of another
 * config file are left alone. Throws CONFIG_INVALID, VERSION_TOO_OLD and FILE_NOT_WRITABLE.
 */
export async function makeLockFile(surroundings: Surroundings): Promise<LockFilePlace | undefined> {
  const { origin } = surroundings.config;
  if (origin.kind === "demo") return undefined;
  const own = [...surroundings.config.servers.values()].filter(
    ({ definitions }) => definitions?.config === origin.file,
  );
  const places = placesOf(surroundings).filter(({ server }) => own.some(({ name }) => name === server));
  const [first] = places;
  if (!first) return undefined;
  const { lockFile: file } = first;
  return withLock(definitionsLock(surroundings.env), "the accepted definitions", () => {
    const lock: LockFile = readLockFile(file) ?? new Map();
    for (const { record: path, server } of places) {
      const record = readRecord(path);
      if (record) lock.set(server, withAccepted(lock.get(server), record));
    }
    writeLockFile(file, lock);
    return { file, servers: places.map(({ server }) => server) };
  });
}

function withAccepted(
  locked: { version?: string | undefined; tools: Map<string, string> } | undefined,
  record: ServerRecord,
) {
  const accepted = [...record.accepted.values()].map(({ name, fingerprint }) => [name, fingerprint] as const);
  return { version: locked?.version ?? record.version, tools: new Map([...accepted, ...(locked?.tools ?? [])]) };
}

/** The places of a server's accepted definitions: its record in the user's data folder, and the lock file beside its config. */
import { dirname, join } from "node:path";
import { stampOf } from "../../base/files.ts";
import { sha256 } from "../../base/sha256.ts";
import { usesOwn } from "../../config/credentials.ts";
import type { Environment } from "../../config/environment.ts";
import type { ServerConfig } from "../../config/load.ts";
import { definitionsFolder, definitionsLockName, homeOf } from "../../config/locations.ts";
import { configOwner } from "../../servers/logs/place.ts";
import type { MaskedFolders } from "./definition.ts";

export interface DefinitionsPlace {
  server: string;
  /** The record of the server's definitions. */
  record: string;
  /** The lock file beside the config. It counts if it exists. */
  lockFile: string;
  /** A digest of how the server is started or reached. */
  entry: string;
  folders: MaskedFolders;
}

interface Surroundings {
  env: Environment;
  cwd: string;
  /** The person that the server is connected for. */
  person?: string | undefined;
}

/** Undefined if the definitions of the server are not locked: it is part of claudikins, or the config trusts it. */
export function placeOf(server: ServerConfig, { env, cwd, person }: Surroundings): DefinitionsPlace | undefined {
  const { name, definitions } = server;
  if (!definitions || definitions.mode === "trust") return undefined;
  const file = definitions.config;
  const owner = configOwner({ kind: "project", file });
  // Another person may have other tools, and must not learn of these.
  const key = [owner, name, ...(person !== undefined && usesOwn(server) ? [person] : [])];
  const readable = name
    .toLowerCase()
    .replace(/[^a-z\d]+/g, "-")
    .slice(0, 40);
  const record = join(
    definitionsFolder(env),
    `${readable || "server"}-${sha256(JSON.stringify(key)).slice(0, 16)}.json`,
  );
  const way = server.url === undefined ? [server.command, server.args] : [server.transport, server.url];
  return {
    server: name,
    record,
    lockFile: join(dirname(file), definitionsLockName),
    entry: sha256(JSON.stringify(way)).slice(0, 16),
    folders: { home: homeOf(env), cwd: (server.url === undefined ? server.cwd : undefined) ?? cwd },
  };
}

/** A text that changes when a definition of the server is accepted. */
export function acceptedMark({ record, lockFile }: DefinitionsPlace): string {
  return sha256(`${stampOf(record)} ${stampOf(lockFile)}`).slice(0, 16);
}

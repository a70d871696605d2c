/** Stores sign-ins in one file for all processes of a user. The file is replaced as a whole, and only the user can read it. */

import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { OAuthMetadata } from "@modelcontextprotocol/client";
import { ClaudikinsError, systemCodeOf } from "../../base/errors.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { withLock } from "../../base/lock.ts";
import { isNewer, writtenByNewer } from "../../base/newer.ts";
import type { NetworkServer } from "../../config/load.ts";
import { renewalMarginMs } from "../limits.ts";

/** The guarded thing, as errors name it. */
const guarded = "the credentials";

/** Times are milliseconds since 1970. */
export interface Tokens {
  access: string;
  refresh?: string | undefined;
  scopes: string[];
  /** When the user signed in. */
  since: number;
  /** When these tokens were issued. */
  obtainedAt: number;
  expiresAt?: number | undefined;
}

/** The client at an authorization server. For a client of the config, only the id is stored. */
export interface StoredClient {
  origin: "config" | "document" | "registered";
  client_id: string;
  client_secret?: string | undefined;
  token_endpoint_auth_method?: string | undefined;
  /** Seconds since 1970; 0 is never. */
  client_secret_expires_at?: number | undefined;
}

/** The part of an authorization server's metadata that is needed later. */
export const storedMetadataKeys = [
  "issuer",
  "authorization_endpoint",
  "token_endpoint",
  "response_types_supported",
  "token_endpoint_auth_methods_supported",
  "revocation_endpoint",
] as const;

export type StoredMetadata = Pick<OAuthMetadata, (typeof storedMetadataKeys)[number]>;

export interface SignInRecord {
  /** The name of the server. */
  server: string;
  /** The authorization server of the client and the tokens. */
  issuer?: string | undefined;
  metadata?: StoredMetadata | undefined;
  /** The resource for which the tokens were issued, as the server names itself. */
  resource?: string | undefined;
  client?: StoredClient | undefined;
  redirectUrl?: string | undefined;
  tokens?: Tokens | undefined;
  /** Scopes that the server has asked for since the sign-in. */
  wantedScopes?: string[] | undefined;
}

interface Contents {
  version: 1;
  servers: Record<string, SignInRecord>;
}

export class CredentialStore {
  readonly #file: string;
  readonly #warn: (message: string) => void;
  #isWarned = false;

  /** `warn` is called if the file is damaged. */
  constructor(file: string, warn: (message: string) => void = () => {}) {
    this.#file = file;
    this.#warn = warn;
  }

  /** The stored sign-in. Undefined if there is none. Throws VERSION_TOO_OLD. */
  read(server: NetworkServer): SignInRecord | undefined {
    const record = ownRecord(this.#contents() ?? nothing(), server);
    return record && isOfConfig(record, server) ? record : undefined;
  }

  /** Changes the stored sign-in of one server, based on the current file. Throws FILE_NOT_WRITABLE, VERSION_TOO_OLD. */
  async update(
    server: NetworkServer,
    change: (record: SignInRecord | undefined) => SignInRecord | undefined,
  ): Promise<void> {
    await withLock(this.#lockFile("file"), guarded, () => {
      const contents = this.#contents() ?? this.#keptAside();
      const key = keyOf(server);
      const before = ownRecord(contents, server);
      const after = change(before && isOfConfig(before, server) ? before : undefined);
      const { [key]: _, ...servers } = contents.servers;
      if (after) servers[key] = after;
      else if (before === undefined) return;
      this.#write({ version: 1, servers });
    });
  }

  /** Runs the work with the lock, so that no other process requests or revokes tokens of this server. */
  async alone<T>(server: NetworkServer, work: () => Promise<T>): Promise<T> {
    return withLock(this.#lockFile(hash(keyOf(server))), guarded, work);
  }

  #lockFile(name: string): string {
    return join(dirname(this.#file), "credentials.locks", name);
  }

  /** Undefined if the file is damaged. */
  #contents(): Contents | undefined {
    if (!existsSync(this.#file)) return nothing();
    const text = this.#text();
    const contents = parsed(text);
    if (!contents && isNewer(parsedJson(text), 1)) throw writtenByNewer("the sign-ins");
    if (!contents && !this.#isWarned) this.#warn(`${this.#file} is damaged: all servers count as signed out`);
    this.#isWarned = contents === undefined;
    return contents;
  }

  #text(): string {
    try {
      return readFileSync(this.#file, "utf8");
    } catch {
      return "";
    }
  }

  /** Keeps a damaged file under another name, and begins a new one. */
  #keptAside(): Contents {
    const aside = `${this.#file}.damaged`;
    this.#tried(() => renameSync(this.#file, aside));
    this.#warn(`Kept the damaged file as ${aside}`);
    return nothing();
  }

  #write(contents: Contents): void {
    const folder = dirname(this.#file);
    const temporary = `${this.#file}.${process.pid}.tmp`;
    this.#tried(() => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      chmodSync(folder, 0o700);
      // A process that was killed may have left its temporary file; this process has the lock, so no other one writes.
      rmSync(temporary, { force: true });
      const text = `${JSON.stringify(contents, null, 2)}\n`;
      writeFileSync(temporary, text, { mode: 0o600, flag: "wx", flush: true });
      renameSync(temporary, this.#file);
    }, temporary);
  }

  #tried(work: () => void, temporary?: string): void {
    try {
      work();
    } catch (error) {
      if (temporary !== undefined) rmSync(temporary, { force: true });
      // The message has no path, and no cause with a path, because code in the sandbox may read it.
      const why = systemCodeOf(error) ?? "unknown error";
      throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot write the credentials file: ${why}`, {
        hint: "Check that claudikins can write to its data folder and that the disk is not full.",
      });
    }
  }
}

const nothing = (): Contents => ({ version: 1, servers: Object.create(null) });

/** A URL's query may contain secrets, so the file contains only a hash. */
function keyOf({ name, url }: NetworkServer): string {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address) address.username = address.password = address.hash = "";
  return `${name} ${hash(address?.href ?? url)}`;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

function parsed(text: string): Contents | undefined {
  const value = parsedJson(text) as Contents | undefined;
  return value?.version === 1 && isObject(value.servers) ? value : undefined;
}

/** A record of unexpected form counts as missing. */
function ownRecord(contents: Contents, server: NetworkServer): SignInRecord | undefined {
  const key = keyOf(server);
  const record = Object.hasOwn(contents.servers, key) ? contents.servers[key] : undefined;
  if (typeof record !== "object" || record === null) return undefined;
  const { tokens, client } = record;
  const isSound =
    (tokens === undefined || (typeof tokens.access === "string" && Array.isArray(tokens.scopes))) &&
    (client === undefined || typeof client.client_id === "string");
  return isSound ? record : undefined;
}

/** Tokens of another client than the config's do not belong to this entry. */
function isOfConfig({ client }: SignInRecord, { oauth }: NetworkServer): boolean {
  const clientId = oauth === false ? undefined : oauth?.clientId;
  if (client === undefined) return true;
  return clientId === undefined ? client.origin !== "config" : client.client_id === clientId;
}

/** Whether the client gets its tokens without a person. */
export function needsNobody({ oauth }: NetworkServer): boolean {
  return typeof oauth === "object" && oauth.grant === "client_credentials";
}

/** Whether tokens are too old to be sent. Tokens that cannot be renewed are sent until they expire. */
export function isExpired({ expiresAt, obtainedAt, refresh }: Tokens, now = Date.now()): boolean {
  if (expiresAt === undefined) return false;
  const margin = refresh === undefined ? 0 : Math.min(renewalMarginMs, (expiresAt - obtainedAt) / 10);
  return now >= expiresAt - margin;
}

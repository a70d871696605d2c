/** Stores sign-ins in one file for all processes of a user. The file is replaced as a whole, and only the user can read it. */

import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { NetworkServer } from "../../config/load.ts";
import { ClaudikinsError, systemCodeOf } from "../../errors.ts";
import { isObject, parsedJson } from "../../json-object.ts";
import { withLock } from "../../lock.ts";

/** The guarded thing, as errors name it. */
const guarded = "the credentials";

/** Times are milliseconds since 1970. */
export interface Tokens {
  access: string;
  refresh?: string | undefined;
  scopes: string[];
  /** When somebody signed in. */
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
export interface StoredMetadata {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  response_types_supported: string[];
  token_endpoint_auth_methods_supported?: string[] | undefined;
  revocation_endpoint?: string | undefined;
}

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
  #read: { stamp: string; contents: Contents | undefined } | undefined;

  /** `warn` is called if the file is damaged. */
  constructor(file: string, warn: (message: string) => void = () => {}) {
    this.#file = file;
    this.#warn = warn;
  }

  /** The stored sign-in, read again if the file has changed. Undefined if there is none. */
  read(server: NetworkServer): SignInRecord | undefined {
    const record = ownRecord(this.#contents() ?? nothing(), server);
    return record && isOfConfig(record, server) ? record : undefined;
  }

  /** Changes the stored sign-in of one server, based on the current file. Throws FILE_NOT_WRITABLE. */
  async update(
    server: NetworkServer,
    change: (record: SignInRecord | undefined) => SignInRecord | undefined,
  ): Promise<void> {
    await withLock(this.#lockFile("file"), guarded, () => {
      this.#read = undefined;
      const contents = this.#contents() ?? this.#keptAside();
      const key = keyOf(server);
      const before = ownRecord(contents, server);
      const after = change(before && isOfConfig(before, server) ? before : undefined);
      const { [key]: _, ...servers } = contents.servers;
      if (after) servers[key] = after;
      else if (before === undefined) return;
      this.#write({ version: 1, servers });
      this.#read = undefined;
    });
  }

  /** While the lock is held, no other process requests or revokes tokens of this server. */
  async alone<T>(server: NetworkServer, work: () => Promise<T>): Promise<T> {
    return withLock(this.#lockFile(hash(keyOf(server))), guarded, work);
  }

  #lockFile(name: string): string {
    return join(dirname(this.#file), "credentials.locks", name);
  }

  /** Undefined if the file is damaged. */
  #contents(): Contents | undefined {
    const stamp = this.#stamp();
    if (stamp === undefined) return nothing();
    if (this.#read?.stamp !== stamp) {
      const contents = parsed(this.#text());
      if (!contents) this.#warn(`${this.#file} is damaged: all servers count as signed out`);
      this.#read = { stamp, contents };
    }
    return this.#read.contents;
  }

  /** Differs for each version of the file. Undefined if there is no file. */
  #stamp(): string | undefined {
    try {
      const { ino, mtimeNs, size } = statSync(this.#file, { bigint: true });
      return `${ino} ${mtimeNs} ${size}`;
    } catch {
      return undefined;
    }
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
      // A process that was killed may have left its temporary file; nobody else writes while the lock is held.
      rmSync(temporary, { force: true });
      const descriptor = openSync(temporary, "wx", 0o600);
      try {
        writeFileSync(descriptor, `${JSON.stringify(contents, null, 2)}\n`);
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
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

/** Tokens are renewed this long before they expire, because a request takes time, and clocks differ. */
const renewalMarginMs = 60_000;

/** Whether tokens are too old to be sent. Tokens that cannot be renewed are sent until they expire. */
export function isExpired({ expiresAt, obtainedAt, refresh }: Tokens, now = Date.now()): boolean {
  if (expiresAt === undefined) return false;
  const margin = refresh === undefined ? 0 : Math.min(renewalMarginMs, (expiresAt - obtainedAt) / 10);
  return now >= expiresAt - margin;
}

/** What is kept of sign-ins: one file for all processes of a user, written whole, and readable for nobody else. */

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

/** What a lock that does not become free is said to guard. */
const guarded = "the credentials";

/** Times are milliseconds since 1970. */
export interface Tokens {
  access: string;
  refresh?: string | undefined;
  scopes: string[];
  /** When somebody signed in. */
  since: number;
  /** When these were issued. */
  obtainedAt: number;
  expiresAt?: number | undefined;
}

/** Who we are to an authorization server. Of a client in the config only the id is kept. */
export interface StoredClient {
  origin: "config" | "document" | "registered";
  client_id: string;
  client_secret?: string | undefined;
  token_endpoint_auth_method?: string | undefined;
  /** Seconds since 1970; 0 is never. */
  client_secret_expires_at?: number | undefined;
}

/** What of an authorization server's own description is needed later. */
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
  /** The authorization server that the client and the tokens belong to. */
  issuer?: string | undefined;
  metadata?: StoredMetadata | undefined;
  /** What the tokens are for, as the server calls itself. */
  resource?: string | undefined;
  client?: StoredClient | undefined;
  redirectUrl?: string | undefined;
  tokens?: Tokens | undefined;
  /** What the server has asked for since. */
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

  /** `warn` is told of a damaged file. */
  constructor(file: string, warn: (message: string) => void = () => {}) {
    this.#file = file;
    this.#warn = warn;
  }

  /** Looks at the file each time, and reads it when it has changed. Undefined when nothing is known of the server. */
  read(server: NetworkServer): SignInRecord | undefined {
    const record = ownRecord(this.#contents() ?? nothing(), server);
    return record && isOfConfig(record, server) ? record : undefined;
  }

  /** Changes what is kept of one server, with what is in the file at that moment. Throws FILE_NOT_WRITABLE. */
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

  /** While it is held nobody else asks for tokens of this server, or gives them up. */
  async alone<T>(server: NetworkServer, work: () => Promise<T>): Promise<T> {
    return withLock(this.#lockFile(hash(keyOf(server))), guarded, work);
  }

  #lockFile(name: string): string {
    return join(dirname(this.#file), "credentials.locks", name);
  }

  /** Undefined where what is there cannot be read. */
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

  /** What changes with each version of the file; undefined where there is none. */
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

  /** Somebody may still make sense of it; we begin anew. */
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
      // What a process left that was killed while it wrote: the lock is ours.
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
      // Without the path, and without a cause that has it: it may be read by code that runs in the sandbox.
      const why = systemCodeOf(error) ?? "unknown error";
      throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot write the credentials file: ${why}`, {
        hint: "Check that claudikins can write to its data folder and that the disk is not full.",
      });
    }
  }
}

const nothing = (): Contents => ({ version: 1, servers: Object.create(null) });

/** The address may hold secrets in its query: only a hash of it stands in the file. */
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

/** One that somebody has edited into something else counts as none. */
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

/** Tokens of another client than that of the config are none of this entry's. */
function isOfConfig({ client }: SignInRecord, { oauth }: NetworkServer): boolean {
  const clientId = oauth === false ? undefined : oauth?.clientId;
  if (client === undefined) return true;
  return clientId === undefined ? client.origin !== "config" : client.client_id === clientId;
}

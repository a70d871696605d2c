/**
 * Stores sign-ins in one file for all processes of a user, or in one file for each person who has signed in. Records are sealed: with the keys of
 * the config for people, and with a key of the system's keychain for the user, if there is a keychain. The file is replaced as a whole, and only
 * the user can read it.
 */

import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { OAuthMetadata } from "@modelcontextprotocol/client";
import { ClaudikinsError, systemCodeOf } from "../../base/errors.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { withLock } from "../../base/lock.ts";
import { isNewer, writtenByNewer } from "../../base/newer.ts";
import { type SubjectToken, subjectOf } from "../../config/credentials.ts";
import type { NetworkServer, ServerConfig } from "../../config/load.ts";
import { renewalMarginMs } from "../limits.ts";
import type { KeychainSeal } from "./keychain-seal.ts";
import type { Seal } from "./seal.ts";

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
  /** What the tokens were exchanged for, if they were: the mark of the entry. */
  exchanged?: string | undefined;
  /** What a person has entered for `${user:NAME}` in the entry, by name. */
  keys?: Record<string, string> | undefined;
}

/** The text is a record as JSON. */
interface SealedRecord {
  sealed: string;
}

interface Contents {
  version: 1;
  servers: Record<string, SignInRecord | SealedRecord>;
}

/** The person whose credentials are in a file, each sealed. */
export interface CredentialOwner {
  /** For messages. */
  name: string;
  seal: Seal;
  /** The newest token of the person from the provider of the config. Undefined while there is none that is valid. */
  tokenOf(subject: SubjectToken): string | undefined;
  /** The page where the person signs in to a server. Undefined if this process has no such pages. */
  pageFor(server: string): string | undefined;
}

export class CredentialStore {
  readonly #file: string;
  readonly #warn: (message: string) => void;
  #isWarned = false;
  /** Given if the credentials belong to one person. */
  readonly owner: CredentialOwner | undefined;
  /** Given for the user's own sign-ins, if they may be sealed. */
  readonly #keychain: KeychainSeal | undefined;
  /** The records that are being sealed with the newest key. */
  readonly #resealing = new Set<string>();
  #preparing: Promise<void> | undefined;
  #isWarnedOfKey = false;

  /** `warn` is called if the file is damaged, or if the key of its records cannot be read. */
  constructor(
    file: string,
    warn: (message: string) => void = () => {},
    { owner, keychain }: { owner?: CredentialOwner | undefined; keychain?: KeychainSeal | undefined } = {},
  ) {
    this.#file = file;
    this.#warn = warn;
    this.owner = owner;
    this.#keychain = keychain;
  }

  /** Reads the key of sealed records. Call it before `read`. Throws VERSION_TOO_OLD. */
  async ready(): Promise<void> {
    this.#preparing ??= this.#prepare();
    await this.#preparing;
  }

  async #prepare(): Promise<void> {
    if (!this.#keychain || !this.#records().some(isSealed) || (await this.#keychain.read())) return;
    if (!this.#isWarnedOfKey) {
      this.#warn(`The sign-ins are sealed, and the keychain ${this.#keychain.why}: all servers count as signed out`);
    }
    this.#isWarnedOfKey = true;
  }

  /** Whether records are sealed with a key that cannot be read. */
  get isLocked(): boolean {
    return this.#keychain?.seal === undefined && this.#keychain?.why !== undefined && this.#records().some(isSealed);
  }

  /** Seals the sign-ins of earlier versions, if there is a keychain. Otherwise they stay as they are. */
  async takeOver(): Promise<void> {
    if (!this.#keychain || this.#records().every(isSealed)) return;
    await withLock(this.#lockFile("file"), guarded, async () => {
      const contents = this.#contents();
      if (contents && (await this.#keychain?.readOrMake())) this.#write(contents);
    });
  }

  #records(): (SignInRecord | SealedRecord)[] {
    return Object.values((this.#contents() ?? nothing()).servers);
  }

  /** The stored sign-in. Undefined if there is none. Throws VERSION_TOO_OLD. */
  read(server: ServerConfig): SignInRecord | undefined {
    const record = this.#recordIn(this.#contents() ?? nothing(), server);
    return record && isOfConfig(record, server) ? record : undefined;
  }

  /** A record of unexpected form counts as missing, as does one that none of the keys opens. */
  #recordIn({ servers }: Contents, server: ServerConfig): SignInRecord | undefined {
    const key = keyOf(server);
    const kept = Object.hasOwn(servers, key) ? servers[key] : undefined;
    if (!isObject(kept)) return undefined;
    if (!("sealed" in kept)) return this.owner ? undefined : soundRecord(kept);
    const seal = this.#seal;
    // Another process has sealed it since. The next read can open it.
    if (!seal) this.#preparing = undefined;
    if (!seal) void this.ready().catch(() => {});
    const opened = seal?.open(String(kept.sealed), key);
    if (opened?.isOld) this.#reseal(server, key);
    return opened && soundRecord(parsedJson(opened.text));
  }

  get #seal(): Seal | undefined {
    return this.owner?.seal ?? this.#keychain?.seal;
  }

  /** Changes when the tokens change. It says nothing about them. */
  markOf(server: ServerConfig): string | undefined {
    const access = this.read(server)?.tokens?.access;
    if (access !== undefined) return hash(access);
    const kept = this.#contents()?.servers[keyOf(server)];
    return kept && "sealed" in kept && !this.#seal ? hash(kept.sealed) : undefined;
  }

  /** The token of the person that an exchange for the server starts from. Undefined if the person has none now, or without an exchange. */
  subjectToken({ url, exchange }: ServerConfig): string | undefined {
    return url === undefined || !exchange ? undefined : this.owner?.tokenOf(subjectOf(exchange));
  }

  #reseal(server: ServerConfig, key: string): void {
    if (this.#resealing.has(key)) return;
    this.#resealing.add(key);
    const resealing = this.update(server, (record) => record);
    void resealing.catch(() => {}).finally(() => this.#resealing.delete(key));
  }

  /** Changes the stored sign-in of one server, based on the current file. Throws FILE_NOT_WRITABLE, VERSION_TOO_OLD. */
  async update(
    server: ServerConfig,
    change: (record: SignInRecord | undefined) => SignInRecord | undefined,
  ): Promise<void> {
    await withLock(this.#lockFile("file"), guarded, async () => {
      await this.#keychain?.readOrMake();
      const contents = this.#contents() ?? this.#keptAside();
      const key = keyOf(server);
      const before = this.#recordIn(contents, server);
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

  /** Records that are sealed stay as they are. */
  #kept(record: SignInRecord | SealedRecord, key: string): SignInRecord | SealedRecord {
    const seal = this.#seal;
    return seal && !("sealed" in record) ? { sealed: seal.seal(JSON.stringify(record), key) } : record;
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

  #write({ version, servers }: Contents): void {
    const kept = Object.entries(servers).map(([key, record]) => [key, this.#kept(record, key)]);
    const contents = { version, servers: Object.fromEntries(kept) };
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

const isSealed = (record: unknown) => isObject(record) && "sealed" in record;

const nothing = (): Contents => ({ version: 1, servers: Object.create(null) });

/** A URL's query and arguments may contain secrets, so the file contains only a hash. */
function keyOf(server: ServerConfig): string {
  const { name, url } = server;
  if (server.written) return keyOf(server.written);
  if (url === undefined) return `${name} ${hash(JSON.stringify([server.command, server.args]))}`;
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

/** Undefined for a record of unexpected form. */
function soundRecord(value: unknown): SignInRecord | undefined {
  if (!isObject(value)) return undefined;
  const record = value as unknown as SignInRecord;
  const { tokens, client } = record;
  const isSound =
    (tokens === undefined || (typeof tokens.access === "string" && Array.isArray(tokens.scopes))) &&
    (client === undefined || typeof client.client_id === "string");
  return isSound ? record : undefined;
}

/** Tokens of another client than the config's, or that were exchanged for something else, do not belong to this entry. */
function isOfConfig({ client, exchanged }: SignInRecord, server: ServerConfig): boolean {
  if (server.url === undefined) return true;
  const { oauth } = server;
  if (exchanged !== exchangeMark(server)) return false;
  const clientId = oauth === false ? undefined : oauth?.clientId;
  if (client === undefined) return true;
  return clientId === undefined ? client.origin !== "config" : client.client_id === clientId;
}

/** What a token is exchanged for. A token for something else does not belong to the entry. Undefined without an exchange. */
export function exchangeMark({ exchange, oauth }: Pick<NetworkServer, "exchange" | "oauth">): string | undefined {
  if (!exchange) return undefined;
  const { kind = "token", tokenUrl, audience = null, resource = null, scopes = [], clientId } = exchange;
  const { clientId: own, clientMetadataUrl: document } = oauth || {};
  const client = own ?? document ?? null;
  return JSON.stringify([kind, subjectOf(exchange), tokenUrl, audience, resource, scopes, clientId, client]);
}

/** Whether the client gets its tokens without asking a person. */
export function needsNobody({ oauth, exchange }: NetworkServer): boolean {
  return exchange !== undefined || (typeof oauth === "object" && oauth.grant === "client_credentials");
}

/** Whether tokens are too old to be sent. Tokens that cannot be renewed are sent until they expire. */
export function isExpired({ expiresAt, obtainedAt, refresh }: Tokens, now = Date.now()): boolean {
  if (expiresAt === undefined) return false;
  const margin = refresh === undefined ? 0 : Math.min(renewalMarginMs, (expiresAt - obtainedAt) / 10);
  return now >= expiresAt - margin;
}

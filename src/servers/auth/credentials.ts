/**
 * Stores sign-ins in one document for all processes of a user, or of a team, or in one document for each person who has signed in. Records are
 * sealed: with the keys of the config for people and in the database of a team, and with a key of the system's keychain for the user, if there is a
 * keychain. The document is replaced as a whole, and only the user can read its file.
 */

import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import type { OAuthMetadata } from "@modelcontextprotocol/client";
import { type DocumentChanges, type DocumentLock, type Documents, fileDocuments } from "../../base/documents.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { isNewer, writtenByNewer } from "../../base/newer.ts";
import type { Seal } from "../../base/seal.ts";
import { type SubjectToken, subjectOf } from "../../config/credentials.ts";
import type { NetworkServer, ServerConfig } from "../../config/load.ts";

/** The guarded thing, as errors name it. */
const guarded = "the credentials";

/** Tokens are renewed this long before they expire, because a request takes time, and clocks differ. */
const renewalMarginMs = 60_000;

/** Times are milliseconds since 1970. */
export interface Tokens {
  access: string;
  refresh?: string | undefined;
  scopes: string[];
  /** The scopes that the sign-in asked for. A refresh asks for the same: some authorization servers answer without them with a token for something else. */
  asked?: string[] | undefined;
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

/** Finds the key that seals the sign-ins of the user, or of the team. */
export interface SignInSeal {
  /** Undefined until the key was read or made. */
  readonly seal: Seal | undefined;
  /** Why there was no key last, as the end of "The sign-ins are sealed, and …". */
  readonly why: string | undefined;
  /** Reads the key. Undefined if there is none. */
  read(): Promise<Seal | undefined>;
  /** Reads the key, or makes one. Call it with the lock of the document. Undefined if sign-ins may be stored without a seal; throws if not. */
  readOrMake(): Promise<Seal | undefined>;
}

interface CredentialStoreOptions {
  /** Given for the credentials of one person. */
  owner?: CredentialOwner | undefined;
  /** Given for other sign-ins, if they may be sealed. */
  signInSeal?: SignInSeal | undefined;
  /** Default: files. */
  documents?: Documents | undefined;
}

export class CredentialStore {
  readonly #file: string;
  readonly #documents: Documents;
  readonly #warn: (message: string) => void;
  #isWarned = false;
  /** Given if the credentials belong to one person. */
  readonly owner: CredentialOwner | undefined;
  readonly #signInSeal: SignInSeal | undefined;
  /** The records that are being sealed with the newest key. */
  readonly #resealing = new Set<string>();
  #preparing: Promise<void> | undefined;
  #isWarnedOfKey = false;

  /** `warn` is called if the file is damaged, or if the key of its records cannot be read. */
  constructor(
    file: string,
    warn: (message: string) => void = () => {},
    { owner, signInSeal, documents = fileDocuments }: CredentialStoreOptions = {},
  ) {
    this.#file = file;
    this.#documents = documents;
    this.#warn = warn;
    this.owner = owner;
    this.#signInSeal = signInSeal;
  }

  /** Reads the document, and the key of sealed records. Call it before `read`. Throws VERSION_TOO_OLD and DATABASE_UNAVAILABLE. */
  async ready(): Promise<void> {
    await this.#documents.ready([dirname(this.#file)]);
    this.#preparing ??= this.#prepare().catch((error: unknown) => {
      this.#preparing = undefined;
      throw error;
    });
    await this.#preparing;
  }

  async #prepare(): Promise<void> {
    if (!this.#signInSeal || !this.#records().some(isSealed) || (await this.#signInSeal.read())) return;
    if (!this.#isWarnedOfKey) {
      this.#warn(`The sign-ins are sealed, and ${this.#signInSeal.why}: all servers count as signed out`);
    }
    this.#isWarnedOfKey = true;
  }

  /** Throws if sign-ins of a team could not be stored, because there is no key to seal them. */
  async requireKey(): Promise<void> {
    if (!this.#documents.areFiles) await this.#signInSeal?.readOrMake();
  }

  /** Why records cannot be opened, as the end of "The sign-ins are sealed, and …". Undefined if they can. */
  get whyLocked(): string | undefined {
    const { seal, why } = this.#signInSeal ?? {};
    return seal === undefined && this.#records().some(isSealed) ? why : undefined;
  }

  /** Seals the sign-ins that were stored without a keychain, if there is one now. */
  async sealAll(): Promise<void> {
    if (!this.#signInSeal || this.#records().every(isSealed)) return;
    await this.#documents.alone(this.#lock("file"), async (changes) => {
      const contents = this.#contents();
      if (contents && (await this.#signInSeal?.readOrMake())) this.#write(contents, changes);
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
    return this.owner?.seal ?? this.#signInSeal?.seal;
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
    await this.#documents.alone(this.#lock("file"), async (changes) => {
      await this.#signInSeal?.readOrMake();
      const contents = this.#contents() ?? this.#keptAside(changes);
      const key = keyOf(server);
      const before = this.#recordIn(contents, server);
      const after = change(before && isOfConfig(before, server) ? before : undefined);
      const { [key]: _, ...servers } = contents.servers;
      if (after) servers[key] = after;
      else if (before === undefined) return;
      this.#write({ version: 1, servers }, changes);
    });
  }

  /** Runs the work with the lock, so that no other process requests or revokes tokens of this server. */
  async alone<T>(server: NetworkServer, work: () => Promise<T>): Promise<T> {
    return this.#documents.alone(this.#lock(hash(keyOf(server))), work);
  }

  /** Records that are sealed stay as they are. */
  #kept(record: SignInRecord | SealedRecord, key: string): SignInRecord | SealedRecord {
    const seal = this.#seal;
    return seal && !("sealed" in record) ? { sealed: seal.seal(JSON.stringify(record), key) } : record;
  }

  #lock(name: string): DocumentLock {
    const folder = dirname(this.#file);
    return { folder, lock: join(folder, "credentials.locks", name), what: guarded };
  }

  /** Undefined if the file is damaged. */
  #contents(): Contents | undefined {
    const text = this.#text();
    if (text === undefined) return nothing();
    const contents = parsed(text);
    if (!contents && isNewer(parsedJson(text), 1)) throw writtenByNewer("the sign-ins");
    if (!contents && !this.#isWarned) this.#warn(`${this.#file} is damaged: all servers count as signed out`);
    this.#isWarned = contents === undefined;
    return contents;
  }

  /** A file that cannot be read counts as damaged. */
  #text(): string | undefined {
    try {
      return this.#documents.read(this.#file);
    } catch (error) {
      if (!this.#documents.areFiles) throw error;
      return "";
    }
  }

  /** Keeps a damaged file under another name, and begins a new one. */
  #keptAside(changes: DocumentChanges): Contents {
    const aside = `${this.#file}.damaged`;
    changes.rename(this.#file, aside);
    this.#warn(`Kept the damaged file as ${aside}`);
    return nothing();
  }

  #write({ version, servers }: Contents, changes: DocumentChanges): void {
    const kept = Object.entries(servers).map(([key, record]) => [key, this.#kept(record, key)]);
    const contents = { version, servers: Object.fromEntries(kept) };
    changes.writeSecret(this.#file, `${JSON.stringify(contents, null, 2)}\n`);
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

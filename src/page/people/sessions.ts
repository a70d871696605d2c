/** The sessions of people who have signed in to the page. A cookie names the session. */
import { createHash } from "node:crypto";
import { parsedJson } from "../../base/json-object.ts";
import { Seal } from "../../base/seal.ts";
import { sha256 } from "../../base/sha256.ts";
import { hourMs } from "../../base/units.ts";
import type { PersonClaims } from "../../policy/people/claims.ts";
import type { ValueRows } from "../../store/replicas.ts";
import { secret } from "../sessions.ts";

/** Sessions of one person, one in each browser. Beyond this number, the person's oldest session ends. */
const maxPersonSessions = 50;

/** The longest session of a person, if the provider's token does not end before. */
const personSessionMs = 8 * hourMs;

export interface PersonSession {
  readonly claims: PersonClaims;
  /** The token of the sign-in. It is never stored unless it is sealed with the cookie. */
  readonly idToken: string;
  /** In milliseconds since 1970, as `endsAt`. */
  readonly begunAt: number;
  readonly endsAt: number;
  /** The digest of the cookie, under which replicas share the session. Undefined without others. */
  readonly sharedAs?: string | undefined;
}

export class PersonSessions {
  /** By their cookies. */
  readonly #sessions: Kept<PersonSession>;
  readonly #isShared: boolean;

  /** `rows` are in the database of several replicas. */
  constructor(rows: ValueRows | undefined) {
    this.#sessions = keptValues("page session", maxPersonSessions, rows);
    this.#isShared = rows !== undefined;
  }

  /** Returns the cookie. The session ends with the ID token, and after some hours at the latest. */
  async begin(claims: PersonClaims, idToken: string): Promise<{ cookie: string; session: PersonSession }> {
    const cookie = `${claims.id}.${secret()}`;
    const begunAt = Date.now();
    const endsAt = Math.min(claims.expiresAt, begunAt + personSessionMs);
    const sharedAs = this.#isShared ? sha256(cookie) : undefined;
    const session = { claims, idToken, begunAt, endsAt, sharedAs };
    await this.#sessions.add(cookie, session, session.endsAt);
    return { cookie, session };
  }

  async find(cookie: string | undefined): Promise<PersonSession | undefined> {
    return cookie === undefined ? undefined : this.#sessions.find(cookie);
  }

  async end(cookie: string | undefined): Promise<void> {
    if (cookie !== undefined) await this.#sessions.take(cookie);
  }
}

/**
 * Values that belong to secrets of browsers and are kept for some time. Replicas keep them in their database, sealed with the secret, so
 * that the database alone does not reveal them. Secrets begin with the id of a person and a dot.
 */
interface Kept<Value> {
  /** `endsAt` is in milliseconds since 1970. */
  add(secret: string, value: Value, endsAt: number): Promise<void>;
  /** Undefined if there is none, or its time is over. */
  find(secret: string): Promise<Value | undefined>;
  /** Removes the value and returns it. Only one of several concurrent callers gets it. */
  take(secret: string): Promise<Value | undefined>;
}

/** Beyond `max` values of one person, the person's oldest value is dropped, so nobody can push out values of others. */
function keptValues<Value>(kind: string, max: number, rows: ValueRows | undefined): Kept<Value> {
  return rows ? keptInStore(kind, max, rows) : new KeptHere(max);
}

class KeptHere<Value> implements Kept<Value> {
  readonly #max: number;
  /** By the digests of their secrets. */
  readonly #values = new Map<string, { value: Value; person: string; endsAt: number }>();

  constructor(max: number) {
    this.#max = max;
  }

  async add(secret: string, value: Value, endsAt: number): Promise<void> {
    const now = Date.now();
    for (const [key, old] of this.#values) if (old.endsAt <= now) this.#values.delete(key);
    const person = personOf(secret);
    const own = [...this.#values].filter(([, old]) => old.person === person);
    if (own.length >= this.#max) this.#values.delete(own[0]![0]);
    this.#values.set(sha256(secret), { value, person, endsAt });
  }

  async find(secret: string): Promise<Value | undefined> {
    const found = this.#values.get(sha256(secret));
    return found && found.endsAt > Date.now() ? found.value : undefined;
  }

  async take(secret: string): Promise<Value | undefined> {
    const found = await this.find(secret);
    return this.#values.delete(sha256(secret)) ? found : undefined;
  }
}

function keptInStore<Value>(kind: string, max: number, rows: ValueRows): Kept<Value> {
  const rowsOf = (secret: string) => `${kind} of ${personOf(secret)}`;
  const opened = (secret: string, sealed: string | undefined) => {
    const text = sealed === undefined ? undefined : sealOf(secret, kind).open(sealed, kind)?.text;
    return text === undefined ? undefined : (parsedJson(text) as Value);
  };
  return {
    add: (secret, value, endsAt) => {
      const sealed = sealOf(secret, kind).seal(JSON.stringify(value), kind);
      return rows.add({ kind: rowsOf(secret), id: sha256(secret), value: sealed, endsAt }, max);
    },
    find: async (secret) => opened(secret, (await rows.get(rowsOf(secret), sha256(secret)))?.value),
    take: async (secret) => opened(secret, (await rows.take(rowsOf(secret), sha256(secret)))?.value),
  };
}

function personOf(secret: string): string {
  return secret.split(".")[0]!;
}

/** The secret has 256 random bits. Another digest of it is the name of the value. */
function sealOf(secret: string, kind: string): Seal {
  const bytes = createHash("sha256").update(`the key of ${kind} ${secret}`).digest();
  return new Seal([{ id: "browser", bytes }], kind);
}

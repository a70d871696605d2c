/** The sessions of people who have signed in to the page. A cookie names the session. */

import { sha256 } from "../../base/sha256.ts";
import { hourMs } from "../../base/units.ts";
import type { PersonClaims } from "../../policy/people/claims.ts";
import type { ValueRows } from "../../store/replicas.ts";
import { secret } from "../sessions.ts";
import { type Kept, keptValues } from "./kept.ts";

/** Sessions of one person at the page, in as many browsers. Beyond it, the person's oldest one ends. */
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

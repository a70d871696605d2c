/** The sessions of people who have signed in to the page. A cookie names the session. */

import { sha256 } from "../../base/sha256.ts";
import type { PersonClaims } from "../../policy/people/claims.ts";
import { maxPageSessions, personSessionMs } from "../limits.ts";
import { secret } from "../sessions.ts";

export interface PersonSession {
  readonly claims: PersonClaims;
  /** The token of the sign-in. It is never stored. */
  readonly idToken: string;
  /** In milliseconds since 1970, as `endsAt`. */
  readonly begunAt: number;
  readonly endsAt: number;
}

/** Only digests of cookies are kept. */
export class PersonSessions {
  readonly #sessions = new Map<string, PersonSession>();

  /** Returns the cookie. The session ends with the ID token, and after some hours at the latest. */
  begin(claims: PersonClaims, idToken: string): { cookie: string; session: PersonSession } {
    this.#forgetOld();
    const cookie = secret();
    const begunAt = Date.now();
    const session = { claims, idToken, begunAt, endsAt: Math.min(claims.expiresAt, begunAt + personSessionMs) };
    this.#sessions.set(sha256(cookie), session);
    return { cookie, session };
  }

  find(cookie: string | undefined): PersonSession | undefined {
    const found = cookie === undefined ? undefined : this.#sessions.get(sha256(cookie));
    return found && found.endsAt > Date.now() ? found : undefined;
  }

  end(cookie: string | undefined): void {
    if (cookie !== undefined) this.#sessions.delete(sha256(cookie));
  }

  #forgetOld(): void {
    const now = Date.now();
    for (const [key, { endsAt }] of this.#sessions) if (endsAt <= now) this.#sessions.delete(key);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size >= maxPageSessions && oldest !== undefined) this.#sessions.delete(oldest);
  }
}

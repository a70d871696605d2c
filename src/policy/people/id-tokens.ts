/** The ID tokens of people who have signed in to the page, for servers that get a token in exchange. They are never stored. */
import type { PersonClaims } from "./claims.ts";

/** The sign-in of a person to the page. */
export interface SignIn {
  readonly claims: Pick<PersonClaims, "id">;
  readonly idToken: string;
  /** In milliseconds since 1970. */
  readonly endsAt: number;
}

export class IdTokens {
  /** The newest one of each person, by the person's id. */
  readonly #newest = new Map<string, SignIn>();

  get size(): number {
    return this.#newest.size;
  }

  keep(signIn: SignIn): void {
    this.#newest.set(signIn.claims.id, signIn);
  }

  /** Undefined if the person has none, or if the sign-in has ended. */
  of(id: string): string | undefined {
    const kept = this.#newest.get(id);
    return kept && kept.endsAt > Date.now() ? kept.idToken : undefined;
  }

  /** Forgets the token of a sign-in that a person has ended. A newer one of the same person stays. */
  end({ claims: { id }, idToken }: SignIn): void {
    if (this.#newest.get(id)?.idToken === idToken) this.#newest.delete(id);
  }

  /** Forgets those of people who were revoked, and those of sign-ins that have ended. */
  forget(revoked: ReadonlySet<string>): void {
    for (const id of this.#newest.keys()) if (revoked.has(id) || this.of(id) === undefined) this.#newest.delete(id);
  }
}

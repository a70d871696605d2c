/** The ID tokens of people who have signed in to the page, for servers that get a token in exchange. They are never stored. */
import type { PersonClaims } from "./claims.ts";

interface IdToken {
  token: string;
  expiresAt: number;
}

export class IdTokens {
  /** The newest one of each person, by the person's id. */
  readonly #tokens = new Map<string, IdToken>();

  get size(): number {
    return this.#tokens.size;
  }

  /** `claims` are those of the token. */
  keep({ id, expiresAt }: PersonClaims, token: string): void {
    this.#tokens.set(id, { token, expiresAt });
  }

  /** Undefined if the person has none, or if it has expired. */
  of(id: string): string | undefined {
    const kept = this.#tokens.get(id);
    return kept && kept.expiresAt > Date.now() ? kept.token : undefined;
  }

  /** Forgets the token at the end of its sign-in. A newer one of the same person stays. */
  end({ id }: Pick<PersonClaims, "id">, token: string): void {
    if (this.#tokens.get(id)?.token === token) this.#tokens.delete(id);
  }

  /** Forgets those of people who were revoked, and those that have expired. */
  forget(revoked: ReadonlySet<string>): void {
    for (const id of this.#tokens.keys()) if (revoked.has(id) || this.of(id) === undefined) this.#tokens.delete(id);
  }
}

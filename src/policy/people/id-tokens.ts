/** The ID tokens of people who have signed in to the page, for servers that get an assertion for them. They are only in memory. */
import type { SignOut } from "../../store/people.ts";
import type { PersonClaims } from "./claims.ts";
import { isEndedBy } from "./sign-outs.ts";

/** The sign-in of a person to the page. */
export interface SignIn {
  readonly claims: Pick<PersonClaims, "id" | "session" | "issuedAt">;
  readonly idToken: string;
  /** In milliseconds since 1970, as `endsAt`. */
  readonly begunAt: number;
  readonly endsAt: number;
  /** The name of the sign-in in the database of several replicas. Any of them may end it. */
  readonly sharedAs?: string | undefined;
}

export class IdTokens {
  /** The newest sign-in of each person, by the person's id. */
  readonly #newest = new Map<string, SignIn>();

  get size(): number {
    return this.#newest.size;
  }

  keep(signIn: SignIn): void {
    const { id } = signIn.claims;
    if ((this.#newest.get(id)?.begunAt ?? 0) <= signIn.begunAt) this.#newest.set(id, signIn);
  }

  /** The names of the sign-ins that replicas share. */
  get shared(): string[] {
    return [...this.#newest.values()].flatMap(({ sharedAs }) => sharedAs ?? []);
  }

  /** The person's ID token. Undefined if there is none, or if the sign-in has ended. */
  of(id: string): string | undefined {
    const kept = this.#newest.get(id);
    return kept && kept.endsAt > Date.now() ? kept.idToken : undefined;
  }

  /** Forgets the token of a sign-in that a person has ended. A newer one of the same person stays. */
  end({ claims: { id }, idToken }: SignIn): void {
    if (this.#newest.get(id)?.idToken === idToken) this.#newest.delete(id);
  }

  /** Forgets the token of a person who has signed out at the provider. */
  signOut({ id, ...signOut }: SignOut & { id: string }): void {
    const kept = this.#newest.get(id);
    if (kept && isEndedBy(kept.claims, signOut)) this.#newest.delete(id);
  }

  /** Forgets the tokens of revoked people and of ended sign-ins. `ended` contains the names of shared sign-ins. */
  forget(revoked: ReadonlySet<string>, ended: readonly string[]): void {
    for (const [id, { sharedAs = "" }] of this.#newest) {
      if (revoked.has(id) || ended.includes(sharedAs) || this.of(id) === undefined) this.#newest.delete(id);
    }
  }
}

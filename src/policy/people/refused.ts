/** Why a person is not let in. The kinds are told apart by the answers of HTTP. */

/**
 * `invalid`: the token does not count, and a new one may. `scope`: it lacks scopes. `revoked`: an administrator has revoked the person.
 * `unavailable`: the provider cannot be asked, so nobody can tell.
 */
type Kind = "invalid" | "scope" | "revoked" | "unavailable";

export class PersonRefused extends Error {
  readonly kind: Kind;

  constructor(kind: Kind, message: string) {
    super(message);
    this.kind = kind;
  }
}

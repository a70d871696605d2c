/** Why a person is not let in. Each kind has its own HTTP answer. */

/**
 * `invalid`: the token is not valid, but a new one may be. `scope`: it lacks scopes. `revoked`: an administrator has revoked the person.
 * `unavailable`: the provider cannot be asked, so the token cannot be checked.
 */
type Kind = "invalid" | "scope" | "revoked" | "unavailable";

export class PersonRefused extends Error {
  readonly kind: Kind;

  constructor(kind: Kind, message: string) {
    super(message);
    this.kind = kind;
  }
}

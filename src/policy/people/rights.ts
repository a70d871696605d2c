/**
 * Decides what a token allows its person: everything that its groups allow, limited to groups that the person's newest known token has too.
 * No other code reads groups. Ask again for each use, because the answer is only valid at that moment.
 */
import { groupsOfDoor, isIn, type Oidc } from "../../config/oidc.ts";
import type { NewestGroups } from "../../store/people.ts";
import type { PersonClaims } from "./claims.ts";

export class Rights {
  readonly #oidc: Oidc | undefined;
  readonly #newest: NewestGroups | undefined;
  readonly #groups: readonly string[];

  constructor(claims: PersonClaims, newest: NewestGroups | undefined, oidc: Oidc | undefined) {
    this.#oidc = oidc;
    this.#newest = newest;
    this.#groups = groupsOf(claims, newest, oidc);
  }

  /** Whether the person may use a door, or without its name the whole config. */
  mayUse(door: string | undefined): boolean {
    return this.#oidc !== undefined && isIn(this.#groups, groupsOfDoor(this.#oidc, door));
  }

  /** Whether the person has lost the door, because the newest token does not open it. Sessions of older tokens then end. */
  hasLost(door: string | undefined): boolean {
    if (!this.#newest || !this.#oidc) return this.#oidc === undefined;
    return !isIn(this.#newest.groups, groupsOfDoor(this.#oidc, door));
  }

  get mayApprove(): boolean {
    return isIn(this.#groups, this.#oidc?.approvers);
  }

  get isAdministrator(): boolean {
    return isIn(this.#groups, this.#oidc?.administrators);
  }
}

/**
 * Times of tokens are compared with each other only, so the clock of this machine does not matter. A token without a time counts as older,
 * because its age is unknown. Tokens that were issued at the same time do not affect each other.
 */
function groupsOf(
  { groups, issuedAt, expiresAt }: PersonClaims,
  newest: NewestGroups | undefined,
  oidc: Oidc | undefined,
): readonly string[] {
  if (expiresAt + (oidc?.clockSkewSeconds ?? 0) * 1_000 <= Date.now()) return [];
  if (!newest || (issuedAt ?? 0) >= newest.issuedAt) return groups;
  return groups.filter((each) => newest.groups.includes(each));
}

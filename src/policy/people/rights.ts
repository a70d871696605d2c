/**
 * What a token allows its person: what its own groups allow, as far as the newest known token of the person has these groups too. Nothing else
 * reads groups. Ask again for each use: the answer counts for the moment in which it was given.
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

  /** Whether no token of the person opens the door any more: the newest one does not, so that the sessions of the others end. */
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
 * Times of tokens are compared with each other only, so the clock of this machine does not matter. Nobody knows how old a token without a time
 * is, so it counts as an older one. Of tokens that were issued at the same time, each counts for itself.
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

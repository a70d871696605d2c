/** The people who have signed in to `serve --http`, and who of them may no longer. */

/** Times are in milliseconds since 1970. */
export interface StoredPerson {
  /** The config file. */
  config: string;
  /** A digest of the issuer and the subject. */
  id: string;
  /** Empty, like the subject, if the data of the person was deleted. */
  issuer: string;
  subject: string;
  name: string;
  email: string | null;
  /** The doors that the person has used. `mcp` is the whole config. */
  doors: string[];
  firstAt: number;
  lastAt: number;
  /** Null unless revoked. */
  revokedAt: number | null;
}

/** A config and an id name a person. */
export type PersonKey = Pick<StoredPerson, "config" | "id">;

/** What the token of a person that was issued last says. */
export interface NewestGroups {
  /** In milliseconds since 1970, by the clock of the provider. */
  issuedAt: number;
  groups: string[];
}

/** Of the tokens that were issued at the same time, the groups of all count. Undefined if the token changes nothing. */
export function newestGroups(known: NewestGroups | undefined, token: NewestGroups): NewestGroups | undefined {
  if (!known || token.issuedAt > known.issuedAt) return token;
  if (token.issuedAt < known.issuedAt) return undefined;
  const more = token.groups.filter((each) => !known.groups.includes(each));
  return more.length === 0 ? undefined : { ...known, groups: [...known.groups, ...more] };
}

export interface PeopleRows {
  /** The people of a config, or of all configs, in the order in which they came. */
  list(config?: string): Promise<StoredPerson[]>;
  /** The ids of those who may no longer. */
  revoked(config: string): Promise<Set<string>>;
  /** Whether a person may no longer, and what the newest known token says. It is asked for with each use of a right. */
  standing(person: PersonKey): Promise<{ isRevoked: boolean; newest: NewestGroups | undefined }>;
  /** Keeps what a token says, if no newer one is known. Groups that are older than `before` are forgotten. */
  keepNewest(person: PersonKey, token: NewestGroups, before: number): Promise<void>;
  /**
   * Writes that a person was here at `lastAt`. The doors are added to those that are stored, and the list is sorted. A person who is new came
   * at `lastAt` and is not revoked; otherwise `firstAt` and `revokedAt` stay as they are.
   */
  seen(person: StoredPerson): Promise<void>;
  /**
   * Forgets a person. For a revoked person, a row stays that only refuses the person: its name is the id, and its times are the time of the
   * revocation.
   */
  forget(person: PersonKey): Promise<void>;
  /** Revokes people, or with null restores them. Returns those whose state has changed. */
  setRevoked<Person extends PersonKey>(people: readonly Person[], revokedAt: number | null): Promise<Person[]>;
}

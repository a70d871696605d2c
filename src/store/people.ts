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

export interface PeopleRows {
  /** Those of a config, or of all, in the order in which they came. */
  list(config?: string): Promise<StoredPerson[]>;
  /** The ids of those who may no longer. It is asked for with each request of a person. */
  revoked(config: string): Promise<Set<string>>;
  /**
   * Writes that a person was here at `lastAt`. The doors are added to those that are stored, and the list is sorted. A person who is new came
   * at `lastAt` and is not revoked; otherwise `firstAt` and `revokedAt` stay as they are.
   */
  seen(person: StoredPerson): Promise<void>;
  /**
   * Forgets a person. Of one who is revoked, a row stays that refuses the person and says nothing else: the id is the name, and the times are
   * those of the revocation.
   */
  forget(person: PersonKey): Promise<void>;
  /** Revokes people, or with null restores them. Returns those whose state has changed. */
  setRevoked<Person extends PersonKey>(people: readonly Person[], revokedAt: number | null): Promise<Person[]>;
}

/** Tells the programs of an entry, `headersHelper` and `${command:…}`, for which person of a team they run. */
import { usesOwn } from "../../config/credentials.ts";
import type { Environment } from "../../config/environment.ts";
import type { ServerConfig } from "../../config/load.ts";

/** What verified tokens say of the person. */
export interface PersonIdentity {
  /** The person's name at the sign-in provider: the claim `sub`. */
  subject: string;
  groups: readonly string[];
}

interface Surroundings {
  env: Environment;
  /** The environment of this process. Default: `env`. */
  ownEnv?: Environment | undefined;
  /** Given if the servers are connected for a person. Undefined while the person is not here. */
  identity?: (() => PersonIdentity | undefined) | undefined;
}

/**
 * The environment of the programs of an entry. A process that several people share is nobody's. Groups are JSON, because their names may
 * contain any character.
 */
export function entryEnvironment(server: ServerConfig, { env, ownEnv = env, identity }: Surroundings): Environment {
  if (!identity || (server.url === undefined && !usesOwn(server))) return ownEnv;
  const person = identity();
  return { ...ownEnv, ...identityVariables(person) };
}

/** Without a person, the variables that somebody else has set are removed. */
export function identityVariables(person: PersonIdentity | undefined): Environment {
  return { CLAUDIKINS_PERSON: person?.subject, CLAUDIKINS_GROUPS: person && JSON.stringify(person.groups) };
}

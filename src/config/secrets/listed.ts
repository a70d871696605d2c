/** The secrets of the user, and the servers that use them. Values are not read. */
import { type ConfigChoice, discoverConfig, readConfigFile } from "../discover.ts";
import type { ParsedConfig } from "../parse.ts";
import { parsedConfig } from "../plain-config.ts";
import { readUserConfig } from "../user-config.ts";
import { referencesIn, referringParts } from "./references.ts";
import { type StoredSecret, storedSecrets } from "./store.ts";

export interface ListedSecret {
  name: string;
  /** Null: it is not set. */
  place: StoredSecret["place"] | null;
  setAt?: number;
  /** The servers that use it, in this config and in the user's own, sorted. Another part of the config is called by its key. */
  servers: string[];
}

/**
 * Secrets that are set, and secrets that the two configs name, sorted. A config that cannot be read names none. It need not be trusted, because
 * nothing of it is used. Throws the errors of `storedSecrets`.
 */
export async function listedSecrets(choice: ConfigChoice): Promise<ListedSecret[]> {
  const stored = new Map(storedSecrets(choice.env).map((each) => [each.name, each]));
  const users = new Map<string, Set<string>>();
  for (const config of await configs(choice)) {
    for (const [user, name] of usesIn(config)) users.set(name, (users.get(name) ?? new Set()).add(user));
  }
  return [...new Set([...stored.keys(), ...users.keys()])].sort().map((name) => {
    const { place = null, setAt } = stored.get(name) ?? {};
    const servers = [...(users.get(name) ?? [])].sort();
    return { name, place, ...(setAt === undefined ? {} : { setAt }), servers };
  });
}

async function configs(choice: ConfigChoice): Promise<ParsedConfig[]> {
  const read = async () => {
    const origin = discoverConfig(choice);
    return origin.kind === "demo" ? undefined : parsedConfig(readConfigFile(origin.file), origin.file);
  };
  const found = await Promise.allSettled([read(), readUserConfig(choice.env)]);
  return found.flatMap((each) => (each.status === "fulfilled" && each.value ? [each.value] : []));
}

/** Pairs of a user and the secret that it uses. */
function usesIn({ servers, mistakes: _, ...others }: ParsedConfig): [string, string][] {
  const parts = [...servers].map(([name, entry]) => [name, referringParts(entry)] as const);
  return [...parts, ...Object.entries(others)].flatMap(([user, value]) =>
    [...referencesIn(value).values()].flatMap((reference): [string, string][] =>
      "secret" in reference ? [[user, reference.secret]] : [],
    ),
  );
}

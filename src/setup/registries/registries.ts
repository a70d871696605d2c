/** Chooses the registries to search: from the command line, from the user's own config, or the official one. */

import { ClaudikinsError } from "../../base/errors.ts";
import { readIfThere } from "../../base/files.ts";
import { officialRegistry, registryProblem } from "../../config/address.ts";
import type { Environment } from "../../config/environment.ts";
import { expand } from "../../config/expand.ts";
import { userConfigFile } from "../../config/locations.ts";
import { parsedConfig } from "../../config/plain-config.ts";
import type { RegistryEntry } from "../../config/schema.ts";

/** Time to ask one registry, with all of its pages. */
const defaultRegistryMs = 10_000;

const officialUrl = "https://registry.modelcontextprotocol.io";

export interface Registry {
  /** `official`, or the host and the path of the address. */
  name: string;
  /** Without the version of the API and without a slash at the end. */
  url: string;
  /** The version of the API, if the address names one. */
  api?: string | undefined;
  /** They may be secrets. */
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** The variables that are not set. The registry is not asked until they are. */
  needs: readonly string[];
}

/**
 * The registries of the user's own config; undefined if it has no such key. A project's config is ignored, because it could send the user's
 * tokens to any address, and give any name to any program. Throws what reading the config throws.
 */
export async function configuredRegistries(env: Environment): Promise<Registry[] | undefined> {
  const file = userConfigFile(env);
  const text = readIfThere(file);
  // The key may be written with Unicode escapes.
  if (text === undefined || !/"registries"|\\u/.test(text)) return undefined;
  const { registries } = await parsedConfig(text, file);
  return registries?.map((entry) => registryOf(entry, env));
}

/** The registries that `--registry` names: `official`, an address, or the name of one in the config. Throws USAGE. */
export function namedRegistries(words: readonly string[], configured: readonly Registry[] = []): Registry[] {
  const found = words.map((word) => {
    const plain = (url: string) => url.replace(/\/+$/, "");
    const known = configured.find(({ name, url }) => name === word || url === plain(word));
    if (known) return known;
    if (word === officialRegistry) return official();
    const problem = registryProblem(word);
    if (problem !== undefined) {
      throw new ClaudikinsError("USAGE", `--registry ${problem}`, {
        hint: `Examples: --registry https://registry.example.com, --registry ${officialRegistry}`,
      });
    }
    const registry = registryOf({ url: word }, {});
    // The address may be written with another version of the API, or with none.
    return configured.find(({ url }) => url === registry.url) ?? registry;
  });
  return [...new Map(found.map((registry) => [registry.url, registry])).values()];
}

/** The registry in a sentence, such as `the official registry`. */
export function titleOf({ name }: Pick<Registry, "name">): string {
  return name === officialRegistry ? "the official registry" : `the registry ${name}`;
}

export function official(): Registry {
  return registryOf({ url: officialRegistry }, {});
}

function registryOf(entry: RegistryEntry, env: Environment): Registry {
  const { value, missing } = expand(entry.headers ?? {}, env);
  const address = new URL(entry.url === officialRegistry ? officialUrl : entry.url);
  const path = address.pathname.replace(/\/+$/, "");
  const [, base = path, api] = /^(.*?)\/(v0(?:\.\d+)?)(?:\/servers)?$/.exec(path) ?? [];
  const url = address.origin + base;
  return {
    name: url === officialUrl ? officialRegistry : address.host + base,
    url,
    api,
    headers: value,
    timeoutMs: entry.timeoutMs ?? defaultRegistryMs,
    needs: missing,
  };
}

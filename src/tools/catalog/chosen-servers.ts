/** Chooses configured servers by name and category. */

import { ClaudikinsError } from "../../base/errors.ts";
import { didYouMean } from "../../base/near-names.ts";
import type { Config } from "../../config/load.ts";
import { maxHintedNames } from "../limits.ts";
import { aboutServer } from "./config-entry.ts";

/**
 * Returns the servers that match one of the names and one of the categories, in the order of the config. Without names and
 * categories, returns undefined. Throws SERVER_NOT_FOUND.
 */
export async function chosenServers(
  config: Config,
  chosen: { servers: string[]; categories: string[] },
): Promise<string[] | undefined> {
  if (chosen.servers.length + chosen.categories.length === 0) return undefined;
  for (const name of chosen.servers)
    if (!config.servers.has(name)) throw unknownServer(name, [...config.servers.keys()]);
  const categories = new Map<string, string>();
  for (const [name, server] of config.servers) categories.set(name, (await aboutServer(server)).category);
  for (const category of chosen.categories) {
    if (![...categories.values()].includes(category))
      throw unknownCategory(category, [...new Set(categories.values())]);
  }
  const fits = (wanted: string[], value: string) => wanted.length === 0 || wanted.includes(value);
  const names = [...categories]
    .filter(([name, category]) => fits(chosen.servers, name) && fits(chosen.categories, category))
    .map(([name]) => name);
  if (names.length > 0) return names;
  const found = chosen.servers.map((name) => `${name} is in ${categories.get(name)}`).join(", ");
  throw new ClaudikinsError("SERVER_NOT_FOUND", `No server matches both filters: ${found}`, {
    hint: "Remove --server or --category.",
  });
}

/** The error for a server name that the config does not have. */
export function unknownServer(name: string, known: string[]): ClaudikinsError {
  return new ClaudikinsError("SERVER_NOT_FOUND", `No server is called "${name}"`, { hint: hintOf(name, known) });
}

function unknownCategory(name: string, known: string[]): ClaudikinsError {
  return new ClaudikinsError("SERVER_NOT_FOUND", `No configured server is in the category "${name}"`, {
    hint: hintOf(name, known.sort()),
  });
}

function hintOf(name: string, known: string[]): string {
  if (known.length === 0) return "The config has no servers.";
  const more = known.length > maxHintedNames ? ` and ${known.length - maxHintedNames} more` : "";
  return [didYouMean(name, known), `Available: ${known.slice(0, maxHintedNames).join(", ")}${more}.`]
    .filter(Boolean)
    .join(" ");
}

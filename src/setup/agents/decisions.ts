/**
 * Remembers the servers that a person left in the agents' files because another server got the name, so that `init` does not ask again. The
 * file contains only digests of the servers, no commands and no secrets.
 */
import { join } from "node:path";
import { makeFolder, readIfThere } from "../../base/files.ts";
import { isObject, parsedJson, stringsIn, valueAt } from "../../base/json-object.ts";
import type { Environment } from "../../config/environment.ts";
import { writeThrough } from "../../config/file-text.ts";
import { userDataFolder } from "../../config/locations.ts";
import { chooseOne } from "./choices.ts";
import { entryDigest, type Inventory, isSameServer } from "./merge.ts";

const fileOf = (env: Environment) => join(userDataFolder(env), "hosts", "decisions.json");

/** Digests of the servers that were left, by the config's path and the name. A damaged file only means that `init` asks again. */
function rememberedIn(env: Environment): Record<string, Record<string, string[]>> {
  const left = valueAt(parsedJson(readIfThere(fileOf(env)) ?? "{}"), ["left"]);
  const configs = isObject(left) ? Object.entries(left) : [];
  return Object.fromEntries(
    configs.map(([config, names]) => {
      const known = Object.entries(isObject(names) ? names : {});
      return [config, Object.fromEntries(known.map(([name, digests]) => [name, stringsIn(digests)]))];
    }),
  );
}

/** Whether an earlier run may have given this key to a server of the name. */
const isRenamed = (key: string, name: string) => key.startsWith(`${name}-`);

/** Settles conflicts as they were decided before, if the config still has the chosen server. */
export function settleAsBefore(inventories: readonly Inventory[], env: Environment): void {
  const remembered = rememberedIn(env);
  for (const inventory of inventories) {
    const { configFile, conflicts } = inventory;
    for (const conflict of conflicts.splice(0)) {
      const { name, choices } = conflict;
      const own = choices.find(({ isThere }) => isThere);
      const others = choices.filter((choice) => choice !== own);
      const left = remembered[configFile.file]?.[name] ?? [];
      const renamed = others.flatMap((choice) => {
        const known = [...configFile.entries].find(
          ([key, entry]) => isRenamed(key, name) && isSameServer(entry, choice.entry),
        );
        return known ? [{ ...choice, name: known[0], isThere: true }] : [];
      });
      if (own && others.every(({ entry }) => left.includes(entryDigest(entry)))) {
        const again = others.flatMap(({ from }) => from[0]?.folder ?? from[0]?.host ?? []);
        const why = `another server of this name was chosen before; to import it instead: --prefer ${name}=${again[0]}`;
        chooseOne(inventory, conflict, own, why);
      } else if (own && renamed.length === others.length) {
        inventory.servers.push({ ...own, name }, ...renamed);
      } else conflicts.push(conflict);
    }
  }
}

/** Records the decisions of this run. Throws FILE_NOT_WRITABLE. */
export function rememberDecision(inventories: readonly Inventory[], env: Environment): void {
  const decided = inventories.flatMap(({ configFile, decided = [] }) => decided.map((one) => ({ ...one, configFile })));
  if (decided.length === 0) return;
  const left = rememberedIn(env);
  for (const { configFile, name, left: entries } of decided) {
    left[configFile.file] = { ...left[configFile.file], [name]: entries.map(entryDigest) };
  }
  makeFolder(join(userDataFolder(env), "hosts"), 0o700);
  writeThrough(fileOf(env), Buffer.from(`${JSON.stringify({ version: 1, left }, null, 2)}\n`), 0o600);
}

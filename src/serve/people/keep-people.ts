/** Deletes what is kept of people who were not here for long, and the copies of files that were deleted elsewhere. */

import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { dayMs, hourMs } from "../../base/units.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config } from "../../config/load.ts";
import { foldersOfPerson } from "../../config/locations.ts";
import { savedProgramsOfAll } from "../../config/saved-programs-place.ts";
import type { FileRows } from "../../store/files.ts";
import type { Store } from "../../store/store.ts";
import { deletePerson } from "./delete-person.ts";

/** Time between looks for people who were not here for long. */
const peopleTidyMs = hourMs;

/** The parts of the app that it needs. */
interface Kept {
  config: Pick<Config, "origin" | "oidc" | "doors">;
  store: Store;
  log: Log;
}

/**
 * Looks now, and then every hour. One of the processes that share a store looks for people who were not seen. `shared` finds the registries
 * and workspaces that the config and its doors share.
 */
export function keepPeople(app: Kept, shared: () => Promise<readonly string[]>, env: Environment): Disposable {
  const look = () => {
    void removeDeleted(app, shared);
    void deleteUnseen(app, shared, env);
  };
  look();
  const timer = setInterval(look, peopleTidyMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

async function removeDeleted(
  { config: { origin }, store, log }: Kept,
  shared: () => Promise<readonly string[]>,
): Promise<void> {
  if (!store.files || origin.kind === "demo") return;
  try {
    await removeCopies(store.files, origin.file, shared);
  } catch (error) {
    log.warn(`Cannot remove the files of people whose data was deleted: ${messageOf(error)}`);
  }
}

async function deleteUnseen(
  { config, store, log }: Kept,
  shared: () => Promise<readonly string[]>,
  env: Environment,
): Promise<void> {
  const { origin } = config;
  const days = config.oidc?.keepDays;
  if (days === undefined || origin.kind === "demo") return;
  try {
    if (!(await store.mayTidy("people"))) return;
    const before = Date.now() - days * dayMs;
    const unseen = (await store.people.list(origin.file)).filter(
      ({ issuer, lastAt }) => issuer !== "" && lastAt < before,
    );
    if (unseen.length === 0) return;
    const folders = await shared();
    for (const each of unseen) {
      const programs = savedProgramsOfAll(config, env);
      await deletePerson(each, { shared: folders, programs, env, why: `not seen for ${days} days` });
      log.info(`deleted what was kept of person ${each.id}, who was not seen for ${days} days`);
    }
  } catch (error) {
    log.warn(`Cannot delete what is kept of people who were not seen: ${messageOf(error)}`);
  }
}

/** A folder in which something has changed since belongs to a person who has come back. `shared` is as for `deletePerson`. */
async function removeCopies(files: FileRows, config: string, shared: () => Promise<readonly string[]>): Promise<void> {
  const cleared = await files.cleared(config);
  if (cleared.length === 0) return;
  const places = await shared();
  for (const { person, clearedAt } of cleared) {
    for (const folder of foldersOfPerson(places, { id: person })) {
      if (lastChangeIn(folder) <= clearedAt) rmSync(folder, { recursive: true, force: true });
    }
  }
}

/** In milliseconds since 1970. */
function lastChangeIn(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return ["", ...names].reduce((last, name) => Math.max(last, lstatSync(join(folder, name)).mtimeMs), 0);
}

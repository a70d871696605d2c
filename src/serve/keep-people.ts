/** Deletes what is kept of people who were not here for long. */
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { dayMs } from "../base/units.ts";
import type { Environment } from "../config/environment.ts";
import type { Store } from "../store/store.ts";
import { deletePerson } from "./delete-person.ts";
import { peopleTidyMs } from "./limits.ts";

interface KeepOptions {
  /** The config file. */
  config: string;
  /** Days after which a person who was not here is deleted. Undefined: never. */
  keepDays: () => number | undefined;
  /** The registries and workspaces that the config and its doors share. */
  shared: () => Promise<readonly string[]>;
  store: Store;
  env: Environment;
  log: Log;
}

/** Looks now, and then every hour. Of the processes that share a store, one looks. */
export function keepPeople(options: KeepOptions): Disposable {
  const look = () => void deleteUnseen(options);
  look();
  const timer = setInterval(look, peopleTidyMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

async function deleteUnseen({ config, keepDays, shared, store, env, log }: KeepOptions): Promise<void> {
  const days = keepDays();
  if (days === undefined) return;
  try {
    if (!(await store.mayTidy("people"))) return;
    const before = Date.now() - days * dayMs;
    const unseen = (await store.people.list(config)).filter(({ issuer, lastAt }) => issuer !== "" && lastAt < before);
    if (unseen.length === 0) return;
    const folders = await shared();
    for (const each of unseen) {
      await deletePerson(each, { shared: folders, env, why: `not seen for ${days} days` });
      log.info(`deleted what was kept of person ${each.id}, who was not seen for ${days} days`);
    }
  } catch (error) {
    log.warn(`Cannot delete what is kept of people who were not seen: ${messageOf(error)}`);
  }
}

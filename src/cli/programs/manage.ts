/** Changes of saved programs by a command: they are in the audit log. */
import type { Config } from "../../config/load.ts";
import type { ManageOptions } from "../../programs/saved/manage.ts";
import { openStore } from "../../store/open.ts";
import type { Io } from "../io.ts";

/** Throws what `work` throws. */
export async function managing<T>(
  config: Config,
  { env }: Io,
  work: (options: ManageOptions) => Promise<T>,
): Promise<T> {
  await using store = openStore(env);
  return await work({ place: config.savedPrograms, audit: { config, store, place: "command" } });
}

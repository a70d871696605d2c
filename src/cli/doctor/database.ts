/** Doctor check of a team's database, if the environment names one. */
import { databaseOf } from "../../config/database.ts";
import { openStore } from "../../store/open.ts";
import { type CheckContext, type Finding, findingsOf } from "./finding.ts";

const { ok, failure } = findingsOf("config");

export async function databaseFindings({ env }: CheckContext): Promise<Finding[]> {
  try {
    if (databaseOf(env) === undefined) return [];
    await using store = openStore(env);
    await store.checkWritable();
    return [ok("config.database", "The database that CLAUDIKINS_DATABASE names can be written")];
  } catch (error) {
    return [failure("config.database", error)];
  }
}

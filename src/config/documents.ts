/** Where documents are: in files of the user, or in the database of the team, so that all of its machines have the same. */
import { type Documents, fileDocuments } from "../base/documents.ts";
import { namesDatabase } from "./database.ts";
import type { Environment } from "./environment.ts";

let documentsInDatabase: ((env: Environment) => Documents) | undefined;

/** Sets the function that opens documents in the database of a team. The room `store/` calls it if the environment names a database. */
export function useDatabaseDocuments(open: (env: Environment) => Documents): void {
  documentsInDatabase = open;
}

/** Tokens of `serve --http`, saved programs and their schedules, sign-ins of servers, and credentials of people. */
export function documentsOf(env: Environment): Documents {
  if (!namesDatabase(env)) return fileDocuments;
  if (!documentsInDatabase) throw new Error("loadPostgres was not called");
  return documentsInDatabase(env);
}

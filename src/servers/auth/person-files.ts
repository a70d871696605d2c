/** The documents with the credentials of people: what can be seen of them without a key, and their end. */
import { dirname } from "node:path";
import { ClaudikinsError, systemCodeOf } from "../../base/errors.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { documentsOf } from "../../config/documents.ts";
import type { Environment } from "../../config/environment.ts";
import { personCredentialsFile } from "../../config/locations.ts";

/** `config` is the config file, and `id` the person's id. */
interface PersonOfConfig {
  config: string;
  id: string;
}

/** The servers for which each person has credentials, sorted. Whether they are still accepted is not known. Throws DATABASE_UNAVAILABLE. */
export async function serversOfPeople(people: readonly PersonOfConfig[], env: Environment): Promise<string[][]> {
  const documents = documentsOf(env);
  const files = people.map(({ config, id }) => personCredentialsFile({ config, person: id }, env));
  await documents.ready(files.map(dirname));
  return files.map((file) => serversIn(documents.read(file) ?? ""));
}

function serversIn(text: string): string[] {
  const found = parsedJson(text);
  const servers = isObject(found) && isObject(found["servers"]) ? Object.keys(found["servers"]) : [];
  // A hash of the address is behind the name.
  return [...new Set(servers.map((key) => key.replace(/ [\da-f]+$/, "")))].sort();
}

/** Removes all credentials of a person. Throws FILE_NOT_WRITABLE and DATABASE_UNAVAILABLE. */
export async function removeCredentials({ config, id }: PersonOfConfig, env: Environment): Promise<void> {
  try {
    await documentsOf(env).removeFolder(dirname(personCredentialsFile({ config, person: id }, env)));
  } catch (error) {
    if (error instanceof ClaudikinsError) throw error;
    const why = systemCodeOf(error) ?? "unknown error";
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot remove the credentials of person ${id}: ${why}`, {
      hint: "Check that claudikins can write to its data folder.",
    });
  }
}

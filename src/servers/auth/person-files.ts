/** The files with the credentials of people: what can be seen of them without a key, and their end. */
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { ClaudikinsError, systemCodeOf } from "../../base/errors.ts";
import { readIfThere } from "../../base/files.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import type { Environment } from "../../config/environment.ts";
import { personCredentialsFile } from "../../config/locations.ts";

/** `config` is the config file, and `id` that of the person. */
interface PersonOfConfig {
  config: string;
  id: string;
}

/** The servers for which a person has credentials, sorted. Whether they are still accepted is not known. */
export function serversOfPerson({ config, id }: PersonOfConfig, env: Environment): string[] {
  const found = parsedJson(readIfThere(personCredentialsFile({ config, person: id }, env)) ?? "");
  const servers = isObject(found) && isObject(found["servers"]) ? Object.keys(found["servers"]) : [];
  // A hash of the address is behind the name.
  return [...new Set(servers.map((key) => key.replace(/ [\da-f]+$/, "")))].sort();
}

/** Removes all credentials of a person. Throws FILE_NOT_WRITABLE. */
export function removeCredentials({ config, id }: PersonOfConfig, env: Environment): void {
  try {
    rmSync(dirname(personCredentialsFile({ config, person: id }, env)), { recursive: true, force: true });
  } catch (error) {
    const why = systemCodeOf(error) ?? "unknown error";
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot remove the credentials of person ${id}: ${why}`, {
      hint: "Check that claudikins can write to its data folder.",
    });
  }
}

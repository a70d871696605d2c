/**
 * Records in the user's data folder which config a registry belongs to, and how to start claudikins. The registry must not contain these
 * paths, because it may be shared and sandboxed code can read it.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { writeWhenChanged } from "../base/files.ts";
import { isOlder } from "../base/newer.ts";
import { sha256 } from "../base/sha256.ts";

export interface RegistryOrigin {
  /** The config file; null for the demo. */
  config: string | null;
  /** The door, if the registry belongs to one. */
  door?: string | undefined;
  /** The command that starts this claudikins. */
  command: string[];
  version: string;
}

/** The file for one registry, and the file for registries that were copied or moved, which has no config. */
function filesOf(dataFolder: string, registry: string): [string, string] {
  const name = sha256(realpathSync(registry)).slice(0, 16);
  return [join(dataFolder, "registries", `${name}.json`), join(dataFolder, "executable.json")];
}

/** A process of an older version, such as a daemon that still runs, does not replace the record of a newer one. */
export function noteOrigin(
  dataFolder: string,
  registry: string,
  { config, door, command, version }: RegistryOrigin,
): void {
  const [own, other] = filesOf(dataFolder, registry);
  const write = (file: string, note: object) => writeWhenChanged(file, `${JSON.stringify(note, null, 2)}\n`);
  if (isOfAnother(originOf(dataFolder, registry), { command, version })) return;
  try {
    write(own, { registry, config, door, command, version });
    write(other, { command, version });
  } catch {
    // Without the record, the generated files search for both.
  }
}

/** Whether a newer version, installed at another place, has written the record. */
function isOfAnother(noted: Partial<RegistryOrigin>, own: Pick<RegistryOrigin, "command" | "version">): boolean {
  if (noted.version === undefined || !isOlder(own.version, noted.version)) return false;
  return noted.command?.join("\0") !== own.command.join("\0") && existsSync(noted.command?.[0] ?? "");
}

/** The record; empty if there is none. */
export function originOf(dataFolder: string, registry: string): Partial<RegistryOrigin> {
  for (const file of filesOf(dataFolder, registry)) {
    try {
      return JSON.parse(readFileSync(file, "utf8"));
    } catch {
      // Try the next file.
    }
  }
  return {};
}

/** The entry of a server with the values of `${secret:NAME}` and `${command:…}`, which are read when the server is needed. */
import { transportOf } from "../../config/address.ts";
import type { ServerConfig } from "../../config/load.ts";
import { referencesOf, referringParts, withValues } from "../../config/secrets/references.ts";
import { ServerFailure } from "../failures/server-failure.ts";
import { forgetCommands, type ReadOptions, readValues, ValueMissing } from "./read-values.ts";

export type EntryOptions = Omit<ReadOptions, "folder">;

/** Throws NEEDS_SECRET. The same entry if it has no references. */
export async function withEntryValues<Server extends ServerConfig>(
  server: Server,
  options: EntryOptions,
): Promise<Server> {
  const references = referencesOf(server);
  if (references.size === 0) return server;
  try {
    const values = await readValues(references, { ...options, folder: server.references?.folder });
    const filled = { ...server, ...withValues(referringParts(server), values), written: server };
    if (filled.url === undefined || filled.transport !== "auto") return filled;
    return { ...filled, transport: transportOf(undefined, filled.url) };
  } catch (error) {
    if (!(error instanceof ValueMissing)) throw error;
    const { message: why, hint } = error;
    throw new ServerFailure("NEEDS_SECRET", `Server "${server.name}" ${why}`, { why, hint, lasting: true });
  }
}

/** Makes the next connection run the commands of the entry again. */
export function forgetPrinted(server: ServerConfig, options: EntryOptions): void {
  forgetCommands(referencesOf(server), { ...options, folder: server.references?.folder });
}

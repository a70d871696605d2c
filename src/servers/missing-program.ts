/** Sees without starting a server that it cannot start, because its command or its program does not exist. */
import { existsSync } from "node:fs";
import { basename, isAbsolute, resolve } from "node:path";
import type { Environment } from "../config/environment.ts";
import type { ServerConfig } from "../config/load.ts";
import { hasReference } from "../config/secrets/references.ts";
import { missingFile } from "./missing-module.ts";
import { missingCommand } from "./process-group.ts";

interface Foreseen {
  why: string;
  hint: string;
  missing?: string | undefined;
}

/** Programs that run the file which their first argument names. */
const runtimes = /^(?:node|bun|deno|python[\d.]*|ruby|perl)$/;

/** Undefined if the server may well start. `cwd` is the working directory of servers that name none. */
export function foreseenFailure(
  server: ServerConfig,
  { env, cwd }: { env: Environment; cwd: string },
): Foreseen | undefined {
  // Windows finds commands differently.
  if (server.url !== undefined || server.mistake || server.needs.length > 0 || process.platform === "win32")
    return undefined;
  const { name, command, args } = server;
  if (hasReference([command, args, server.cwd])) return undefined;
  const folder = server.cwd ?? cwd;
  // Every server inherits the path.
  const paths = [server.env["PATH"], env["PATH"]];
  const isThere = command.includes("/") ? existsSync(resolve(folder, command)) : isOnPath(command, paths);
  if (!isThere) return missingCommand(command);
  const [file = ""] = args;
  if (!runtimes.test(basename(command)) || !isAbsolute(file) || existsSync(file)) return undefined;
  const { why, hint, path } = missingFile(file, name);
  return { why, hint, missing: path };
}

/** Without any path, the system looks in folders of its own. */
function isOnPath(command: string, paths: readonly (string | undefined)[]): boolean {
  const given = paths.filter((each) => each !== undefined);
  return given.length === 0 || given.some((each) => Bun.which(command, { PATH: each }) !== null);
}

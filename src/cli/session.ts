/** What the commands that work with servers begin with: the config, and a toolbox made of it. */
import { resolve } from "node:path";
import { type Config, loadConfig } from "../config/load.ts";
import { credentialsFile } from "../config/locations.ts";
import { Toolbox } from "../flows/toolbox.ts";
import { openLog } from "../log.ts";
import { Sandbox } from "../sandbox/sandbox.ts";
import type { Io } from "./io.ts";

/**
 * Starts nothing. A sandbox that was warmed while the arguments were read can be handed in, and a folder for the registry
 * that counts in place of the config's.
 */
export async function openToolbox(
  io: Io,
  configFile: string | undefined,
  sandbox = new Sandbox(),
  registry?: string,
): Promise<Toolbox> {
  const config = await loadConfig({ flag: configFile, cwd: io.cwd, env: io.env });
  if (registry !== undefined) config.folders.registry = resolve(io.cwd, registry);
  return toolboxOf(config, io, io.cwd, sandbox);
}

/** `cwd` is the working directory of servers that name none. */
export async function toolboxOf(config: Config, io: Io, cwd: string, sandbox = new Sandbox()): Promise<Toolbox> {
  const log = await openLog(io.env["CLAUDIKINS_LOG"]);
  return new Toolbox(config, sandbox, { env: io.env, cwd, log, credentialsFile: credentialsFile(io.env) });
}

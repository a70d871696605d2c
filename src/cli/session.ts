/** What the commands that work with servers begin with: the config, and a toolbox made of it. */
import { type Config, loadConfig } from "../config/load.ts";
import { credentialsFile } from "../config/locations.ts";
import { Toolbox } from "../flows/toolbox.ts";
import { openLog } from "../log.ts";
import { Sandbox } from "../sandbox/sandbox.ts";
import type { Io } from "./io.ts";

/** Starts nothing. A sandbox that was warmed while the arguments were read can be handed in. */
export async function openToolbox(io: Io, config: string | undefined, sandbox = new Sandbox()): Promise<Toolbox> {
  return toolboxOf(await loadConfig({ flag: config, cwd: io.cwd, env: io.env }), io, io.cwd, sandbox);
}

/** `cwd` is the working directory of servers that name none. */
export async function toolboxOf(config: Config, io: Io, cwd: string, sandbox = new Sandbox()): Promise<Toolbox> {
  const log = await openLog(io.env["CLAUDIKINS_LOG"]);
  return new Toolbox(config, sandbox, { env: io.env, cwd, log, credentialsFile: credentialsFile(io.env) });
}

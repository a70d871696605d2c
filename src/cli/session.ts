/** What the commands that work with servers begin with: the config, and a toolbox made of it. */
import { resolve } from "node:path";
import type { PoolOptions } from "../clients/pool.ts";
import type { LineMaker } from "../clients/transport.ts";
import { type ConfigOrigin, serverFolder } from "../config/discover.ts";
import { type Config, loadConfig } from "../config/load.ts";
import { credentialsFile, logsFolder } from "../config/locations.ts";
import { shellSessionOf } from "../daemon/protocol.ts";
import { Toolbox } from "../flows/toolbox.ts";
import { type Log, openLog } from "../log.ts";
import { LogFiles } from "../logs/log-files.ts";
import { configOwner } from "../logs/place.ts";
import { Sandbox } from "../sandbox/sandbox.ts";
import { usesDaemon } from "./daemon-flag.ts";
import type { Io } from "./io.ts";

/**
 * Whose servers a command works with. `shell`: those of the daemon, which is started where none runs, as commands before it
 * have left them; `host`: the same, but a server that is not shared is the command's own; `running`: of the daemon only what
 * runs already; `own`: none that anybody else uses.
 */
export type Sharing = "shell" | "host" | "running" | "own";

export interface ToolboxOptions {
  /** One that was warmed while the arguments were read. */
  sandbox?: Sandbox;
  /** A folder that counts in place of the config's. */
  registry?: string | undefined;
  /** `running` where it is not said; `own` where the daemon is not wanted. */
  sharing?: Sharing;
  /** The command's flags, one of which may say that the daemon is not wanted. */
  args?: object;
}

/** Starts nothing. */
export async function openToolbox(
  io: Io,
  configFile: string | undefined,
  options: ToolboxOptions = {},
): Promise<Toolbox> {
  const { sandbox, registry, sharing = "running", args = {} } = options;
  const isShared = usesDaemon(args, io.env);
  const config = await loadConfig({ flag: configFile, cwd: io.cwd, env: io.env });
  if (registry !== undefined) config.folders.registry = resolve(io.cwd, registry);
  const lines = isShared && sharing !== "own" ? sharedLines(config.origin, sharing, io) : undefined;
  return toolboxOf(config, io, { cwd: serverFolder(config.origin, io.cwd), lines }, sandbox);
}

interface Ways extends Pick<PoolOptions, "lines" | "logs"> {
  /** The working directory of servers that name none. */
  cwd: string;
}

export async function toolboxOf(config: Config, io: Io, ways: Ways, sandbox = new Sandbox()): Promise<Toolbox> {
  const log = await openLog(io.env["CLAUDIKINS_LOG"]);
  const logs = logsOf(config, io, log);
  return new Toolbox(config, sandbox, { env: io.env, log, logs, credentialsFile: credentialsFile(io.env), ...ways });
}

/** Where is kept what its servers write; undefined where the config wants nothing kept. */
export function logsOf({ logs, origin }: Config, { env }: Io, log: Log): LogFiles | undefined {
  return logs ? new LogFiles({ folder: logsFolder(env), config: configOwner(origin), log }) : undefined;
}

/** The daemon is looked for when the first server is needed. */
function sharedLines(origin: ConfigOrigin, sharing: Exclude<Sharing, "own">, { env }: Io): LineMaker {
  const isHost = sharing === "host";
  const session = isHost ? `host ${crypto.randomUUID()}` : shellSessionOf(env);
  let made: Promise<LineMaker> | undefined;
  const make = async () => {
    const [{ remoteLines }, { DaemonClient }] = await Promise.all([
      import("../daemon/held/remote-lines.ts"),
      import("../daemon/client.ts"),
    ]);
    const client = () => new DaemonClient(origin.kind === "demo" ? undefined : origin.file, env);
    return remoteLines({ client, session, isShort: isHost, startsNothing: sharing === "running" });
  };
  return async (server, options, wish) => {
    made ??= make();
    return (await made)(server, options, wish);
  };
}

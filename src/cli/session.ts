/** What the commands that work with servers begin with: the config, and a toolbox made of it. */
import { resolve } from "node:path";
import type { ChannelOpener } from "../clients/channel.ts";
import type { PoolOptions } from "../clients/pool.ts";
import { type ConfigOrigin, serverFolder } from "../config/discover.ts";
import type { Config } from "../config/load.ts";
import { baseOfChosen, credentialsFile, logsFolder } from "../config/locations.ts";
import { isAnsweredFor } from "../config/trust/require.ts";
import { rememberFolders } from "../config/trust/written-folders.ts";
import { shellSessionOf } from "../daemon/protocol.ts";
import { guardFolder } from "../guarded-folders.ts";
import { type Log, openLog } from "../log.ts";
import { LogFiles } from "../logs/log-files.ts";
import { configOwner } from "../logs/place.ts";
import { Sandbox } from "../sandbox/sandbox.ts";
import { Toolbox } from "../toolbox/toolbox.ts";
import { type DaemonFlags, usesDaemon } from "./daemon-flag.ts";
import type { Io } from "./io.ts";
import { type ConfigFlags, openConfig } from "./trust-prompt.ts";

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
  /** Whether the person at the terminal may be asked to trust the config: yes, where it is not said. */
  asks?: boolean;
}

/** The command's flags: which config counts, who answers for it, and whether the daemon is wanted. */
export type ToolboxFlags = ConfigFlags & DaemonFlags;

/** Starts nothing, but may ask the person at the terminal whether to trust the config. */
export async function openToolbox(io: Io, flags: ToolboxFlags, options: ToolboxOptions = {}): Promise<Toolbox> {
  return toolboxWith(await openConfig(flags, io, options.asks), io, flags, options);
}

/** The same for a config that is loaded. */
export async function toolboxWith(
  config: Config,
  io: Io,
  flags: ToolboxFlags,
  { sandbox, registry, sharing = "running" }: ToolboxOptions,
): Promise<Toolbox> {
  const isShared = usesDaemon(flags, io.env);
  // Before a flag changes them: a folder that the user names for this call alone is none of a config's.
  if (config.origin.kind !== "demo") rememberFolders(config.folders, config.origin.file, io.env);
  if (registry !== undefined) {
    const chosen = resolve(io.cwd, registry);
    config.folders.registry = chosen;
    config.folders.bases.registry = baseOfChosen(chosen, config.origin);
    guardFolder(chosen, config.folders.bases.registry);
  }
  const openChannel = isShared && sharing !== "own" ? sharedChannels(config.origin, sharing, flags, io) : undefined;
  return toolboxOf(config, io, { cwd: serverFolder(config.origin, io.cwd, io.env), openChannel }, sandbox);
}

interface Ways extends Pick<PoolOptions, "openChannel" | "logs"> {
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
function sharedChannels(
  origin: ConfigOrigin,
  sharing: Exclude<Sharing, "own">,
  { config: flag, trust }: ConfigFlags,
  { env }: Io,
): ChannelOpener {
  const isHost = sharing === "host";
  const session = isHost ? `host ${crypto.randomUUID()}` : shellSessionOf(env);
  const isAnswered = isAnsweredFor({ flag, trust, env });
  let made: Promise<ChannelOpener> | undefined;
  const make = async () => {
    const [{ remoteChannels }, { DaemonClient }] = await Promise.all([
      import("../daemon/held/remote-channels.ts"),
      import("../daemon/client.ts"),
    ]);
    const client = () => new DaemonClient(origin.kind === "demo" ? undefined : origin.file, env, isAnswered);
    return remoteChannels({ client, session, isShort: isHost, startsNothing: sharing === "running" });
  };
  return async (server, options) => {
    made ??= make();
    return (await made)(server, options);
  };
}

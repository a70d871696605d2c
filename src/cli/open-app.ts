/** Opens the app of a command: loads the config and chooses whose servers are used. */
import { resolve } from "node:path";
import { App, type AppOptions as AppSettings } from "../app/app.ts";
import { guardFolder } from "../base/guarded-folders.ts";
import { type Log, openLog } from "../base/log.ts";
import { formatOf } from "../base/program-format.ts";
import { namesDatabase } from "../config/database.ts";
import { type ConfigOrigin, serverFolder } from "../config/discover.ts";
import type { Config } from "../config/load.ts";
import { baseOfChosen, credentialsFile, logsFolder } from "../config/locations.ts";
import { isAnsweredFor } from "../config/trust/require.ts";
import { rememberFolders } from "../config/trust/written-folders.ts";
import { shellSessionOf } from "../daemon/protocol.ts";
import type { OtherBuilds } from "../programs/execution/stored-executions.ts";
import { Sandbox } from "../sandbox/sandbox.ts";
import type { ChannelOpener } from "../servers/connection/channel.ts";
import { LogFiles } from "../servers/logs/log-file.ts";
import { configOwner } from "../servers/logs/place.ts";
import { isKept, keepOwnExecutable, keptExecutable, removeUnneeded } from "../setup/upgrade/kept-executables.ts";
import { type ConfigFlags, type DaemonFlags, openConfig, orOwnMeanwhile, usesDaemon } from "./flags/config-flags.ts";
import { recorderOf } from "./flags/trace-recorder.ts";
import type { Io } from "./io.ts";
import { type TelemetryOptions, telemetryFor } from "./telemetry.ts";

/**
 * The servers that a command works with. `shell`: the daemon's servers, with the state that earlier commands left; the daemon is
 * started if necessary. `host`: the same, but a server that is not shared belongs to the command. `running`: only daemon servers that
 * already run. With `--no-daemon`, only servers of the command.
 */
export type Sharing = "shell" | "host" | "running";

export interface OpenAppOptions
  extends Pick<AppSettings, "person" | "recordings" | "reload" | "trace" | "waitsForApprovals"> {
  /** A sandbox that is already starting. */
  sandbox?: Sandbox;
  /** A registry folder instead of the config's. */
  registry?: string | undefined;
  /** The default is `running`. */
  sharing?: Sharing;
  /** Whether the user may be asked to trust the config. The default is true. */
  asks?: boolean;
  /** Whether the user's own servers are enough while a project's config waits to be trusted. */
  ownMeanwhile?: boolean;
  /** Whether several agents use the app, each with a session of its own. */
  isForMany?: boolean;
  /** Records executions, with `record` also their contents. Without it, nothing is recorded. */
  recording?: { record?: boolean | undefined };
  /** Sends telemetry of executions and calls, if there are settings for it. */
  observed?: TelemetryOptions;
  /** Called at the end with executions that another process can continue, and the config file. */
  whenLeft?: (executions: readonly string[], file: string | undefined) => Promise<unknown>;
}

/** Opens the app without starting a server. May ask the user to trust the config. */
export async function openApp(
  io: Io,
  flags: ConfigFlags & DaemonFlags,
  {
    sandbox,
    registry,
    sharing = "running",
    asks,
    ownMeanwhile = false,
    isForMany = false,
    recording,
    observed,
    whenLeft,
    ...more
  }: OpenAppOptions = {},
): Promise<App> {
  const load = (from: ConfigFlags) => openConfig(from, io, asks);
  const config = await (ownMeanwhile ? orOwnMeanwhile(flags, io, load) : load(flags));
  // Remember the config's own folders before a flag replaces one for this call.
  if (config.origin.kind !== "demo") rememberFolders(config.folders, config.origin.file, io.env);
  if (registry !== undefined) {
    const chosen = resolve(io.cwd, registry);
    config.folders.registry = chosen;
    config.folders.bases.registry = baseOfChosen(chosen, config.origin);
    guardFolder(chosen, config.folders.bases.registry);
  }
  const file = config.origin.kind === "demo" ? undefined : config.origin.file;
  const telemetry = observed && (await telemetryFor(config, io, observed));
  const settings = {
    ...more,
    asksToSignIn: !isForMany,
    // It stays open.
    watchesPrograms: more.reload !== undefined,
    telemetry,
    cwd: serverFolder(config.origin, io.cwd, io.env),
    recorder: recording && (await recorderOf(config, recording, io)),
    whenLeft: whenLeft && ((executions: readonly string[]) => whenLeft(executions, file)),
  };
  // A replica has no daemon: it would need connections to the database of its own, and stay when the replica has ended.
  const isReplica = isForMany && namesDatabase(io.env);
  if (isReplica || !usesDaemon(flags, io.env)) {
    return isForMany ? appForMany(config, settings, io) : appOf(config, io, settings, sandbox);
  }
  const channels = (session: string) => sharedChannels(config.origin, sharing, session, flags, io);
  const session = sharing === "host" ? `host ${crypto.randomUUID()}` : shellSessionOf(io.env);
  const sessionChannels = isForMany ? (each: string) => channels(`${session} ${each}`) : undefined;
  return appOf(config, io, { ...settings, openChannel: channels(session), sessionChannels }, sandbox);
}

/** Without a daemon, this process shares the servers among the sessions. */
async function appForMany(config: Config, settings: OptionalAppSettings, io: Io): Promise<App> {
  const { SharedServers } = await import("../daemon/shared/shared-servers.ts");
  const log = await openLog(io.env["CLAUDIKINS_LOG"]);
  const sharedServers = new SharedServers(log, logsOf(config, io, log), io.env);
  const channels = (session: string) => sharedServers.channels(() => io.env, session, { endsWithCaller: true });
  const own = { openChannel: channels("all"), sessionChannels: channels, ownServers: sharedServers };
  const app = await appOf(config, io, { ...settings, ...own });
  sharedServers.toolsOf = (name) => app.catalog.toolNames(name);
  return app;
}

/** Everything about an app that is not the same for every command. */
type OptionalAppSettings = Pick<AppSettings, "cwd"> & Partial<Omit<AppSettings, "env" | "log">>;

export async function appOf(
  config: Config,
  io: Io,
  settings: OptionalAppSettings,
  sandbox = new Sandbox(),
): Promise<App> {
  const log = await openLog(io.env["CLAUDIKINS_LOG"]);
  const logs = logsOf(config, io, log);
  const otherBuilds = otherBuildsOf(config.origin, io.env);
  const usual = { env: io.env, log, logs, otherBuilds, credentialsFile: credentialsFile(io.env) };
  return new App(config, sandbox, { ...usual, ...settings });
}

/** Executables that were kept because they have another format of saved programs. Each runs as a daemon of its own. */
function otherBuildsOf(origin: ConfigOrigin, env: Io["env"]): OtherBuilds {
  const config = origin.kind === "demo" ? undefined : origin.file;
  const failed = new Set<string>();
  // A kept executable runs the programs of its own format only, and leaves the others to the daemon that has started it.
  const isAble = () => usesDaemon({}, env) && !isKept(env);
  return {
    has: (mark) => isAble() && keptExecutable(env, mark) !== undefined && !failed.has(mark),
    keepOwn: () => void keepOwnExecutable(env),
    removeAllBut: (marks) => removeUnneeded(env, new Set(marks)),
    async continue(mark, id) {
      const command = isAble() ? keptExecutable(env, mark) : undefined;
      if (command === undefined) return false;
      const { continueInOlderDaemon } = await import("../daemon/older-daemon.ts");
      try {
        return await continueInOlderDaemon(id, { format: formatOf(mark), command, config, env });
      } catch (error) {
        // A daemon looks for such programs every few seconds.
        failed.add(mark);
        throw error;
      }
    },
  };
}

/** The log files of the servers, or undefined if the config turns logs off. */
export function logsOf({ logs, origin }: Config, { env }: Io, log: Log): LogFiles | undefined {
  return logs ? new LogFiles({ folder: logsFolder(env), config: configOwner(origin), log }) : undefined;
}

/** Connects to the daemon when the first server is needed. */
function sharedChannels(
  origin: ConfigOrigin,
  sharing: Sharing,
  session: string,
  { config: flag, trust }: ConfigFlags,
  { env }: Io,
): ChannelOpener {
  const isHost = sharing === "host";
  const isAnswered = isAnsweredFor({ flag, trust, env });
  let made: Promise<ChannelOpener> | undefined;
  const make = async () => {
    const [{ remoteChannels }, { DaemonClient }] = await Promise.all([
      import("../daemon/shared/remote-channels.ts"),
      import("../daemon/client.ts"),
    ]);
    const client = () => new DaemonClient(origin.kind === "demo" ? undefined : origin.file, env, isAnswered);
    return remoteChannels({ client, session, endsWithCaller: isHost, startsNothing: sharing === "running" });
  };
  return async (server, options) => {
    made ??= make();
    return (await made)(server, options);
  };
}

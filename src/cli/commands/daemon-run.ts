/** `claudikins daemon run`: the daemon itself. It is started when it is needed; by hand it shows what it does. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { ownCredentials } from "../../app/own-credentials.ts";
import { messageOf } from "../../base/errors.ts";
import { dated, openLog } from "../../base/log.ts";
import { atMost } from "../../base/time-limit.ts";
import { type Config, loadConfig } from "../../config/load.ts";
import { savedProgramsOf } from "../../config/saved-programs-place.ts";
import { watchedFiles } from "../../config/watched-config.ts";
import { CallerEnvironment } from "../../daemon/caller-apps.ts";
import { runDaemon } from "../../daemon/daemon.ts";
import { placeAt, placeOf } from "../../daemon/place.ts";
import { shellSession } from "../../daemon/protocol.ts";
import { SharedServers } from "../../daemon/shared/shared-servers.ts";
import type { ExecutionView } from "../../programs/execution/stored-executions.ts";
import type { Telemetry } from "../../programs/telemetry.ts";
import { onAbort } from "../../servers/abort.ts";
import { command, flag, option } from "../command.ts";
import { configArgs } from "../flags/config-flags.ts";
import { timeUpTo } from "../flags/flags.ts";
import { recorderOf } from "../flags/trace-recorder.ts";
import type { Io } from "../io.ts";
import { maxIdleMs } from "../limits.ts";
import { appOf, logsOf } from "../open-app.ts";
import { guardSignals } from "../signal-guard/guard.ts";
import { telemetryFor } from "../telemetry.ts";

/** How often a daemon that is a service looks whether another one has ended. */
const anotherLookMs = 3_000;

export default command({
  description:
    "Run the daemon, which keeps the servers of a config running for all callers of their tools. It is started automatically when needed.",
  args: {
    ...configArgs,
    demo: flag("Use the demo's config, even if there are config files"),
    socket: option("Socket to listen on (default: where callers look)", { valueHint: "path", complete: "file" }),
    idle: option("Stop after this time without calls (default 5m)", timeUpTo(maxIdleMs)),
    service: flag("Run as a service: do not stop when it is not used, and wait while another daemon runs"),
    json: flag("Print errors as one JSON document"),
  },
  examples: ["claudikins daemon run", "CLAUDIKINS_LOG=debug claudikins daemon run --idle 60m"],
  async run(args, io) {
    let opened: Promise<Telemetry | undefined> | undefined;
    // Once for all tries: it ends with the process.
    const telemetry = (config: Config) => {
      opened ??= telemetryFor(config, io, { isServer: true });
      return opened;
    };
    for (;;) {
      const result = await runOnce(args, io, telemetry);
      if (result === "another" && args.service && (await waited(io.interrupted))) continue;
      // A service manager starts the next one.
      if (result === "replaceable" && !args.service) await startNext(args, io);
      return result === "another" && !args.json ? { note: "A daemon is already running for this config.\n" } : {};
    }
  },
});

/** Waits a moment. Returns whether to go on. */
async function waited(interrupted: AbortSignal): Promise<boolean> {
  await atMost(anotherLookMs, new Promise<void>((resolve) => onAbort(interrupted, resolve)));
  return !interrupted.aborted;
}

/** Starts the daemon that runs scheduled programs from now on. */
async function startNext({ config: flag, demo, trust }: RunFlags, io: Io): Promise<void> {
  const [{ discoverConfig }, { DaemonClient }] = await Promise.all([
    import("../../config/discover.ts"),
    import("../../daemon/client.ts"),
  ]);
  try {
    const origin = demo ? { kind: "demo" as const } : discoverConfig({ flag, cwd: io.cwd, env: io.env });
    const client = new DaemonClient(origin.kind === "demo" ? undefined : origin.file, io.env, trust === true);
    await client.post("/adopt", { executions: [] });
  } catch (error) {
    await io.stderr.write(`Scheduled programs do not run, because no other daemon starts: ${messageOf(error)}\n`);
  }
}

interface RunFlags {
  config?: string | undefined;
  demo?: boolean | undefined;
  trust?: boolean | undefined;
  socket?: string | undefined;
  idle?: number | undefined;
  service?: boolean | undefined;
  json?: boolean | undefined;
}

async function runOnce(
  args: RunFlags,
  io: Io,
  observed: (config: Config) => Promise<Telemetry | undefined>,
): ReturnType<typeof runDaemon> {
  // The flag comes from whoever calls a tool, so it says nothing about trust.
  const { config: flag, demo, trust } = args;
  const load = (view: ExecutionView = {}) =>
    loadConfig({ flag, demo, trust, ...view, isFlagFound: true, cwd: io.cwd, env: io.env });
  const config = await load();
  const { origin, folders } = config;
  const file = origin.kind === "demo" ? undefined : origin.file;
  const place = args.socket === undefined ? placeOf(file, io.env) : placeAt(args.socket);
  const cwd = dirname(file ?? folders.registry);
  // The demo's folder may not exist yet.
  if (file === undefined) mkdirSync(cwd, { recursive: true });
  // The daemon has no terminal: its log is the only account of what it did.
  const log = dated(await openLog(io.env["CLAUDIKINS_LOG"] || "info"));
  using _guard = guardSignals(log);
  const logs = logsOf(config, io, log);
  await using sharedServers = new SharedServers(log, logs, io.env);
  const environment = new CallerEnvironment(io.env);
  const openChannel = sharedServers.channels(environment.now, shellSession);
  const recorder = await recorderOf(config, {}, io);
  const telemetry = await observed(config);
  const stays = { waitsForApprovals: true, watchesPrograms: true };
  await using app = await appOf(config, io, { cwd, logs, openChannel, recorder, telemetry, ...stays });
  sharedServers.toolsOf = (name) => app.catalog.toolNames(name);
  return await runDaemon(app, {
    place,
    sharedServers,
    cwd,
    environment,
    idleMs: args.idle,
    isService: args.service,
    files: watchedFiles(file, Bun.isStandaloneExecutable ? process.execPath : undefined, io.env),
    interrupted: io.interrupted,
    log,
    programsBehind: (door) => savedProgramsOf(origin, io.env, door),
    openDoor: async (view) => {
      const config = await load(view);
      // The person is not here, so there is no token to exchange.
      return app.behindDoor(config, {
        own: await ownCredentials(config, { env: io.env, log, tokenOf: () => undefined }),
      });
    },
    openPage: async () => (await import("../daemon/open-page.ts")).openPage({ file, trust: args.trust, cwd, log }, io),
    onListening: () => void (args.json || io.stderr.write(`Listening at ${place.socket}\n`)),
  });
}

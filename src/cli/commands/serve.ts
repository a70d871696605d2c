/** `claudikins serve`: the MCP server that agents start, or with `--http` a server for many agents. */

import type { App } from "../../app/app.ts";
import type { LockedOptions } from "../../app/locked-app.ts";
import { toClaudikinsError } from "../../base/errors.ts";
import { about, byName, record, text } from "../../base/json-shape.ts";
import { openLog } from "../../base/log.ts";
import { modes, prefixes } from "../../config/defaults.ts";
import { discoverConfig } from "../../config/discover.ts";
import { type Config, mistakeLines } from "../../config/load.ts";
import { userConfigFile } from "../../config/locations.ts";
import { NotTrusted } from "../../config/trust/not-trusted.ts";
import { isAnsweredFor } from "../../config/trust/require.ts";
import { watchedConfig } from "../../config/watched-config.ts";
import { learnLater } from "../../serve/surface/learn-later.ts";
import { command, flag, option } from "../command.ts";
import { continuedInDaemon } from "../daemon/continue-in-daemon.ts";
import { daemonArgs, openConfig, viewArgs } from "../flags/config-flags.ts";
import { oneWordOf } from "../flags/flags.ts";
import { httpArgs, httpChoice } from "../flags/http-flags.ts";
import { recordArgs } from "../flags/trace-recorder.ts";
import type { Io } from "../io.ts";
import { openApp } from "../open-app.ts";
import type { openRecordings } from "../output/record-file.ts";
import { guardSignals, servingBlockedMs } from "../signal-guard/guard.ts";
import { warningLabel } from "../terminal/terminal-output.ts";

export default command({
  description:
    "Run the MCP server that agents connect to, on stdin and stdout or over HTTP. It offers search_tools and execute_code over all configured servers.",
  args: {
    ...httpArgs,
    ...recordArgs,
    "record-folder": option("Over stdio, write a recording of each program to this folder, for claudikins mock", {
      valueHint: "folder",
      complete: "folder",
    }),
    ...daemonArgs,
    ...viewArgs,
    mode: option(
      "What agents see: code (two tools), direct (the servers' own tools) or auto (direct if there are few tools)",
      { valueHint: "mode", ...oneWordOf(modes) },
    ),
    prefix: option("In direct mode, when to prefix tool names with the server's name: never, on-collision or always", {
      valueHint: "when",
      ...oneWordOf(prefixes),
    }),
    json: flag("With --http: print the address and the token's file as one JSON document"),
  },
  examples: [
    "claudikins serve",
    "claude mcp add claudikins -- claudikins serve",
    "claudikins serve --door qa",
    "claudikins serve --http 4600",
    "claudikins serve --mode direct --prefix always",
    "claudikins serve --http 0.0.0.0:4600 --token-env CLAUDIKINS_TOKEN",
  ],
  json: record({ url: text, "doors?": about("The address of each door", byName(text)), "tokenFile?": text }),
  async run(args, io) {
    const choice = httpChoice(args, io);
    const recordTo = args["record-folder"];
    const recordings = recordTo === undefined ? undefined : await recordingFolder(recordTo, choice !== undefined, io);
    if (choice) takeMoreSockets(io);
    // stdin belongs to the agent, so no person can be asked, even at a terminal.
    const place = { flag: args.config, cwd: io.cwd, env: io.env };
    const openAs = async (asks: boolean, config = args.config) => {
      const from = { ...args, config };
      const found = { ...place, flag: config };
      const opened = await openApp(
        io,
        { ...from, skipsConditions: choice === undefined },
        {
          sharing: "host",
          asks,
          isForMany: choice !== undefined,
          waitsForApprovals: true,
          recording: args,
          recordings,
          observed: { isServer: true, http: choice && { metrics: args.metrics === true } },
          // Replicas continue what one of them leaves.
          whenLeft: async (ids, file) =>
            choice && opened.store.continuations ? [] : continuedInDaemon(ids, file, from, io),
          reload: { choice: found, load: () => openConfig(from, io, false), files: watchedConfig(found) },
        },
      );
      applyFlags(opened.config, args);
      return opened;
    };
    const mayShow = () => isAnsweredFor({ ...place, trust: args.trust }) || discoverConfig(place).kind === "user";
    const openOwn = () => openAs(false, userConfigFile(io.env));
    await using app = await openAs(choice !== undefined).catch((error) =>
      lockedApp(error, { open: () => openAs(false), openOwn, asks: choice === undefined, mayShow }, io),
    );
    for (const line of mistakeLines(app.config)) await io.stderr.write(`${warningLabel} ${line}\n`);
    using _guard = guardSignals(app.log, choice && servingBlockedMs);
    using _learning = learnLater(app);
    if (choice) {
      const { serveHttp } = await import("../serve/http.ts");
      await serveHttp(app, choice, { args, place, applyFlags: (config) => applyFlags(config, args) }, io);
    } else {
      if (io.stdin.isTerminal) await io.stderr.write(waitingText);
      const { serveStdio } = await import("../../serve/stdio.ts");
      await serveStdio(app, io.interrupted);
    }
    return {};
  },
});

/** The flags have precedence over the config, and over a door. */
function applyFlags(
  config: Config,
  { mode, prefix }: { mode?: Config["mode"] | undefined; prefix?: Config["prefix"] | undefined },
): void {
  config.mode = mode ?? config.mode;
  config.prefix = prefix ?? config.prefix;
}

/** Shown if a person starts the command at a terminal. */
const waitingText = `Waiting for an agent that speaks MCP on stdin and stdout.
Agents start this command themselves. To set up your agents: claudikins init.
To serve over HTTP: claudikins serve --http 4600. To stop: Ctrl-C.
`;

/** Bun reads this variable once, at its start. The default of 256 is too low: each session holds connections to its network servers. */
const variable = "BUN_CONFIG_MAX_HTTP_REQUESTS";
const sockets = "16384";

/** Restarts this process with a higher limit if possible. Call it before anything is started. */
function takeMoreSockets({ env, restart }: Pick<Io, "env" | "restart">): void {
  if (env[variable] === undefined) restart?.({ [variable]: sockets });
}

/** Loads what makes recordings. Throws USAGE and FILE_NOT_WRITABLE. */
async function recordingFolder(...given: Parameters<typeof openRecordings>) {
  const { openRecordings } = await import("../output/record-file.ts");
  return openRecordings(...given);
}

interface LockedChoices extends Pick<LockedOptions, "open" | "asks"> {
  mayShow: () => boolean;
  /** Opens the app of the user's own config, as if the project had none. */
  openOwn: () => Promise<App>;
}

/**
 * Returns an app that answers until the config is trusted, and for one agent also until it is correct: over HTTP, the config says who may
 * call. Throws every other error.
 */
async function lockedApp(
  error: unknown,
  { mayShow, openOwn, ...options }: LockedChoices,
  { cwd, env, stderr }: Io,
): Promise<App> {
  const { code, message, hint } = toClaudikinsError(error);
  if (code !== "CONFIG_NOT_TRUSTED" && !(code === "CONFIG_INVALID" && options.asks)) throw error;
  await stderr.write(`${warningLabel} ${message}\n${hint === undefined ? "" : `hint: ${hint}\n`}`);
  const [{ LockedApp }, { Sandbox }] = await Promise.all([
    import("../../app/locked-app.ts"),
    import("../../sandbox/sandbox.ts"),
  ]);
  const log = await openLog(env["CLAUDIKINS_LOG"]);
  const isNew = error instanceof NotTrusted && error.request !== undefined && !error.request.before;
  // Without a config of their own, or with one that cannot be used, everything waits.
  const meanwhile = isNew && options.asks ? await openOwn().catch(() => undefined) : undefined;
  return new LockedApp(new Sandbox(), {
    ...options,
    meanwhile,
    why: code,
    showsConfig: code === "CONFIG_INVALID" && mayShow(),
    env,
    cwd,
    log,
  });
}

/** `claudikins serve`: the MCP server that agents start, or with `--http` a server for many agents. */

import type { App } from "../../app/app.ts";
import type { LockedOptions } from "../../app/locked-app.ts";
import { durationText } from "../../base/duration.ts";
import { ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import { about, byName, record, text } from "../../base/json-shape.ts";
import { type Log, openLog } from "../../base/log.ts";
import { modes, prefixes } from "../../config/defaults.ts";
import { type ConfigChoice, discoverConfig } from "../../config/discover.ts";
import { type Config, mistakeLines } from "../../config/load.ts";
import { httpTokenFile, userConfigFile } from "../../config/locations.ts";
import { type Person, requireUsable } from "../../config/oidc.ts";
import { savedProgramsOfAll } from "../../config/saved-programs-place.ts";
import { NotTrusted } from "../../config/trust/not-trusted.ts";
import { isAnsweredFor } from "../../config/trust/require.ts";
import { rememberFolders } from "../../config/trust/written-folders.ts";
import { watchedConfig } from "../../config/watched-config.ts";
import type { ConnectOptions, PersonServers } from "../../page/people/connect.ts";
import type { LivePeople } from "../../policy/people/live-people.ts";
import type { FrontDoorOptions, LeavingTimes, Visitor } from "../../serve/http/front-door.ts";
import type { Replicas } from "../../serve/http/replicas/replicas.ts";
import { learnLater } from "../../serve/learn-later.ts";
import type { LiveTokens } from "../../serve/tokens/live-tokens.ts";
import type { CredentialStore } from "../../servers/auth/credentials.ts";
import { configOwner } from "../../servers/logs/place.ts";
import { command, flag, option } from "../command.ts";
import { configArgs, daemonArgs, doorArgs, openConfig, sharedFolders } from "../config-flags.ts";
import { continuedInDaemon } from "../continue-in-daemon.ts";
import { oneWordOf } from "../flags.ts";
import { type HttpChoice, httpArgs, httpChoice, type KeptToken, keptToken, requireToken } from "../http-flags.ts";
import type { Io } from "../io.ts";
import { openApp } from "../open-app.ts";
import { warningLabel } from "../palette.ts";
import type { openRecordings } from "../record-file.ts";
import { guardSignals } from "../signal-guard/guard.ts";
import { recordArgs } from "../trace-recorder.ts";

/** Time for which a replica still serves after SIGTERM: balancers ask for its health every one or two seconds, and twice before they turn away. */
const usualLameDuckMs = 5_000;

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
    ...configArgs,
    ...doorArgs,
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
    using _guard = guardSignals(app.log);
    using _learning = learnLater(app);
    let people: LivePeople | undefined;
    const openDoor = async (door: string | undefined, visitor?: Visitor) => {
      const files = watchedConfig(place);
      const load = () => openConfig({ ...args, door, person: visitor?.person }, io, false);
      const config = await load();
      if (config.origin.kind !== "demo") rememberFolders(config.folders, config.origin.file, io.env);
      applyFlags(config, args);
      const own = visitor && (await ownCredentialsOf(config, visitor, people, io));
      const identity = visitor && (() => people?.identityOf(visitor.person.id));
      const reload = { choice: place, load, files };
      return (await app.ready(io.interrupted)).behindDoor(config, { reload, own, identity });
    };
    if (choice) {
      await using living = await livePeople(app, choice, io);
      people = living;
      const shared = () => sharedFolders(args.config, io);
      using _keeping = living && (await import("../../serve/keep-people.ts")).keepPeople(app, shared, io.env);
      const serversOf = async (door: string | undefined, { id, name }: Person): Promise<PersonServers> => {
        const person = { id, name };
        const config = await openConfig({ ...args, door, person }, io, false);
        return { servers: config.servers, own: await ownCredentialsOf(config, { person }, people, io) };
      };
      await using tokens = await liveTokens(choice, place);
      if (tokens?.problem !== undefined) await io.stderr.write(`${warningLabel} ${tokens.problem}\n`);
      await serveHttp(
        app,
        { ...choice, tokens, people, door: args.door, openDoor, serversOf, shared },
        args.json === true,
        io,
      );
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

/** The tokens of the config. Undefined if none is required, or if the config file must not even be looked at. */
async function liveTokens({ isOpen }: HttpChoice, place: ConfigChoice): Promise<LiveTokens | undefined> {
  if (isOpen) return undefined;
  const { env } = place;
  let config: string | null;
  try {
    config = configOwner(discoverConfig(place));
  } catch (error) {
    if (toClaudikinsError(error).code !== "CONFIG_NOT_TRUSTED") throw error;
    return undefined;
  }
  const { LiveTokens } = await import("../../serve/tokens/live-tokens.ts");
  return new LiveTokens({ env, config, log: await openLog(env["CLAUDIKINS_LOG"]) });
}

/**
 * The people who sign in as the config says. Undefined if it does not say how. Throws USAGE if other machines could then call without a token,
 * and NEEDS_VARIABLE and CONFIG_INVALID for settings that cannot be used.
 */
async function livePeople(app: App, choice: HttpChoice, { env }: Io): Promise<LivePeople | undefined> {
  const { oidc, origin } = app.config;
  if (!oidc || origin.kind === "demo") {
    requireToken(choice);
    return undefined;
  }
  if (choice.isOpen) {
    throw new ClaudikinsError(
      "USAGE",
      "--without-token cannot be used with auth.oidc, which lets only known people in",
    );
  }
  requireUsable(oidc);
  const [{ LivePeople }, { endPeople }] = await Promise.all([
    import("../../policy/people/live-people.ts"),
    import("../../serve/people.ts"),
  ]);
  return new LivePeople({
    oidc: () => app.config.oidc,
    config: origin.file,
    store: app.store,
    log: app.log,
    withValues: async (part) =>
      (await import("../../servers/values/read-values.ts")).withReadValues(part, "auth.oidc", { env }),
    endPeople: (ids) => endPeople(ids, origin.file, env),
  });
}

/** The credentials of a person for servers that use each person's own. `origin` is our address for the person's browser. */
async function ownCredentialsOf(
  config: Config,
  { person, origin }: Pick<Visitor, "person"> & Partial<Visitor>,
  people: LivePeople | undefined,
  { env }: Io,
): Promise<CredentialStore | undefined> {
  if (!people) return undefined;
  const { ownCredentials } = await import("../../app/own-credentials.ts");
  const log = await openLog(env["CLAUDIKINS_LOG"]);
  return ownCredentials(config, { env, log, origin, tokenOf: (subject) => people.tokenOf(person.id, subject) });
}

interface PageParts extends Pick<FrontDoorOptions, "openDoor">, Pick<ConnectOptions, "serversOf" | "signIns"> {
  /** The folders beside which people have folders of their own. */
  shared: () => Promise<string[]>;
}

/** The page for people, if the config has a client for it. */
async function peoplePage(app: App, people: LivePeople, { openDoor, serversOf, signIns, shared }: PageParts, io: Io) {
  if (people.oidc?.clientId === undefined) return undefined;
  const [{ PeoplePage }, { changePeople }] = await Promise.all([
    import("../../page/people/page.ts"),
    import("../../serve/people.ts"),
  ]);
  return new PeoplePage({
    app,
    people,
    approvals: app.approvals,
    log: app.log,
    openDoor: (door) => openDoor(door),
    serversOf,
    signIns,
    continued: async (execution, config) =>
      // A replica continues it.
      app.store.continuations !== undefined ||
      (await continuedInDaemon([execution], config ?? undefined, {}, io)).includes(execution),
    changePeople: (chosen, what, { id, name }) => changePeople(chosen, what, io.env, { id, name }),
    deletePerson: async (person, { id, name }) => {
      const { deletePerson } = await import("../../serve/delete-person.ts");
      const programs = savedProgramsOfAll(app.config, io.env);
      return deletePerson(person, { shared: await shared(), programs, env: io.env, by: { id, name } });
    },
  });
}

/** Serves until it is interrupted. Running calls may then finish; a second signal ends them. */
async function serveHttp(
  app: App,
  {
    people,
    ...choice
  }: HttpChoice & PageParts & Pick<FrontDoorOptions, "door" | "tokens"> & { people?: LivePeople | undefined },
  json: boolean,
  io: Io,
): Promise<void> {
  const { FrontDoor } = await import("../../serve/http/front-door.ts");
  const gate = people && new (await import("../../serve/http/people-gate.ts")).PeopleGate(people);
  const kept =
    choice.token === undefined && !choice.isOpen && !people ? await keptToken(httpTokenFile(io.env)) : undefined;
  const token = choice.token ?? kept?.token;
  const log = await openLog(io.env["CLAUDIKINS_LOG"]);
  await using replicas = await replicasOf(app, log);
  const page = people && (await peoplePage(app, people, { ...choice, signIns: replicas?.signIns }, io));
  const door = new FrontDoor(app, { ...choice, token, people: gate, page, replicas, log });
  const { url } = door;
  try {
    if (replicas) await join(replicas, url, io);
  } catch (error) {
    await door.close({ lameDuckMs: 0, graceMs: 0 });
    throw error;
  }
  const tokenFile = kept ? { tokenFile: kept.file } : {};
  const addresses = app.config.doors.map((name): [string, string] => [name, url.replace(/\/mcp$/, `/${name}`)]);
  const doors = addresses.length > 0 ? { doors: Object.fromEntries(addresses) } : {};
  await io.stdout.write(json ? `${JSON.stringify({ url, ...doors, ...tokenFile })}\n` : `${url}\n`);
  if (!json) {
    for (const [name, address] of addresses) await io.stderr.write(`The door "${name}": ${address}\n`);
    await io.stderr.write(
      people?.oidc ? `People sign in at ${people.oidc.issuer}\n` : accessText(choice, kept, io.stderr.isTerminal),
    );
  }
  await interruption(io);
  const { graceMs } = choice;
  // Without other replicas, nobody could take the requests.
  const lameDuckMs = choice.lameDuckMs ?? (replicas ? usualLameDuckMs : 0);
  const { running } = door;
  if ((running > 0 || lameDuckMs > 0) && !json) await io.stderr.write(leavingText(running, { lameDuckMs, graceMs }));
  await door.close({ lameDuckMs, graceMs });
}

function leavingText(running: number, { lameDuckMs, graceMs }: LeavingTimes): string {
  const calls = running === 1 ? "1 call is running" : `${running} calls are running`;
  const steps = [
    ...(lameDuckMs > 0 ? [`serving for another ${durationText(lameDuckMs)}`] : []),
    ...(running > 0 ? [`waiting up to ${durationText(graceMs)}`] : []),
  ];
  return `${calls}: ${steps.join(", then ")} (send a second signal to stop now)\n`;
}

/** The processes that share our database. Undefined if it is a file of this machine. */
async function replicasOf({ store }: App, log: Log): Promise<Replicas | undefined> {
  if (!store.replicas) return undefined;
  const { Replicas } = await import("../../serve/http/replicas/replicas.ts");
  return new Replicas({ rows: store.replicas, log });
}

/** Tells the others where they reach us. Throws CONFIG_INVALID and DATABASE_UNAVAILABLE. */
async function join(replicas: Replicas, listensAt: string, { env }: Io): Promise<void> {
  const { replicaUrl } = await import("../../config/replica-url.ts");
  await replicas.join(replicaUrl(env, listensAt));
}

/** Says who can call and how. A new token is printed once, and only to a terminal: stderr may be a log. */
function accessText({ isOpen }: HttpChoice, kept: KeptToken | undefined, isTerminal: boolean): string {
  if (isOpen)
    return `${warningLabel} no token is required: anyone who can reach this address can call all your servers\n`;
  if (!kept) return "";
  const { token, file, isNew } = kept;
  const shown = isNew && isTerminal ? `Token, shown only once: ${token}\n` : "";
  return `${shown}Callers must send the header "Authorization: Bearer TOKEN". The token is in ${file}\n`;
}

function interruption({ interrupted }: Io): Promise<void> {
  return new Promise((resolve) => {
    if (interrupted.aborted) resolve();
    interrupted.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Bun reads this variable once, at its start. The default of 256 is too low: each session holds connections to its network servers. */
const variable = "BUN_CONFIG_MAX_HTTP_REQUESTS";
const sockets = "16384";

/** Restarts this process with a higher limit if possible. Call it before anything is started. */
function takeMoreSockets({ env, restart }: Pick<Io, "env" | "restart">): void {
  if (env[variable] === undefined) restart?.({ [variable]: sockets });
}

/** Loads what makes recordings. Throws USAGE and FILE_NOT_WRITABLE. */
async function recordingFolder(...given: Parameters<typeof openRecordings>) {
  const { openRecordings } = await import("../record-file.ts");
  return openRecordings(...given);
}

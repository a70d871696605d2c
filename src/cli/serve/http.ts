/** `claudikins serve --http`: a server for many agents, its doors, its people and its replicas. */
import type { App } from "../../app/app.ts";
import { durationText } from "../../base/duration.ts";
import { ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import { type Log, openLog } from "../../base/log.ts";
import { type ConfigChoice, discoverConfig } from "../../config/discover.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config } from "../../config/load.ts";
import { httpTokenFile } from "../../config/locations.ts";
import { type Person, requireUsable } from "../../config/oidc.ts";
import { savedProgramsOfAll } from "../../config/saved-programs-place.ts";
import { rememberFolders } from "../../config/trust/written-folders.ts";
import { watchedConfig } from "../../config/watched-config.ts";
import type { PeopleApiOptions } from "../../page/people/api.ts";
import type { ConnectOptions, PersonServers } from "../../page/people/connect.ts";
import type { LivePeople } from "../../policy/people/live-people.ts";
import type { FrontDoorOptions, LeavingTimes, Visitor } from "../../serve/http/front-door.ts";
import type { Replicas } from "../../serve/http/replicas/replicas.ts";
import type { Scim } from "../../serve/scim/scim.ts";
import type { LiveTokens } from "../../serve/tokens/live-tokens.ts";
import type { CredentialStore } from "../../servers/auth/credentials.ts";
import { configOwner } from "../../servers/logs/place.ts";
import { continuedInDaemon } from "../daemon/continue-in-daemon.ts";
import { type ConfigFlags, openConfig, sharedFolders } from "../flags/config-flags.ts";
import { type HttpChoice, type KeptToken, keptToken, requireToken } from "../flags/http-flags.ts";
import type { Io } from "../io.ts";
import { warningLabel } from "../terminal/terminal-output.ts";

/** Time for which a replica still serves after SIGTERM: balancers ask for its health every one or two seconds, and twice before they turn away. */
const usualLameDuckMs = 5_000;

interface HttpServing {
  args: ConfigFlags & { json?: boolean | undefined };
  /** Where the config is looked for. */
  place: ConfigChoice;
  /** Flags have precedence over the config of each door. */
  applyFlags: (config: Config) => void;
}

/** Serves the app, its doors and its people over HTTP until it is interrupted. */
export async function serveHttp(
  app: App,
  choice: HttpChoice,
  { args, place, applyFlags }: HttpServing,
  io: Io,
): Promise<void> {
  await using people = await livePeople(app, choice, io);
  const openDoor = async (door: string | undefined, visitor?: Visitor) => {
    const files = watchedConfig(place);
    const load = () => openConfig({ ...args, door, person: visitor?.person }, io, false);
    const config = await load();
    if (config.origin.kind !== "demo") rememberFolders(config.folders, config.origin.file, io.env);
    applyFlags(config);
    const own = visitor && (await ownCredentialsOf(config, visitor, people, io));
    const identity = visitor && (() => people?.identityOf(visitor.person.id));
    const reload = { choice: place, load, files };
    return (await app.ready(io.interrupted)).behindDoor(config, { reload, own, identity });
  };
  const serversOf = async (door: string | undefined, { id, name }: Person): Promise<PersonServers> => {
    const person = { id, name };
    const config = await openConfig({ ...args, door, person }, io, false);
    return { servers: config.servers, own: await ownCredentialsOf(config, { person }, people, io) };
  };
  const shared = () => sharedFolders(args.config, io);
  using _keeping = people && (await import("../../serve/people/keep-people.ts")).keepPeople(app, shared, io.env);
  await using tokens = await liveTokens(choice, place);
  if (tokens?.problem !== undefined) await io.stderr.write(`${warningLabel} ${tokens.problem}\n`);
  const parts = { tokens, people, door: args.door, openDoor, serversOf, shared };
  await untilInterrupted(app, { ...choice, ...parts }, args.json === true, io);
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
    import("../../serve/people/access.ts"),
  ]);
  return new LivePeople({
    oidc: () => app.config.oidc,
    config: origin.file,
    store: app.store,
    log: app.log,
    withValues: (part) => withValuesOf(part, env),
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
  sessionsOf: PeopleApiOptions["sessionsOf"];
}

/** The page for people, if the config has a client for it. */
async function peoplePage(
  app: App,
  people: LivePeople,
  { openDoor, serversOf, signIns, shared, sessionsOf }: PageParts,
  io: Io,
) {
  if (people.oidc?.clientId === undefined) return undefined;
  const [{ PeoplePage }, { changePeople }] = await Promise.all([
    import("../../page/people/page.ts"),
    import("../../serve/people/access.ts"),
  ]);
  return new PeoplePage({
    app,
    people,
    approvals: app.approvals,
    log: app.log,
    openDoor: (door) => openDoor(door),
    serversOf,
    connects: async ({ door, server, person, origin }, signal) => {
      await using opened = await openDoor(door, { person, origin });
      await opened.pool.listTools(server, { signal });
    },
    signIns,
    sessionsOf,
    continued: async (execution, config) =>
      // A replica continues it.
      app.store.continuations !== undefined ||
      (await continuedInDaemon([execution], config ?? undefined, {}, io)).includes(execution),
    changePeople: (chosen, what, { id, name }) => changePeople(chosen, what, io.env, { by: { id, name } }),
    deletePerson: async (person, { id, name }) => {
      const { deletePerson } = await import("../../serve/people/delete-person.ts");
      const programs = savedProgramsOfAll(app.config, io.env);
      return deletePerson(person, { shared: await shared(), programs, env: io.env, by: { id, name } });
    },
  });
}

/** What a company's directory says about people. Undefined without one. */
async function directoryOf(app: App, people: LivePeople, { env }: Io): Promise<Scim | undefined> {
  const { origin } = app.config;
  if (!people.oidc?.scim || origin.kind === "demo") return undefined;
  const [{ Scim }, { changePeople }] = await Promise.all([
    import("../../serve/scim/scim.ts"),
    import("../../serve/people/access.ts"),
  ]);
  return new Scim({
    oidc: () => people.oidc,
    config: origin.file,
    rows: app.store.directory,
    log: app.log,
    withValues: (part) => withValuesOf(part, env),
    async setAccess(id, what) {
      const person = await app.store.people.get({ config: origin.file, id });
      if (person) await changePeople([person], what, env, { why: "the directory says so" });
    },
  });
}

async function withValuesOf<T>(part: T, env: Environment): Promise<T> {
  return (await import("../../servers/values/read-values.ts")).withReadValues(part, "auth.oidc", { env });
}

/** Serves until it is interrupted. Running calls may then finish; a second signal ends them. */
async function untilInterrupted(
  app: App,
  {
    people,
    ...choice
  }: HttpChoice &
    Omit<PageParts, "sessionsOf"> &
    Pick<FrontDoorOptions, "door" | "tokens"> & { people?: LivePeople | undefined },
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
  const sessionsOf = (id: string) => door.sessionsOf(id);
  const page = people && (await peoplePage(app, people, { ...choice, signIns: replicas?.signIns, sessionsOf }, io));
  const directory = people && (await directoryOf(app, people, io));
  const door: InstanceType<typeof FrontDoor> = new FrontDoor(app, {
    ...choice,
    token,
    people: gate,
    page,
    directory,
    replicas,
    log,
  });
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

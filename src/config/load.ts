/** Loads the config of one call: finds, reads, checks and expands it. Without a config file, the only server is the demo server. */
import { dirname, resolve } from "node:path";
import { ClaudikinsError } from "../base/errors.ts";
import { guardFolder } from "../base/guarded-folders.ts";
import { transportOf } from "./address.ts";
import { type Box, boxOf } from "./box.ts";
import { type Sealing, type SealingEntry, sealingOf, usesOwn } from "./credentials.ts";
import {
  type DefinitionMode,
  defaultDefinitionMode,
  defaultServerTimes,
  defaultSettings,
  definitionModes,
} from "./defaults.ts";
import { type ConfigOrigin, discoverConfig, type FileOrigin, readConfigFile } from "./discover.ts";
import { doorCalled, serversBehind, type ToolView } from "./doors.ts";
import type { Environment } from "./environment.ts";
import { expand } from "./expand.ts";
import { type Llm, llmOf } from "./llm.ts";
import { type Folders, foldersOf, personFolder, userConfigFile } from "./locations.ts";
import { modelServer, modelServerName } from "./model-server.ts";
import { type Oidc, oidcOf, type Person } from "./oidc.ts";
import type { EntryMistake, ParsedConfig } from "./parse.ts";
import { type ParseOptions, parsedConfig } from "./plain-config.ts";
import { type CommonPolicy, ofOwnServer, type PolicyKeys, policyOf, type ServerPolicy } from "./policy.ts";
import type { QuotaOwner, Quotas } from "./quotas.ts";
import { savedProgramsName, savedProgramsServer } from "./saved-programs.ts";
import { type SavedProgramsPlace, savedProgramsOf } from "./saved-programs-place.ts";
import type { NetworkEntry, ServerEntry, StdioEntry } from "./schema.ts";
import { type EntryReferences, entryReferencesOf } from "./secrets/references.ts";
import { selfCommand } from "./self.ts";
import { isSourceKind, placedSource } from "./sources.ts";
import { editsIn, type ServerEdits, type WrittenEdit, withEdits } from "./tool-edits.ts";
import { enabledServers } from "./trust/marks.ts";
import { requireTrust, type TrustOptions } from "./trust/require.ts";
import { keepRulesOut } from "./trust/written-folders.ts";
import { readUserConfig } from "./user-config.ts";

interface Named {
  /** The key in `mcpServers`, not the name that the server gives itself. */
  name: string;
  /** The variables that the entry refers to and that are not set. The server cannot be started until they are. */
  needs: string[];
  /** Variables in its arguments that are not set. Their references are passed on unchanged. */
  unfilled?: string[];
  /** The values that were filled in, by the names of their variables. They may be secrets. */
  variables?: Record<string, string>;
  /** The tools that may be called. Undefined if the config has no rule for the server: all are allowed. */
  policy?: ServerPolicy | undefined;
  /** Given if a project's config has the server from the user's own config. */
  own?: OwnServer;
  /** Whether it is the server of the saved programs, which runs in this process. */
  isSavedPrograms?: true;
  /** Whether it is the server that asks a model for programs, which runs in this process. */
  isModel?: true;
  /** Given if the door has its own processes of the server. */
  door?: string;
  /** The tools that exist behind the door. Undefined: all. */
  view?: ToolView | undefined;
  /** How agents see its tools. Undefined: as the server lists them. */
  edits?: ServerEdits | undefined;
  /** How changed definitions of its tools are treated. Undefined for servers that are part of claudikins, which are not checked. */
  definitions?: DefinitionRule;
  /** Given if the entry refers to values that are read when it is needed. */
  references?: EntryReferences;
  /** Given if the entry has mistakes: the server is shown with the reason, and cannot be started. */
  mistake?: EntryMistake;
  /** The entry before the values of `${secret:NAME}` and `${command:…}` were filled in. Given if they are. */
  written?: ServerConfig;
}

interface DefinitionRule {
  mode: DefinitionMode;
  /** The config file that has the server. */
  config: string;
}

interface OwnServer {
  /** The rules of the user's own config alone. The user's registry follows these, whatever a project adds to them. */
  policy: ServerPolicy | undefined;
}

type Ruled = keyof PolicyKeys | "definitions";

/** A server that is a program on this machine. */
export interface StdioServer extends Named, Omit<StdioEntry, "cwd" | "sandbox" | Ruled> {
  /** Absolute. Undefined means the working directory of the call. */
  cwd?: string | undefined;
  /** What it may read, write and reach. Without it, it has all rights of the user. */
  box?: Box | undefined;
}

/**
 * A server on the network. Its `url` and `headers` may contain secrets. After the variables are filled in, `url` may be invalid. `cwd`, the
 * folder of its `headersHelper`, is absolute.
 */
export interface NetworkServer extends Named, Omit<NetworkEntry, "env" | "sandbox" | Ruled> {
  box?: undefined;
}

/** A stdio server has a `command`, a network server has a `url`. */
export type ServerConfig = StdioServer | NetworkServer;

/** The settings of the file that are used as they are written. */
type Settings = Omit<
  ParsedConfig,
  | "servers"
  | "mistakes"
  | "policy"
  | "sandbox"
  | "tools"
  | "registry"
  | "workspace"
  | "llm"
  | "doors"
  | "quotas"
  | "auth"
>;

export interface Config extends Settings {
  origin: ConfigOrigin;
  /** Enabled servers in the order of the file. It is a Map because a server may have any name, even `__proto__`. */
  servers: Map<string, ServerConfig>;
  /** The servers that the config disables. Only lists show them. */
  disabled: ReadonlyMap<string, ServerConfig>;
  /** The user's own config, if this is the config of a project that extends it. */
  extended?: Extended;
  /** The small model that executes tasks, if one is configured. */
  llm?: Llm | undefined;
  /** How people sign in to `serve --http`. */
  oidc?: Oidc | undefined;
  /** The keys for credentials of people. Given together with `oidc`. */
  sealing?: Sealing | undefined;
  folders: Folders;
  savedPrograms: SavedProgramsPlace;
  /** The limits of use: the config's, and behind a door the door's too. */
  quotas: readonly QuotaOwner[];
  /** The quotas of its doors. */
  doorQuotas?: readonly QuotaOwner[];
  /** The names of its doors. Empty behind a door. */
  doors: readonly string[];
  /** The door, if this is the part of a config that is behind one. */
  door?: string;
  /** The person for whom it is opened: the workspace is the person's own. */
  person?: Person;
  /** The door's text for agents, before the list of servers. */
  instructions?: string | undefined;
}

export interface Extended {
  file: string;
  /** The registry of the user's own servers. A project has its own, which may be committed. */
  registry: string;
  /** The user's servers that are not used here, because the project has servers with their names. */
  replaced: string[];
}

/** The mistakes in the entries of servers, each with its place, for people. */
export function mistakeLines({ servers, disabled }: Pick<Config, "servers" | "disabled">): string[] {
  return [...servers.values(), ...disabled.values()].flatMap(({ name, mistake }) =>
    (mistake?.problems ?? []).map(
      ({ position, text }) => `the server "${name}" is left out: ${mistake?.file}:${position}  ${text}`,
    ),
  );
}

/** `The arguments of "x" have ${NAME}, …`. Undefined if they have no variable that is not set. */
export function unfilledText({ name, unfilled = [] }: Named): string | undefined {
  if (unfilled.length === 0) return undefined;
  const names = unfilled.map((each) => `\${${each}}`).join(", ");
  return `The arguments of "${name}" have ${names}, which is not set and is passed on as it is written`;
}

/** The servers that a project's config has from the user's own. */
export function ownServersOf({ servers }: Pick<Config, "servers">): string[] {
  return [...servers.values()].flatMap(({ name, own }) => (own ? [name] : []));
}

interface LoadOptions extends TrustOptions, ParseOptions {
  /** Uses the demo's config even if there are config files. */
  demo?: boolean | undefined;
  /** Loads only what is behind this door. */
  door?: string | undefined;
  /** Loads the config of this person. */
  person?: Person | undefined;
}

/**
 * Loads the config. Throws CONFIG_NOT_FOUND, FILE_NOT_FOUND, CONFIG_INVALID, DOOR_NOT_FOUND, NEEDS_VARIABLE, and CONFIG_NOT_TRUSTED
 * before any variable is read. A missing variable of a server is not an error.
 */
export async function loadConfig(options: LoadOptions): Promise<Config> {
  const origin: ConfigOrigin = options.demo ? { kind: "demo" } : discoverConfig(options);
  if (origin.kind === "demo") {
    if (options.door !== undefined) doorCalled(options.door, undefined, { file: "The demo", servers: new Map() });
    return withSavedPrograms(demoConfig(origin, options));
  }
  const text = readConfigFile(origin.file);
  const parsed = await parsedConfig(text, origin.file, options);
  await requireTrust({ text, parsed }, origin, options);
  const user = await userConfigFor(origin, options.env, options);
  const config = expandedConfig(parsed, origin, options, user);
  const whole =
    origin.kind === "project" && parsed.extends === "user" ? withOwnServers(config, parsed, user, options) : config;
  const { door, person } = options;
  const shared = door === undefined ? whole : behindDoor(door, whole, { parsed, origin, where: options });
  const seen = person === undefined ? shared : ofPerson(person, shared);
  const loaded = withModel(withSavedPrograms(seen, { policy: parsed.policy, user }), { policy: parsed.policy, user });
  keepRulesOut(loaded.folders, origin.file, options.env);
  return loaded;
}

/** Adds the server of the saved programs, unless the config has a server of that name. */
function withSavedPrograms(
  config: Config,
  { policy, user }: { policy?: CommonPolicy | undefined; user?: ParsedConfig | undefined } = {},
): Config {
  const { servers, disabled, savedPrograms } = config;
  const name = savedProgramsName;
  if (servers.has(name) || disabled.has(name)) return config;
  const rules = { entry: undefined, common: user?.policy };
  const server = savedProgramsServer(savedPrograms, policyOf(name, {}, policy, new Map([[name, {}]]), rules));
  if (server) servers.set(name, server);
  return config;
}

/** Adds the server that asks a model for programs, if the config allows it and has no server of that name. */
function withModel(
  config: Config,
  { policy, user }: { policy: CommonPolicy | undefined; user: ParsedConfig | undefined },
) {
  const { servers, disabled, askModel } = config;
  const name = modelServerName;
  if (!askModel || servers.has(name) || disabled.has(name)) return config;
  const rules = { entry: undefined, common: user?.policy };
  servers.set(name, modelServer(policyOf(name, {}, policy, new Map([[name, {}]]), rules)));
  return config;
}

/** The part of a config that is behind a door. Throws DOOR_NOT_FOUND, CONFIG_INVALID and NEEDS_VARIABLE. */
function behindDoor(
  door: string,
  whole: Config,
  { parsed, origin, where }: { parsed: ParsedConfig; origin: FileOrigin; where: Where },
): Config {
  const all = [...whole.servers.keys(), ...whole.disabled.keys()];
  const servers = new Map([...whole.servers, ...whole.disabled]);
  const entry = doorCalled(door, parsed.doors, { file: origin.file, servers });
  const { mode = whole.mode, instructions, workspace, limits } = entry;
  const given = Object.entries(limits ?? {}).filter(([, limit]) => limit !== undefined);
  const chosen = chosenFolders({ workspace }, origin.file, where.env);
  const { extended: _, ...rest } = whole;
  return {
    ...rest,
    doors: [],
    door,
    instructions,
    mode,
    limits: { ...whole.limits, ...Object.fromEntries(given) },
    servers: new Map([...serversBehind(door, entry, whole.servers, { all, env: where.env })].map(inOneRegistry)),
    disabled: serversBehind(door, entry, whole.disabled, { all, env: where.env }),
    folders: guarded(foldersOf(origin, chosen, { ...where, door })),
    savedPrograms: savedProgramsOf(origin, where.env, door),
    quotas: [...whole.quotas, ...quotasOfDoor(door, entry, origin.file)],
  };
}

/**
 * The config with a workspace of the person, beside the shared one. If a server uses the person's own credentials, the registry is the
 * person's own too, because tools and results of that server may be different for each person.
 */
function ofPerson(person: Person, config: Config): Config {
  const folders = withOwnFolder("workspace", person, config.folders);
  const own = { ...config, doors: [], person };
  if (![...config.servers.values()].some(usesOwn)) return { ...own, folders: guarded(folders) };
  const { extended: _, ...rest } = own;
  const servers = new Map([...config.servers].map(inOneRegistry));
  return { ...rest, servers, folders: guarded(withOwnFolder("registry", person, folders)) };
}

function withOwnFolder(name: "registry" | "workspace", person: Person, { bases, ...folders }: Folders): Folders {
  const shared = folders[name];
  const own = personFolder(shared, person);
  const named = name === "workspace" ? { workspaceName: personFolder(folders.workspaceName, person) } : {};
  return { ...folders, ...named, [name]: own, bases: { ...bases, [name]: bases[name] === shared ? own : bases[name] } };
}

/** The registry has the files of all servers, including the user's own. */
function inOneRegistry([name, { own: _, ...server }]: [string, ServerConfig]): [string, ServerConfig] {
  return [name, server];
}

/**
 * Returns the config that a text would make as the content of `origin.file`, without the servers of another file. Throws CONFIG_INVALID or
 * NEEDS_VARIABLE.
 */
export async function configOf(text: string, origin: FileOrigin, env: Environment): Promise<Config> {
  const parsed = await parsedConfig(text, origin.file);
  const where = { env, cwd: dirname(origin.file) };
  return expandedConfig(parsed, origin, where, await userConfigFor(origin, env));
}

/**
 * Returns the user's own config, whose rules also apply to projects: they can add rules to it but cannot remove any. Returns undefined if
 * there is none, and for the user's config itself. Throws CONFIG_INVALID and FILE_NOT_FOUND: if the file cannot be read, its denials
 * must not be ignored.
 */
async function userConfigFor(
  origin: FileOrigin,
  env: Environment,
  options?: ParseOptions,
): Promise<ParsedConfig | undefined> {
  return origin.kind === "user" ? undefined : readUserConfig(env, options);
}

interface Where {
  env: Environment;
  cwd: string;
}

function expandedConfig(
  parsed: ParsedConfig,
  origin: FileOrigin,
  { env, cwd }: Where,
  user: ParsedConfig | undefined,
): Config {
  const {
    servers: entries,
    mistakes,
    policy: common,
    sandbox,
    tools,
    registry,
    workspace,
    llm,
    doors,
    quotas,
    auth,
    ...settings
  } = parsed;
  const sealing = auth && sealingIn(auth, origin.file, env);
  const enabled = new Map<string, ServerConfig>();
  const disabled = new Map<string, ServerConfig>();
  for (const [name, entry] of entries) {
    const rules = { entry: user?.servers.get(name), common: user?.policy };
    const policy = policyOf(name, entry, common, entries, rules);
    const mode = entry.definitions ?? settings.definitions ?? user?.definitions ?? defaultDefinitionMode;
    const definitions = stricter(mode, user?.servers.get(name)?.definitions);
    const ofUser = user && { entry: rules.entry?.sandbox, common: user.sandbox };
    const box = boxOf({ entry: entry.sandbox, common: sandbox }, ofUser);
    const scene = { file: origin.file, env, policy, box, written: writtenEdits(parsed, name), sealing, definitions };
    const server = expandedServer(name, entry, scene);
    (entry.disabled ? disabled : enabled).set(name, server);
  }
  for (const [name, mistake] of mistakes) {
    (mistake.isDisabled ? disabled : enabled).set(name, mistakenServer(name, mistake));
  }
  // The rules of such an entry would count for the project's server.
  for (const [name, mistake] of user?.mistakes ?? []) {
    if (enabled.has(name)) enabled.set(name, mistakenServer(name, mistake));
  }
  const chosen = chosenFolders({ registry, workspace }, origin.file, env);
  return {
    ...settings,
    origin,
    servers: enabled,
    disabled,
    doors: Object.keys(doors ?? {}),
    llm: llm && llmOf(llm, env),
    oidc: auth?.oidc && oidcOf(auth.oidc, env),
    ...(sealing ? { sealing } : {}),
    folders: guarded(foldersOf(origin, chosen, { env, cwd })),
    savedPrograms: savedProgramsOf(origin, env),
    quotas: quotasOf(quotas, "the config", [origin.file]),
    doorQuotas: Object.entries(doors ?? {}).flatMap(([name, door]) => quotasOfDoor(name, door, origin.file)),
  };
}

function quotasOfDoor(door: string, { quotas }: { quotas?: Quotas | undefined }, file: string): QuotaOwner[] {
  return quotasOf(quotas, `the door "${door}"`, [file, door]);
}

function quotasOf(quotas: Quotas | undefined, name: string, key: string[]): QuotaOwner[] {
  return quotas ? [{ name, key: JSON.stringify(key), quotas }] : [];
}

function writtenEdits({ tools, servers, mistakes }: ParsedConfig, server: string): WrittenEdit[] {
  return editsIn(tools, server, { path: ["tools"], servers: [...servers.keys(), ...mistakes.keys()] });
}

function sealingIn(auth: SealingEntry, file: string, env: Environment): Sealing {
  const sealing = sealingOf(auth, env);
  return { ...sealing, file: sealing.file === undefined ? undefined : resolve(dirname(file), sealing.file) };
}

/** The place of a server whose entry has mistakes. */
function mistakenServer(name: string, mistake: EntryMistake): ServerConfig {
  // Its name is an argument, so that no other server is the same.
  const nothing = { command: "", args: [name], env: {}, needs: [], ...defaultServerTimes };
  return { name, ...nothing, disabled: mistake.isDisabled, mistake };
}

/** What belongs to an entry in the file. */
interface EntryScene {
  file: string;
  env: Environment;
  policy: ServerPolicy | undefined;
  /** For a server that is a program. */
  box: Box | undefined;
  written: WrittenEdit[];
  sealing?: Sealing | undefined;
  definitions: DefinitionMode;
}

/** The server of an entry in the file. */
function expandedServer(
  name: string,
  { allow: _, deny: __, confirm: ___, labels: ____, definitions: _____, sandbox: ______, ...entry }: ServerEntry,
  { file, env, policy, box, written: writtenEdits, sealing, definitions: mode }: EntryScene,
): ServerConfig {
  // A shell fills in the variables of this line: a value that was put into it here could run as a command.
  const helper = entry.url === undefined ? undefined : entry.headersHelper;
  const confined = entry.url === undefined ? { ...entry, box } : entry;
  const written = helper === undefined ? confined : { ...confined, headersHelper: undefined };
  const { value, missing, used: variables, unfilled } = expandedEntry(written, env);
  const needs = usesOwn(entry) ? [...new Set([...missing, ...(sealing?.needs ?? [])])].sort() : missing;
  const references = entryReferencesOf(entry, dirname(file));
  const definitions = { mode, config: file };
  const notes = unfilled.length > 0 ? { unfilled } : {};
  const named = withEdits({ name, needs, variables, policy, definitions, ...notes, ...references }, writtenEdits, env);
  if (value.url === undefined) {
    const folder = value.cwd === undefined ? undefined : resolve(dirname(file), value.cwd);
    return { ...value, ...named, cwd: folder };
  }
  // The transport may depend on a variable.
  const transport = value.transport === "auto" ? transportOf(undefined, value.url) : value.transport;
  const { env: _______, ...given } = value;
  const reached = isSourceKind(transport) ? placedSource(transport, given, dirname(file)) : given;
  return { ...reached, ...named, ...keyFile(value, file), ...helperOf(helper, value, file), transport };
}

/**
 * Fills in the variables of an entry. In its arguments, address and headers, its own `env` comes first. A variable in the arguments that is
 * not set may be meant for the program, so its reference is passed on unchanged.
 */
function expandedEntry<Entry extends Omit<ServerEntry, Ruled>>(entry: Entry, env: Environment) {
  const { args, url, headers, ...rest } = entry as Partial<Pick<StdioEntry, "args"> & NetworkEntry>;
  const others = expand(rest, env);
  const own = others.value.env ?? {};
  const around = { ...env, ...own };
  const words = expand(args ? { args } : {}, around);
  const reach = expand({ ...(url === undefined ? {} : { url }), ...(headers ? { headers } : {}) }, around);
  const filled = Object.entries({ ...words.used, ...reach.used }).filter(([name]) => !Object.hasOwn(own, name));
  return {
    value: { ...others.value, ...words.value, ...reach.value } as Entry,
    missing: [...new Set([...others.missing, ...reach.missing])].sort(),
    used: { ...others.used, ...Object.fromEntries(filled) },
    unfilled: words.missing.filter((name) => !others.missing.includes(name)),
  };
}

/**
 * Adds the servers of the user's own config to a project's. A server of the project takes the place of the user's server with its
 * name, also if it is disabled. All rules of both files apply. Records that the user has turned off stay off. The user's telemetry
 * and `approvals.notify` count if the project has none.
 */
function withOwnServers(config: Config, project: ParsedConfig, user: ParsedConfig | undefined, where: Where): Config {
  const file = userConfigFile(where.env);
  const own = user ? enabledServers(user) : [];
  const names = new Map([...project.servers, ...own]);
  for (const [name, entry] of own) {
    if (project.servers.has(name)) continue;
    const policy = policyOf(name, {}, project.policy, names, { entry, common: user?.policy });
    const alone = policyOf(name, entry, user?.policy, user?.servers ?? new Map());
    const ofUser = policy && ofOwnServer(policy, alone);
    const written = user ? writtenEdits(user, name) : [];
    // A project may be stricter than the user, and not more lenient.
    const definitions = stricter(entry.definitions ?? user?.definitions ?? defaultDefinitionMode, project.definitions);
    const box = boxOf({ entry: entry.sandbox, common: user?.sandbox });
    const scene = { file, env: where.env, policy: ofUser, box, written, definitions };
    const server = expandedServer(name, entry, scene);
    config.servers.set(name, { ...server, own: { policy: alone } });
  }
  for (const [name, mistake] of user?.mistakes ?? []) {
    if (mistake.isDisabled || config.servers.has(name) || config.disabled.has(name)) continue;
    config.servers.set(name, { ...mistakenServer(name, mistake), own: { policy: undefined } });
  }
  const chosen = user ? chosenFolders({ registry: user.registry }, file, where.env) : {};
  const { registry, bases } = foldersOf({ kind: "user", file }, chosen, where);
  guardFolder(registry, bases.registry);
  const replaced = own.flatMap(([name]) => (project.servers.has(name) ? [name] : []));
  const records = user ? lessRecorded(config, user) : {};
  const telemetry = config.telemetry ?? user?.telemetry;
  const notify = config.approvals.notify ?? user?.approvals.notify;
  const approvals = { ...config.approvals, ...(notify ? { notify } : {}) };
  return {
    ...config,
    ...records,
    approvals,
    ...(telemetry ? { telemetry } : {}),
    extended: { file, registry, replaced },
  };
}

function stricter(one: DefinitionMode, other: DefinitionMode = "trust"): DefinitionMode {
  return definitionModes.indexOf(one) > definitionModes.indexOf(other) ? one : other;
}

function lessRecorded(config: Config, user: ParsedConfig): Partial<Config> {
  return {
    stats: config.stats && user.stats,
    callLog: user.callLog.keepDays === 0 ? user.callLog : config.callLog,
    hooks: config.hooks && user.hooks,
    logs: config.logs && user.logs,
    observe: config.observe && user.observe,
    record: user.record && config.record,
  };
}

function helperOf(
  line: string | undefined,
  { cwd }: Pick<NetworkEntry, "cwd">,
  file: string,
): Pick<NetworkEntry, "headersHelper" | "cwd"> {
  return line === undefined ? {} : { headersHelper: line, cwd: resolve(dirname(file), cwd ?? ".") };
}

function keyFile({ oauth }: NetworkEntry, file: string): Pick<NetworkEntry, "oauth"> {
  if (!oauth || oauth.privateKeyFile === undefined) return {};
  return { oauth: { ...oauth, privateKeyFile: resolve(dirname(file), oauth.privateKeyFile) } };
}

/** Expands the folders of the config. Throws NEEDS_VARIABLE, because nothing works without the folders. */
function chosenFolders(folders: Partial<Pick<ParsedConfig, "registry" | "workspace">>, file: string, env: Environment) {
  const { value, missing } = expand(folders, env);
  if (missing.length === 0) return value;
  const names = missing.join(", ");
  throw new ClaudikinsError("NEEDS_VARIABLE", `The folders in ${file} need ${names} in the environment`, {
    hint: `Set ${names} before starting claudikins, or add a default to the config: \${${missing[0]}:-value}.`,
  });
}

/** The config of a process that may not use the real one yet: no servers, no records, and no folder of a project. */
export function emptyConfig(env: Environment): Config {
  const kept = {
    stats: false,
    callLog: { keepDays: 0 },
    hooks: false,
    logs: false,
    observe: false,
    record: false,
  } as const;
  return { ...demoConfig({ kind: "demo" }, { env, cwd: "/" }), servers: new Map(), ...kept };
}

/** Guards the folders. It is called before anything is read or written in them. */
function guarded(folders: Folders): Folders {
  guardFolder(folders.registry, folders.bases.registry);
  guardFolder(folders.workspace, folders.bases.workspace);
  return folders;
}

function demoConfig(origin: ConfigOrigin, where: Where): Config {
  const [command, ...args] = selfCommand("demo");
  const demo: ServerConfig = {
    name: "demo",
    command,
    args,
    env: {},
    cwd: undefined,
    disabled: false,
    category: "business",
    description: "the made-up back office of a small shop: orders, customers, stock, tickets",
    ...defaultServerTimes,
    needs: [],
  };
  return {
    ...defaultSettings,
    origin,
    servers: new Map([["demo", demo]]),
    disabled: new Map(),
    doors: [],
    folders: guarded(foldersOf({ kind: "demo" }, {}, where)),
    savedPrograms: savedProgramsOf(origin, where.env),
    quotas: [],
  };
}

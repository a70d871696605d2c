/** Loads the config of one call: finds, reads, checks and expands it. Without a config file, the only server is the demo server. */
import { dirname, resolve } from "node:path";
import { ClaudikinsError } from "../errors.ts";
import { readIfThere } from "../files.ts";
import { guardFolder } from "../guarded-folders.ts";
import { transportOf } from "./address.ts";
import { defaultServerTimes, defaultSettings } from "./defaults.ts";
import { type ConfigOrigin, discoverConfig, type FileOrigin, readConfigFile } from "./discover.ts";
import type { Environment } from "./environment.ts";
import { expand } from "./expand.ts";
import { type Llm, llmOf } from "./llm.ts";
import { type Folders, foldersOf, userConfigFile } from "./locations.ts";
import type { ParsedConfig } from "./parse.ts";
import { parsedConfig } from "./plain-config.ts";
import { type PolicyKeys, policyOf, type ServerPolicy } from "./policy.ts";
import type { NetworkEntry, StdioEntry } from "./schema.ts";
import { selfCommand } from "./self.ts";
import { requireTrust, type TrustOptions } from "./trust/require.ts";
import { keepRulesOut } from "./trust/written-folders.ts";

interface Named {
  /** The key in `mcpServers`, not the name that the server gives itself. */
  name: string;
  /** The variables that the entry refers to and that are not set. The server cannot be started until they are. */
  needs: string[];
  /** The values that were filled in, by the names of their variables. They may be secrets. */
  variables?: Record<string, string>;
  /** Which of its tools may be called. Undefined if the config has no rule for the server: all tools are allowed. */
  policy?: ServerPolicy | undefined;
}

type Ruled = keyof PolicyKeys;

/** A server that is a program on this machine. */
export interface StdioServer extends Named, Omit<StdioEntry, "cwd" | Ruled> {
  /** Absolute. Undefined means the working directory of the call. */
  cwd?: string | undefined;
}

/**
 * A server on the network. Its `url` and `headers` may contain secrets. After the variables are filled in, `url` may be invalid. `cwd`, the
 * folder of its `headersHelper`, is absolute.
 */
export interface NetworkServer extends Named, Omit<NetworkEntry, Ruled> {}

/** A stdio server has a `command`, a network server has a `url`. */
export type ServerConfig = StdioServer | NetworkServer;

/** The settings of the file that are used as they are written. */
type Settings = Omit<ParsedConfig, "servers" | "policy" | "registry" | "workspace" | "llm">;

export interface Config extends Settings {
  origin: ConfigOrigin;
  /** Enabled servers in the order of the file. It is a Map because a server may have any name, even `__proto__`. */
  servers: Map<string, ServerConfig>;
  /** The small model that executes tasks, if one is configured. */
  llm?: Llm | undefined;
  folders: Folders;
}

interface LoadOptions extends TrustOptions {
  /** Uses the demo's config even if there are config files. */
  demo?: boolean | undefined;
}

/**
 * Loads the config. Throws CONFIG_NOT_FOUND, FILE_NOT_FOUND, CONFIG_INVALID, NEEDS_VARIABLE, and CONFIG_NOT_TRUSTED before any
 * variable is read. A missing variable of a server is not an error.
 */
export async function loadConfig(options: LoadOptions): Promise<Config> {
  const origin: ConfigOrigin = options.demo ? { kind: "demo" } : discoverConfig(options);
  if (origin.kind === "demo") return demoConfig(origin, options);
  const text = readConfigFile(origin.file);
  const parsed = await parsedConfig(text, origin.file);
  requireTrust({ text, parsed }, origin, options);
  const config = expandedConfig(parsed, origin, options, await userPolicyFor(origin, options.env));
  keepRulesOut(config.folders, origin.file, options.env);
  return config;
}

/** Returns the config that a text would make as the content of `origin.file`. Throws CONFIG_INVALID or NEEDS_VARIABLE. */
export async function configOf(text: string, origin: FileOrigin, env: Environment): Promise<Config> {
  const parsed = await parsedConfig(text, origin.file);
  const where = { env, cwd: dirname(origin.file) };
  return expandedConfig(parsed, origin, where, await userPolicyFor(origin, env));
}

/**
 * Returns the `policy` of the user's own config, which also applies to projects and the demo: they can add rules to it but cannot
 * remove any. Returns undefined if there is none, and for the user's config itself, which already contains it. Throws CONFIG_INVALID
 * and FILE_NOT_FOUND: if the file cannot be read, its denials must not be ignored.
 */
async function userPolicyFor(origin: FileOrigin, env: Environment): Promise<PolicyKeys | undefined> {
  if (origin.kind === "user") return undefined;
  const file = userConfigFile(env);
  const text = readIfThere(file);
  // The key may be written with Unicode escapes.
  if (text === undefined || !/"policy"|\\u/.test(text)) return undefined;
  return (await parsedConfig(text, file)).policy;
}

interface Where {
  env: Environment;
  cwd: string;
}

function expandedConfig(
  parsed: ParsedConfig,
  origin: FileOrigin,
  { env, cwd }: Where,
  userPolicy: PolicyKeys | undefined,
): Config {
  const { servers: entries, policy: common, registry, workspace, llm, ...settings } = parsed;
  const servers = new Map<string, ServerConfig>();
  for (const [name, { allow, deny, confirm, ...entry }] of entries) {
    if (entry.disabled) continue;
    const policy = policyOf(name, { allow, deny, confirm }, common, entries, userPolicy);
    // A shell fills in the variables of this line: a value that was put into it here could run as a command.
    const helper = entry.url === undefined ? undefined : entry.headersHelper;
    const written = helper === undefined ? entry : { ...entry, headersHelper: undefined };
    const { value, missing: needs, used: variables } = expand(written, env);
    const named = { name, needs, variables, policy };
    if (value.url === undefined) {
      const folder = value.cwd === undefined ? undefined : resolve(dirname(origin.file), value.cwd);
      servers.set(name, { ...value, ...named, cwd: folder });
    } else {
      // The transport may depend on a variable.
      const transport = value.transport === "auto" ? transportOf(undefined, value.url) : value.transport;
      servers.set(name, {
        ...value,
        ...named,
        ...keyFile(value, origin.file),
        ...helperOf(helper, value, origin.file),
        transport,
      });
    }
  }
  const chosen = chosenFolders({ registry, workspace }, origin.file, env);
  return {
    ...settings,
    origin,
    servers,
    llm: llm && llmOf(llm, env),
    folders: guarded(foldersOf(origin, chosen, { env, cwd })),
  };
}

function helperOf(line: string | undefined, { cwd }: NetworkEntry, file: string): Partial<NetworkEntry> {
  return line === undefined ? {} : { headersHelper: line, cwd: resolve(dirname(file), cwd ?? ".") };
}

function keyFile({ oauth }: NetworkEntry, file: string): Pick<NetworkEntry, "oauth"> {
  if (!oauth || oauth.privateKeyFile === undefined) return {};
  return { oauth: { ...oauth, privateKeyFile: resolve(dirname(file), oauth.privateKeyFile) } };
}

/** Expands the folders of the config. Throws NEEDS_VARIABLE, because nothing works without the folders. */
function chosenFolders(folders: Pick<ParsedConfig, "registry" | "workspace">, file: string, env: Environment) {
  const { value, missing } = expand(folders, env);
  if (missing.length === 0) return value;
  const names = missing.join(", ");
  throw new ClaudikinsError("NEEDS_VARIABLE", `The folders in ${file} need ${names} in the environment`, {
    hint: `Set ${names} before starting claudikins, or add a default to the config: \${${missing[0]}:-value}.`,
  });
}

/** The config of a process that may not use the real one yet: no servers, no records, and no folder of a project. */
export function emptyConfig(env: Environment): Config {
  const kept = { stats: false, hooks: false, logs: false, observe: false, record: false } as const;
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
    folders: guarded(foldersOf({ kind: "demo" }, {}, where)),
  };
}

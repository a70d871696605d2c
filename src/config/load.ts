/** Loads the config of one call: finds, reads, checks and expands it. Without a config file, the only server is the demo server. */
import { dirname, resolve } from "node:path";
import { ClaudikinsError } from "../errors.ts";
import { guardFolder } from "../guarded-folders.ts";
import { transportOf } from "./address.ts";
import {
  defaultLimits,
  defaultRecord,
  defaultServe,
  defaultServerTimes,
  defaultSurfaceTokens,
  type Mode,
  type Prefix,
  type RecordMode,
} from "./defaults.ts";
import { type ConfigOrigin, discoverConfig, type FileOrigin, readConfigFile } from "./discover.ts";
import type { Environment } from "./environment.ts";
import { type Expanded, expand } from "./expand.ts";
import { type Llm, llmOf } from "./llm.ts";
import { type Folders, foldersOf } from "./locations.ts";
import type { ParsedConfig } from "./parse.ts";
import { type PolicyKeys, policyOf, type ServerPolicy } from "./policy.ts";
import { parsedConfig } from "./read.ts";
import type { Limits, NetworkEntry, StdioEntry } from "./schema.ts";
import { selfCommand } from "./self.ts";
import { type Read, requireTrust, type TrustOptions } from "./trust/require.ts";
import { keepRulesOut } from "./trust/written-folders.ts";
import { userPolicyFor } from "./user-policy.ts";

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
 * A server on the network. Its `url` and `headers` may contain secrets. After the variables are filled in, `url` may be invalid.
 */
export interface NetworkServer extends Named, Omit<NetworkEntry, Ruled> {}

/** A stdio server has a `command`, a network server has a `url`. */
export type ServerConfig = StdioServer | NetworkServer;

export interface Config {
  origin: ConfigOrigin;
  /** Enabled servers in the order of the file. It is a Map because a server may have any name, even `__proto__`. */
  servers: Map<string, ServerConfig>;
  limits: Limits;
  check: "error" | "warn" | "off";
  /** Whether the shapes of results are kept. */
  observe: boolean;
  /** Maximum tokens that an agent loads from `serve`. */
  surfaceTokens: number;
  mode: Mode;
  prefix: Prefix;
  directTokens: number;
  /** Whether calls and characters are counted. */
  stats: boolean;
  /** Whether the uses of the texts that lead agents to the registry are counted. */
  hooks: boolean;
  /** Whether the stderr of servers is kept. */
  logs: boolean;
  /** The small model that executes tasks, if one is configured. */
  llm?: Llm | undefined;
  /** Whether agents get the tool that executes tasks. */
  executeTask: boolean;
  /** The data that claudikins records about an execution. */
  record: RecordMode | false;
  folders: Folders;
}

export interface LoadOptions extends TrustOptions {
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
  const config = expandedConfig({ text, parsed }, origin, options, await userPolicyFor(origin, options.env));
  keepRulesOut(config.folders, origin.file, options.env);
  return config;
}

/** Returns the config that a text would make as the content of `origin.file`. Throws CONFIG_INVALID or NEEDS_VARIABLE. */
export async function configOf(text: string, origin: FileOrigin, env: Environment): Promise<Config> {
  const parsed = await parsedConfig(text, origin.file);
  const where = { env, cwd: dirname(origin.file) };
  return expandedConfig({ text, parsed }, origin, where, await userPolicyFor(origin, env));
}

interface Where {
  env: Environment;
  cwd: string;
}

function expandedConfig(
  { text, parsed }: Read,
  origin: FileOrigin,
  { env, cwd }: Where,
  userPolicy: PolicyKeys | undefined,
): Config {
  const servers = new Map<string, ServerConfig>();
  // Most configs have no variables, so expanding can be skipped. The escape `\u0024` could stand for a `$`.
  const hasVariables = text.includes("${") || text.includes("\\u");
  for (const [name, { allow, deny, confirm, ...entry }] of parsed.servers) {
    if (entry.disabled) continue;
    const policy = policyOf(name, { allow, deny, confirm }, parsed.policy, parsed.servers, userPolicy);
    const { value, missing, used: variables } = hasVariables ? expand(entry, env) : asItIs(entry);
    if (value.url !== undefined) {
      // The transport may depend on a variable.
      const transport = value.transport === "auto" ? transportOf(undefined, value.url) : value.transport;
      servers.set(name, {
        ...value,
        ...keyFile(value, origin.file),
        transport,
        name,
        needs: missing,
        variables,
        policy,
      });
      continue;
    }
    servers.set(name, {
      ...value,
      name,
      cwd: value.cwd === undefined ? undefined : resolve(dirname(origin.file), value.cwd),
      needs: missing,
      variables,
      policy,
    });
  }
  const chosen = chosenFolders(parsed, origin.file, env);
  return {
    origin,
    servers,
    limits: parsed.limits,
    check: parsed.check,
    observe: parsed.observe,
    surfaceTokens: parsed.surfaceTokens,
    mode: parsed.mode,
    prefix: parsed.prefix,
    directTokens: parsed.directTokens,
    stats: parsed.stats,
    hooks: parsed.hooks,
    logs: parsed.logs,
    llm: parsed.llm && llmOf(parsed.llm, env),
    executeTask: parsed.executeTask,
    record: parsed.record,
    folders: guarded(foldersOf(origin, chosen, { env, cwd })),
  };
}

const asItIs = <T>(value: T): Expanded<T> => ({ value, missing: [], used: {} });

function keyFile({ oauth }: NetworkEntry, file: string): Pick<NetworkEntry, "oauth"> {
  if (!oauth || oauth.privateKeyFile === undefined) return {};
  return { oauth: { ...oauth, privateKeyFile: resolve(dirname(file), oauth.privateKeyFile) } };
}

/** Expands the folders of the config. Throws NEEDS_VARIABLE, because nothing works without the folders. */
function chosenFolders({ registry, workspace }: ParsedConfig, file: string, env: Environment) {
  const { value, missing } = expand({ registry, workspace }, env);
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
    origin,
    servers: new Map([["demo", demo]]),
    limits: defaultLimits,
    check: "error",
    observe: true,
    surfaceTokens: defaultSurfaceTokens,
    ...defaultServe,
    stats: true,
    hooks: true,
    logs: true,
    executeTask: false,
    record: defaultRecord,
    folders: guarded(foldersOf({ kind: "demo" }, {}, where)),
  };
}

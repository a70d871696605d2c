/**
 * Reads config files. Common ones need no schema library and no positions for errors, which saves 11 ms of an `exec` that calls no
 * server, and of the start of `serve` (measured with the executable).
 */
import { isObject, parsedJson } from "../base/json-object.ts";
import { addressProblem, headerName, headerValue, networkTypeOf, registryProblem, transportOf } from "./address.ts";
import {
  defaultApprovals,
  defaultCallLog,
  defaultExecutions,
  defaultLimits,
  defaultServerTimes,
  defaultSettings,
  definitionModes,
} from "./defaults.ts";
import { maxRegistries, maxRegistryTimeoutMs } from "./limits.ts";
import type { ParsedConfig } from "./parse.ts";
import { type CommonPolicy, commonKeys, policyKeys } from "./policy.ts";
import { commonProblems, policyProblems } from "./policy-problems.ts";
import type { NetworkEntry, RegistryEntry, ServerEntry, StdioEntry } from "./schema.ts";

export interface ParseOptions {
  /**
   * Leaves the conditions of rules unchecked, which saves 12 ms at the start of `serve`. A condition with a mistake then counts for each call
   * that it is asked about.
   */
  skipsConditions?: boolean | undefined;
}

/** Returns the checked values of a config file's text. Throws CONFIG_INVALID. */
export async function parsedConfig(
  text: string,
  file: string,
  { skipsConditions = false }: ParseOptions = {},
): Promise<ParsedConfig> {
  const parsed = readPlainConfig(text) ?? (await import("./parse.ts")).parseConfig(text, file);
  if (!skipsConditions && parsed.policy?.rules) {
    const { checkConditions } = await import("./check-conditions.ts");
    await checkConditions(parsed, text, file);
  }
  return parsed;
}

/**
 * Returns what `parseConfig` returns if the text is strict JSON and has only the keys that agents commonly use. Returns undefined
 * for any other text, valid or not: `parseConfig` has to decide about that.
 */
export function readPlainConfig(text: string): ParsedConfig | undefined {
  const config = parsed(text);
  if (!isObject(config)) return undefined;
  const { $schema: _, mcpServers, extends: base = defaultSettings.extends, policy, registries, ...rest } = config;
  if (!isObject(mcpServers) || Object.keys(rest).length > 0) return undefined;
  if (base !== "user" && base !== false) return undefined;
  if (policy !== undefined && !isPolicy(policy, Object.keys(mcpServers))) return undefined;
  const registryEntries = registries === undefined ? [] : plainRegistries(registries);
  if (!registryEntries) return undefined;
  const servers = new Map<string, ServerEntry>();
  for (const [name, raw] of Object.entries(mcpServers)) {
    const entry = isObject(raw) && name !== "" ? plainEntry(raw) : undefined;
    if (!entry) return undefined;
    servers.set(name, entry);
  }
  return {
    servers,
    mistakes: new Map(),
    ...defaultSettings,
    extends: base,
    limits: { ...defaultLimits },
    executions: { ...defaultExecutions },
    approvals: { ...defaultApprovals },
    callLog: { ...defaultCallLog },
    ...(policy === undefined ? {} : { policy }),
    ...(registries === undefined ? {} : { registries: registryEntries }),
  };
}

/** Returns undefined for duplicate keys, which `JSON.parse` accepts silently, and for texts with `__proto__`. */
function parsed(text: string): unknown {
  const value = parsedJson(text);
  const isWhole = JSON.stringify(value)?.replace(/\s+/g, "") === text.replace(/\s+/g, "");
  // References of every kind, such as `${secret:NAME}`, are checked by the full parser. `${NAME:-default}` is a variable.
  return isWhole && !text.includes("__proto__") && !/\$\{[a-z]+:(?!-)/.test(text) ? value : undefined;
}

function plainEntry(raw: Record<string, unknown>): ServerEntry | undefined {
  const defaults = { disabled: false, ...defaultServerTimes };
  if (hasOnly(raw, stdioKeys) && raw["command"] !== undefined) {
    return { args: [], env: {}, ...defaults, ...raw } as unknown as StdioEntry;
  }
  if (!hasOnly(raw, networkKeys) || typeof raw["url"] !== "string") return undefined;
  const { type, url, ...rest } = raw;
  const transport = transportOf(type, url);
  if (addressProblem(url, transport) !== undefined) return undefined;
  return { headers: {}, ...defaults, ...rest, url, transport } as unknown as NetworkEntry;
}

function isPolicy(value: unknown, servers: readonly string[]): value is CommonPolicy {
  return (
    isObject(value) &&
    Object.keys(value).every((key) => (commonKeys as readonly string[]).includes(key)) &&
    commonProblems(value, servers).length === 0
  );
}

/** Undefined if the value has to be checked by the full parser. An address alone is short for an object. */
function plainRegistries(value: unknown): RegistryEntry[] | undefined {
  if (!Array.isArray(value) || value.length > maxRegistries) return undefined;
  const entries = value.map((each) => (typeof each === "string" ? { url: each } : each));
  const arePlain = entries.every((each) => isObject(each) && "url" in each && hasOnly(each, registryKeys));
  return arePlain ? entries : undefined;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string" && value !== "";
const isTexts: Check = (value) => Array.isArray(value) && value.every((each) => typeof each === "string");
const isEnvironment: Check = (value) => isObject(value) && isTexts(Object.values(value));
const areHeaders: Check = (value) =>
  isObject(value) &&
  Object.entries(value).every(
    ([key, text]) => headerName.test(key) && typeof text === "string" && headerValue.test(text),
  );

const anyServer: [string, Check][] = [
  ["description", isText],
  ["account", (value) => typeof value === "string" && /^[\w@. -]{1,64}$/.test(value)],
  ["disabled", (value) => typeof value === "boolean"],
  ["session", (value) => value === "shared" || value === "private"],
  ["definitions", (value) => (definitionModes as readonly unknown[]).includes(value)],
  ...policyKeys.map((key): [string, Check] => [key, (value) => policyProblems({ [key]: value }).length === 0]),
];

const stdioKeys: ReadonlyMap<string, Check> = new Map([
  ["type", (value) => value === "stdio" || value === "local"],
  ["command", isText],
  ["args", isTexts],
  ["env", isEnvironment],
  ["cwd", isText],
  [
    "inherit",
    (value) => value === "minimal" || (isTexts(value) && (value as string[]).every((each) => /^\w+$/.test(each))),
  ],
  ...anyServer,
]);

const networkKeys: ReadonlyMap<string, Check> = new Map([
  ["type", (value) => networkTypeOf(value) !== undefined],
  ["url", isText],
  ["headers", areHeaders],
  ...anyServer,
]);

const registryKeys: ReadonlyMap<string, Check> = new Map([
  ["url", (value) => typeof value === "string" && registryProblem(value) === undefined],
  ["headers", areHeaders],
  ["timeoutMs", (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= maxRegistryTimeoutMs],
]);

function hasOnly(raw: Record<string, unknown>, checks: ReadonlyMap<string, Check>): boolean {
  return Object.entries(raw).every(([key, value]) => checks.get(key)?.(value) ?? false);
}

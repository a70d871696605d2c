/**
 * Which tools may be called, and which only when somebody says yes: `allow`, `deny` and `confirm` of an entry, with names of
 * its tools, and of `policy`, with `server.tool`. Both readers of the config ask here what is wrong with them.
 */
import { misspelling } from "../near-names.ts";
import { pathText } from "./path-text.ts";
import { matches } from "./pattern.ts";

/** From the mildest to the strictest. */
export const confirmModes = ["never", "destructive", "always"] as const;
export type ConfirmMode = (typeof confirmModes)[number];

export type Confirm = ConfirmMode | Record<string, ConfirmMode>;

/** As they stand in the file, at either place. */
export interface PolicyKeys {
  /** Where it is given, everything else is denied. */
  allow?: string[] | undefined;
  /** Counts more than `allow`. */
  deny?: string[] | undefined;
  /** For all tools, or by patterns; without it nobody is asked. */
  confirm?: Confirm | undefined;
}

export const policyKeys = ["allow", "deny", "confirm"] as const;

export interface ConfirmLine {
  modes: { pattern: string; mode: ConfirmMode }[];
  line: string;
}

/** What both places say of the tools of one server. Patterns are of the tools' own names. */
export interface ServerPolicy {
  /** Each of these lists has to have the tool. */
  allow: { patterns: string[]; line: string }[];
  deny: { patterns: string[]; line: string }[];
  /** The first of them that has a pattern for the tool counts. */
  confirm: ConfirmLine[];
  /** The same of the user's own config, where the policy is a project's: the stricter of both counts. */
  userConfirm?: ConfirmLine[];
  /** What stands in the entry itself, for saying what could stand there. */
  own: Confirm | undefined;
}

/**
 * Undefined where nothing is said of the server. `servers` are all of the file; `user` is the `policy` of the user's own config,
 * where the file is a project's.
 */
export function policyOf(
  name: string,
  own: PolicyKeys,
  common: PolicyKeys | undefined,
  servers: ReadonlyMap<string, unknown>,
  user?: PolicyKeys,
): ServerPolicy | undefined {
  if (!common && !user && policyKeys.every((key) => own[key] === undefined)) return undefined;
  const all = [...servers.keys()];
  const ofServer = (pattern: string) => commonPatterns(name, pattern, all);
  const places: Place[] = [
    { keys: own, path: ["mcpServers", name], of: (pattern) => ownPatterns(name, pattern) },
    { keys: common ?? {}, path: ["policy"], of: ofServer },
  ];
  const policy: ServerPolicy = { allow: [], deny: [], confirm: [], own: own.confirm };
  for (const place of places) addPlace(policy, place, policy.confirm);
  const userConfirm: ConfirmLine[] = [];
  if (user) addPlace(policy, { keys: user, path: ["policy"], file: userFile, of: ofServer }, userConfirm);
  if (userConfirm.length > 0) policy.userConfirm = userConfirm;
  return policy.allow.length + policy.deny.length + policy.confirm.length + userConfirm.length > 0 ? policy : undefined;
}

/** Errors reach sandboxed code, which is told no paths. */
const userFile = " in the user's claudikins.json";

interface Place {
  keys: PolicyKeys;
  path: string[];
  /** Said after the path, where it is not the file of the config. */
  file?: string;
  /** What a pattern of this place means for the tools of the server. */
  of: (pattern: string) => string[];
}

function addPlace(policy: ServerPolicy, { keys, path, file = "", of }: Place, confirmLines: ConfirmLine[]): void {
  const { allow, deny = [], confirm } = keys;
  const at = (...more: (string | number)[]) => `${pathText([...path, ...more])}${file}`;
  if (allow) policy.allow.push({ patterns: allow.flatMap(of), line: at("allow") });
  for (const [index, pattern] of deny.entries()) {
    const patterns = of(pattern);
    if (patterns.length > 0) policy.deny.push({ patterns, line: `${at("deny", index)}, ${JSON.stringify(pattern)}` });
  }
  if (confirm === undefined) return;
  const modes =
    typeof confirm === "string"
      ? [{ pattern: "*", mode: confirm }]
      : Object.entries(confirm).flatMap(([pattern, mode]) => of(pattern).map((each) => ({ pattern: each, mode })));
  if (modes.length > 0) confirmLines.push({ modes, line: at("confirm") });
}

/** With the server's name in front or without it: what stands in `policy` can be moved here. */
function ownPatterns(name: string, pattern: string): string[] {
  return pattern.startsWith(`${name}.`) ? [pattern, pattern.slice(name.length + 1)] : [pattern];
}

function commonPatterns(name: string, pattern: string, names: readonly string[]): string[] {
  const { server, isName, tool } = partsOf(pattern, names);
  return (isName ? server === name : matches(server, name)) ? [tool] : [];
}

/** Of `server.tool`. A server's name may have dots itself: the longest name that fits is meant, else all up to the first dot. */
function partsOf(pattern: string, names: readonly string[]): { server: string; isName: boolean; tool: string } {
  const name = names
    .filter((each) => pattern.startsWith(`${each}.`))
    .reduce((longest, each) => (each.length > longest.length ? each : longest), "");
  const end = name === "" ? pattern.indexOf(".") : name.length;
  return { server: pattern.slice(0, end), isName: name !== "", tool: pattern.slice(end + 1) };
}

export interface PolicyProblem {
  /** Within the keys. */
  path: (string | number)[];
  text: string;
}

/** What is wrong with the keys of one place. `names` are those of all servers, where patterns begin with one of them. */
export function policyProblems(
  { allow, deny, confirm }: Record<string, unknown>,
  names?: readonly string[],
): PolicyProblem[] {
  return [
    ...listProblems("allow", allow, names),
    ...listProblems("deny", deny, names),
    ...confirmProblems(confirm, names),
  ];
}

function listProblems(key: string, list: unknown, names: readonly string[] | undefined): PolicyProblem[] {
  if (list === undefined) return [];
  if (!Array.isArray(list))
    return [{ path: [key], text: 'expected an array of tool names, where "*" matches any text' }];
  return list.flatMap((pattern: unknown, index) => {
    const text = typeof pattern === "string" ? patternProblem(pattern, names) : "expected a string";
    return text === undefined ? [] : [{ path: [key, index], text }];
  });
}

function confirmProblems(confirm: unknown, names: readonly string[] | undefined): PolicyProblem[] {
  if (confirm === undefined || isMode(confirm)) return [];
  if (typeof confirm === "string") return [{ path: ["confirm"], text: modeProblem(confirm) }];
  if (typeof confirm !== "object" || confirm === null || Array.isArray(confirm)) {
    return [{ path: ["confirm"], text: `expected ${modesText}, or an object that maps tool names to these` }];
  }
  return Object.entries(confirm).flatMap(([pattern, mode]) => {
    const text = patternProblem(pattern, names) ?? (isMode(mode) ? undefined : modeProblem(mode));
    return text === undefined ? [] : [{ path: ["confirm", pattern], text }];
  });
}

/** A pattern that says nothing where somebody thinks that it does. */
function patternProblem(pattern: string, names: readonly string[] | undefined): string | undefined {
  if (pattern === "") return "must not be empty";
  if (!names) return undefined;
  if (!pattern.includes(".")) {
    const example = pattern === "*" ? '"*.*"' : `"*.${pattern}" for all servers`;
    return `needs a server name first: ${example}`;
  }
  const { server, isName, tool } = partsOf(pattern, names);
  if (tool === "") return 'needs a tool name after the dot, or "*"';
  if (isName || names.some((name) => matches(server, name))) return undefined;
  for (let dot = pattern.indexOf("."); dot !== -1; dot = pattern.indexOf(".", dot + 1)) {
    const written = pattern.slice(0, dot);
    const meant = misspelling(written, names);
    if (meant !== undefined) return `no server is called "${written}", did you mean "${meant}"?`;
  }
  return undefined;
}

const modesText = confirmModes.map((mode) => JSON.stringify(mode)).join(" or ");

function isMode(value: unknown): value is ConfirmMode {
  return (confirmModes as readonly unknown[]).includes(value);
}

function modeProblem(value: unknown): string {
  const meant = typeof value === "string" ? misspelling(value, confirmModes) : undefined;
  return `expected ${modesText}${meant === undefined ? "" : `, did you mean "${meant}"?`}`;
}

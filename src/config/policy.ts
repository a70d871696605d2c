/**
 * The rules of a config about tool calls: which tools may be called, which need a person's consent, and what their data is. `allow`, `deny`,
 * `confirm` and `labels` of a server's entry use the names of its tools. The same keys in `policy` use `server.tool`.
 */
import { matches } from "./pattern.ts";

/** From the mildest to the strictest. */
export const confirmModes = ["never", "destructive", "always"] as const;
export type ConfirmMode = (typeof confirmModes)[number];

export type Confirm = ConfirmMode | Record<string, ConfirmMode>;

/**
 * The labels of a tool's data. `untrusted`: strangers may have written its results. `private`: its results must not leave. `public`: others
 * can see its arguments.
 */
export const labels = ["untrusted", "private", "public"] as const;
export type Label = (typeof labels)[number];

/** For all tools or by pattern. An empty list says that a tool has no labels. */
export type Labels = Label[] | Record<string, Label[]>;

/** The rules as they are written in the file, in an entry or in `policy`. */
export interface PolicyKeys {
  /** If given, all other tools are denied. */
  allow?: string[] | undefined;
  /** Has precedence over `allow`. */
  deny?: string[] | undefined;
  /** For all tools or by pattern. The default is `never`. */
  confirm?: Confirm | undefined;
  /** The labels of the tools' data. */
  labels?: Labels | undefined;
}

export const policyKeys = ["allow", "deny", "confirm", "labels"] as const;

/** The `policy` of a config. */
export interface CommonPolicy extends PolicyKeys {
  /** Conditions, see rules.ts. */
  rules?: string[] | undefined;
  /**
   * `ask`: a person is asked before private data may leave, and before anything goes to a place that a stranger has named. `strict`: also
   * before any private data goes to others, and before a stranger's text is passed on. Default: `ask`.
   */
  flow?: FlowMode | undefined;
}

/** From the mildest to the strictest. */
export const flowModes = ["off", "ask", "strict"] as const;
export type FlowMode = (typeof flowModes)[number];

export interface ConfirmLine {
  modes: { pattern: string; mode: ConfirmMode }[];
  line: string;
}

export interface DenyLine {
  patterns: string[];
  /** The place in the config, and the pattern as it is written there. */
  line: string;
  place: string;
}

/** The labels of one place, by pattern. */
export interface LabelLine {
  labels: { pattern: string; labels: readonly Label[] }[];
  line: string;
}

/** A condition of the config. */
export interface RuleLine {
  effect: RuleEffect;
  /** In CEL. */
  condition: string;
  /** The place in the config. */
  line: string;
}

export const ruleEffects = ["deny", "confirm"] as const;
export type RuleEffect = (typeof ruleEffects)[number];

/** The rules for one server, from all places. The patterns match the tools' own names. */
export interface ServerPolicy {
  /** A tool is allowed only if each of these lists matches it. */
  allow: { patterns: string[]; line: string }[];
  deny: DenyLine[];
  /** The first line with a matching pattern counts. */
  confirm: ConfirmLine[];
  /** The lines of the user's own config, if the policy is a project's. The strictest of all counts. */
  userConfirm?: ConfirmLine[];
  /** The lines of a door, if the server is behind one. */
  doorConfirm?: ConfirmLine[];
  /** The most exact pattern of the config counts. The pattern of the server catalog comes after it. */
  labels?: LabelLine[];
  /** The labels of the user's own config, if the policy is a project's, and of a door. They are added. */
  addedLabels?: LabelLine[];
  /** All rules of the config, whatever server they are about. */
  rules?: RuleLine[];
  /** When a person is asked before data leaves. Default: `ask`. */
  flow?: Exclude<FlowMode, "ask">;
  /** Whether the server is one of the user's own in a project. Its entry is not in the project's config. */
  isOfUser?: true;
  /** The value in the entry itself, for suggestions. */
  own: Confirm | undefined;
}

/** The rules of the user's own config for one server of a project. */
export interface UserRules {
  /** The rules of the entry that has the server's name. The project's server may be another one, and they apply to it as well. */
  entry?: PolicyKeys | undefined;
  /** The `policy`. */
  common?: CommonPolicy | undefined;
}

/**
 * Returns the rules for a server, or undefined if there are none. `servers` are all servers that are used together. `user` is given if
 * the file is a project's.
 */
export function policyOf(
  name: string,
  own: PolicyKeys,
  common: CommonPolicy | undefined,
  servers: ReadonlyMap<string, unknown>,
  user: UserRules = {},
): ServerPolicy | undefined {
  const given: (CommonPolicy | undefined)[] = [own, common, user.entry, user.common];
  if (given.every((keys) => commonKeys.every((key) => keys?.[key] === undefined))) return undefined;
  const all = [...servers.keys()];
  const ofServer = (pattern: string) => commonPatterns(name, pattern, all);
  const places: RuleSource[] = [
    { keys: own, path: ["mcpServers", name], of: (pattern) => ownPatterns(name, pattern) },
    { keys: common ?? {}, path: ["policy"], of: ofServer },
  ];
  const policy: ServerPolicy = { allow: [], deny: [], confirm: [], own: own.confirm };
  for (const place of places) addPlace(policy, place, policy.confirm);
  const userConfirm: ConfirmLine[] = [];
  const ownLabels = places.flatMap(labelsAt);
  const userPlaces: RuleSource[] = [
    { keys: user.entry ?? {}, path: ["mcpServers", name], file: userFile, of: (pattern) => ownPatterns(name, pattern) },
    { keys: user.common ?? {}, path: ["policy"], file: userFile, of: ofServer },
  ];
  for (const place of userPlaces) addPlace(policy, place, userConfirm);
  if (userConfirm.length > 0) policy.userConfirm = userConfirm;
  const addedLabels = userPlaces.flatMap(labelsAt);
  if (ownLabels.length > 0) policy.labels = ownLabels;
  if (addedLabels.length > 0) policy.addedLabels = addedLabels;
  const rules = [...ruleLines(user.common?.rules, userFile), ...ruleLines(common?.rules)];
  if (rules.length > 0) policy.rules = rules;
  const flow = strictestFlow(user.common?.flow, common?.flow);
  if (flow !== "ask") policy.flow = flow;
  const { allow, deny, confirm, own: _, ...rest } = policy;
  return allow.length + deny.length + confirm.length + Object.keys(rest).length > 0 ? policy : undefined;
}

/**
 * The rules of one of the user's own servers in a project: the project may add labels. It can neither remove labels nor turn the flow off.
 */
export function ofOwnServer(policy: ServerPolicy, alone: ServerPolicy | undefined): ServerPolicy {
  const { labels: ofProject = [], addedLabels: _, flow: __, ...rest } = policy;
  const { labels = [], flow } = alone ?? {};
  return { ...rest, labels, addedLabels: ofProject, ...(flow ? { flow } : {}), isOfUser: true };
}

/** A project can only be stricter than its user. The default is `ask`. */
function strictestFlow(ofUser: FlowMode | undefined, ofConfig: FlowMode = "ask"): FlowMode {
  if (ofUser === undefined) return ofConfig;
  return flowModes.indexOf(ofConfig) > flowModes.indexOf(ofUser) && ofConfig === "strict" ? ofConfig : ofUser;
}

export const commonKeys = [...policyKeys, "rules", "flow"] as const;

function ruleLines(rules: readonly string[] = [], file = ""): RuleLine[] {
  return rules.flatMap((rule, index) => {
    const read = readRule(rule);
    return read ? [{ ...read, line: `${pathText(["policy", "rules", index])}${file}` }] : [];
  });
}

/** Splits `deny when CONDITION`. Undefined if a rule has another form. */
export function readRule(rule: string): { effect: RuleEffect; condition: string } | undefined {
  const [, effect, condition = ""] = /^\s*(deny|confirm)\s+when\s+(\S.*)$/s.exec(rule) ?? [];
  return effect === undefined ? undefined : { effect: effect as RuleEffect, condition: condition.trim() };
}

/** Errors are shown to sandboxed code, so they do not contain the path. */
const userFile = " in the user's claudikins.json";

interface RuleSource {
  keys: PolicyKeys;
  path: string[];
  /** Added after the path if the rule is not in the loaded file. */
  file?: string;
  /** Translates a pattern of this place to patterns for the server's own tool names. */
  of: (pattern: string) => string[];
}

function addPlace(policy: ServerPolicy, { keys, path, file = "", of }: RuleSource, confirm: ConfirmLine[]): void {
  const { allow, deny = [] } = keys;
  const at = (...more: (string | number)[]) => `${pathText([...path, ...more])}${file}`;
  if (allow) policy.allow.push({ patterns: allow.flatMap(of), line: at("allow") });
  for (const [index, pattern] of deny.entries()) {
    const patterns = of(pattern);
    const place = at("deny", index);
    if (patterns.length > 0) policy.deny.push({ patterns, place, line: `${place}, ${JSON.stringify(pattern)}` });
  }
  confirm.push(...confirmLines(keys.confirm, { line: at("confirm"), of }));
}

function labelsAt({ keys, path, file = "", of }: RuleSource): LabelLine[] {
  return labelLines(keys.labels, { line: `${pathText([...path, "labels"])}${file}`, of });
}

/** The labels of one place. Empty if it says nothing about the server. */
export function labelLines(
  given: Labels | undefined,
  { line, of }: { line: string; of: RuleSource["of"] },
): LabelLine[] {
  if (given === undefined) return [];
  const all = Array.isArray(given)
    ? [{ pattern: "*", labels: given }]
    : Object.entries(given).flatMap(([pattern, each]) => of(pattern).map((own) => ({ pattern: own, labels: each })));
  return all.length > 0 ? [{ labels: all, line }] : [];
}

/** The lines of one place. Empty if it says nothing about the server. */
export function confirmLines(
  confirm: Confirm | undefined,
  { line, of }: { line: string; of: (pattern: string) => string[] },
): ConfirmLine[] {
  if (confirm === undefined) return [];
  const modes =
    typeof confirm === "string"
      ? [{ pattern: "*", mode: confirm }]
      : Object.entries(confirm).flatMap(([pattern, mode]) => of(pattern).map((each) => ({ pattern: each, mode })));
  return modes.length > 0 ? [{ modes, line }] : [];
}

/** Returns the patterns without the server's name as well, so that rules from `policy` can be moved into the entry. */
function ownPatterns(name: string, pattern: string): string[] {
  return pattern.startsWith(`${name}.`) ? [pattern, pattern.slice(name.length + 1)] : [pattern];
}

/** The patterns for the tools of one server that a pattern `server.tool` means. `names` are the names of all servers. */
export function commonPatterns(name: string, pattern: string, names: readonly string[]): string[] {
  const { server, isName, tool } = splitToolId(pattern, names);
  return (isName ? server === name : matches(server, name)) ? [tool] : [];
}

/**
 * Splits `server.tool`, or a pattern of that form. Server names may contain dots: the longest known name that fits is used, or else the text
 * before the first dot.
 */
export function splitToolId(
  pattern: string,
  names: readonly string[],
): { server: string; isName: boolean; tool: string } {
  const name = names
    .filter((each) => pattern.startsWith(`${each}.`))
    .reduce((longest, each) => (each.length > longest.length ? each : longest), "");
  const end = name === "" ? pattern.indexOf(".") : name.length;
  return { server: pattern.slice(0, end), isName: name !== "", tool: pattern.slice(end + 1) };
}

/** Writes the path of a value in a config file as text, for example `mcpServers["my server"].args[0]`. */
export function pathText(path: readonly (string | number)[]): string {
  const text = path.map((part) =>
    typeof part === "number" ? `[${part}]` : /^[A-Za-z_$][\w$]*$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`,
  );
  return text.join("").replace(/^\./, "") || "the file";
}

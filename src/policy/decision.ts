/** Decides by the config whether a tool is denied, or needs the user's permission. Patterns match original names. */
import { exactness, matches } from "../config/pattern.ts";
import { type ConfirmLine, type ConfirmMode, confirmModes, pathText, type ServerPolicy } from "../config/policy.ts";

/**
 * The line of the config that denies the tool. Undefined if the tool may be called. With `isRenamed`, the pattern is left out, because
 * agents do not know the tool's own name.
 */
export function denialOf(
  { allow, deny }: ServerPolicy,
  tool: string,
  { isRenamed = false }: { isRenamed?: boolean } = {},
): string | undefined {
  const denied = deny.find(({ patterns }) => patterns.some((pattern) => matches(pattern, tool)));
  if (denied) return `is denied in the config by ${isRenamed ? denied.place : denied.line}`;
  const missing = allow.find(({ patterns }) => !patterns.some((pattern) => matches(pattern, tool)));
  return missing && `is denied in the config: it is not in ${missing.line}`;
}

/**
 * The line of the config that closes the server: the config denies all of it, or it lists allowed tools and none of this server. A closed
 * server may not be used at all, including its resources and prompts.
 */
export function closingLine({ allow, deny }: ServerPolicy): string | undefined {
  const denied = deny.find(({ patterns }) => patterns.some(isForAll));
  return (denied ?? allow.find(({ patterns }) => patterns.length === 0))?.line;
}

const isForAll = (pattern: string) => /^\*+$/.test(pattern);

export interface Confirmation {
  mode: ConfirmMode;
  /** The place in the config. */
  line: string;
}

/**
 * The most exact pattern for the tool decides. Among equally exact patterns, and between project, user and door, the strictest decides.
 * Requests without a tool need a permission only if all tools have "always", because these requests only read. Undefined if no permission
 * is needed.
 */
export function confirmationOf(policy: ServerPolicy, tool: string | undefined): Confirmation | undefined {
  const { confirm, userConfirm = [], doorConfirm = [] } = policy;
  let strictest: Confirmation | undefined;
  for (const lines of [confirm, userConfirm, doorConfirm]) {
    const found = confirmationIn(lines, tool);
    if (found && (!strictest || strictness(found.mode) > strictness(strictest.mode))) strictest = found;
  }
  return strictest;
}

function confirmationIn(lines: readonly ConfirmLine[], tool: string | undefined): Confirmation | undefined {
  for (const { modes, line } of lines) {
    const [found] = modes
      .filter(({ pattern, mode }) =>
        tool === undefined ? isForAll(pattern) && mode === "always" : matches(pattern, tool),
      )
      .sort((a, b) => exactness(b.pattern) - exactness(a.pattern) || strictness(b.mode) - strictness(a.mode));
    if (found) return found.mode === "never" ? undefined : { mode: found.mode, line };
  }
  return undefined;
}

const strictness = (mode: ConfirmMode) => confirmModes.indexOf(mode);

/** The effect of a tool, as its server states it. */
export type Effect = "reads" | "changes" | "destroys" | "unstated";

/**
 * A tool that changes something may destroy something unless its server denies that, which is MCP's default. Malformed annotations do not
 * count, and contradictory ones count as destructive.
 */
export function effectOf(annotations: Record<string, unknown> | undefined): Effect {
  const { readOnlyHint, destructiveHint } = annotations ?? {};
  if (readOnlyHint === undefined && destructiveHint === undefined) return "unstated";
  if (destructiveHint === true) return "destroys";
  if (readOnlyHint === true) return "reads";
  return destructiveHint === false ? "changes" : "destroys";
}

/** Whether a call may destroy something. The name of a tool counts only if its server states no effect. */
export function isDestructive(annotations: Record<string, unknown> | undefined, tool: string): boolean {
  const effect = effectOf(annotations);
  return effect === "destroys" || (effect === "unstated" && !readsByName(tool));
}

/** Whether a call may change something, judged by the tool's annotations and its name. */
export function mayChange(annotations: Record<string, unknown> | undefined, tool: string): boolean {
  const effect = effectOf(annotations);
  return effect !== "reads" && !(effect === "unstated" && readsByName(tool));
}

/** What happens to a call of a tool by its settings, without conditions: it is made, a person is asked, or it is denied. */
export const toolStates = ["allow", "ask", "deny"] as const;
export type ToolState = (typeof toolStates)[number];

export function toolStateOf(
  policy: ServerPolicy | undefined,
  tool: string,
  annotations: Record<string, unknown> | undefined,
): ToolState {
  if (!policy) return "allow";
  if (denialOf(policy, tool) !== undefined) return "deny";
  const mode = confirmationOf(policy, tool)?.mode ?? "never";
  return mode === "always" || (mode === "destructive" && isDestructive(annotations, tool)) ? "ask" : "allow";
}

/** A tool reads if its name begins with one of these verbs and has none of the words below. */
const readingVerbs = new Set("get list read search find describe show view lookup count fetch".split(" "));
const doingWords = new Set(
  (
    "and or then add append apply archive assign buy cancel clear close commit create delete drop edit enable disable exec execute " +
    "insert install kill lock mark merge modify move overwrite patch pay pop post publish purge push put query remove rename replace " +
    "reset restart restore run save send set sql start stop submit sync truncate unlock update upload upsert wipe write"
  ).split(" "),
);

function readsByName(tool: string): boolean {
  const words = tool
    .replace(/(?<=[a-z\d])(?=[A-Z])/g, "_")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(Boolean);
  return readingVerbs.has(words[0] ?? "") && !words.some((word) => doingWords.has(word));
}

/** The change of the config with which the tool needs no permission. With `isRenamed`, the tool is not named. */
export function allowingLine(
  server: string,
  policy: ServerPolicy,
  tool: string,
  { isRenamed = false }: { isRenamed?: boolean } = {},
): string {
  const { own, confirm, userConfirm = [], doorConfirm = [], isOfUser } = policy;
  // A project's config cannot override the user's or a door, nor can the user's entry override the project's policy.
  const fixed =
    confirmationIn(userConfirm, tool) ??
    confirmationIn(doorConfirm, tool) ??
    (isOfUser ? confirmationIn(confirm, tool) : undefined);
  if (fixed) return `Change this in ${fixed.line}: no other place overrides it`;
  if (isRenamed) {
    return `To call it without confirmation, change "confirm" for it in ${pathText(["mcpServers", server])} of the config`;
  }
  const modes = own === undefined ? {} : typeof own === "string" ? { "*": own } : own;
  const entries = [...Object.entries(modes).filter(([pattern]) => pattern !== tool), [tool, "never"]];
  const text = entries.map(([pattern, mode]) => `${JSON.stringify(pattern)}: ${JSON.stringify(mode)}`).join(", ");
  return `To call it without confirmation, set "confirm": { ${text} } in ${pathText(["mcpServers", server])} of the config`;
}

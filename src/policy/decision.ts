/** What the config says of a call of a tool, by the tool's own name: it is denied, or somebody has to say yes first. */

import { pathText } from "../config/path-text.ts";
import { exactness, matches } from "../config/pattern.ts";
import { type ConfirmLine, type ConfirmMode, confirmModes, type ServerPolicy } from "../config/policy.ts";

/** Why the tool cannot be called, with the line of the config that says so; undefined where it can. */
export function denialOf({ allow, deny }: ServerPolicy, tool: string): string | undefined {
  const denied = deny.find(({ patterns }) => patterns.some((pattern) => matches(pattern, tool)));
  if (denied) return `is denied in the config by ${denied.line}`;
  const missing = allow.find(({ patterns }) => !patterns.some((pattern) => matches(pattern, tool)));
  return missing && `is denied in the config: it is not in ${missing.line}`;
}

/**
 * The line of the config that closes the server: it denies everything, or it lists what is allowed and lists nothing of this
 * server. Of a closed server nothing may be used, its resources and prompts included.
 */
export function closingLine({ allow, deny }: ServerPolicy): string | undefined {
  const denied = deny.find(({ patterns }) => patterns.some((pattern) => /^\*+$/.test(pattern)));
  return (denied ?? allow.find(({ patterns }) => patterns.length === 0))?.line;
}

export interface Confirmation {
  mode: ConfirmMode;
  /** Where that stands. */
  line: string;
}

/**
 * Of several patterns for the tool the most exact one counts, of equal ones the stricter, and of a project and the user the
 * stricter; undefined where nobody is asked.
 */
export function confirmationOf({ confirm, userConfirm = [] }: ServerPolicy, tool: string): Confirmation | undefined {
  const [first, second] = [confirmationIn(confirm, tool), confirmationIn(userConfirm, tool)];
  if (!first || !second) return first ?? second;
  return strictness(second.mode) > strictness(first.mode) ? second : first;
}

function confirmationIn(lines: readonly ConfirmLine[], tool: string): Confirmation | undefined {
  for (const { modes, line } of lines) {
    const [found] = modes
      .filter(({ pattern }) => matches(pattern, tool))
      .sort((a, b) => exactness(b.pattern) - exactness(a.pattern) || strictness(b.mode) - strictness(a.mode));
    if (found) return found.mode === "never" ? undefined : { mode: found.mode, line };
  }
  return undefined;
}

const strictness = (mode: ConfirmMode) => confirmModes.indexOf(mode);

/**
 * By the protocol's own defaults a tool of which nothing is said may destroy something. What is said counts only as it should
 * be said, and where it contradicts itself, for the worse.
 */
export function isDestructive(annotations: Record<string, unknown> | undefined): boolean {
  const { readOnlyHint, destructiveHint } = annotations ?? {};
  return destructiveHint === true || (readOnlyHint !== true && destructiveHint !== false);
}

/** What to write where, for the tool to be called without a question. */
export function allowingLine(server: string, { own, userConfirm = [] }: ServerPolicy, tool: string): string {
  // What a project says cannot take that back.
  const byUser = confirmationIn(userConfirm, tool);
  if (byUser) return `Change this in ${byUser.line}: no other place overrides it`;
  const modes = own === undefined ? {} : typeof own === "string" ? { "*": own } : own;
  const entries = [...Object.entries(modes).filter(([pattern]) => pattern !== tool), [tool, "never"]];
  const text = entries.map(([pattern, mode]) => `${JSON.stringify(pattern)}: ${JSON.stringify(mode)}`).join(", ");
  return `To call it without confirmation, set "confirm": { ${text} } in ${pathText(["mcpServers", server])} of the config`;
}

/**
 * The environment variables of the user that imported servers get. An agent passes all variables to its servers. claudikins passes only the
 * ones with paths and addresses. A server in the catalog also gets the variables that it is known to read.
 */

import { isObject, stringsIn } from "../../base/json-object.ts";
import type { PortableEntry } from "../../config/config-file.ts";
import type { Environment } from "../../config/environment.ts";
import { inheritedNames } from "../../servers/process/child-environment.ts";

/** The entry, with the variables that its server is known to read and that are set. Only for programs. */
export async function withKnownVariables(entry: PortableEntry, env: Environment): Promise<PortableEntry> {
  const { command, args } = entry;
  if (typeof command !== "string" || entry["inherit"] !== undefined) return entry;
  const { recognise } = await import("../../tools/server-catalog.ts");
  const known = recognise({ command, args: stringsIn(args) })?.variables ?? [];
  const declared = isObject(entry["env"]) ? entry["env"] : {};
  const usual = new Set(inheritedNames(env));
  const names = known
    .map(({ name }) => name)
    .filter((name) => env[name] !== undefined && !Object.hasOwn(declared, name) && !usual.has(name));
  return names.length === 0 ? entry : { ...entry, inherit: names };
}

/** Names of variables of the shell, the terminal or claudikins, which no server needs. */
const ofShell =
  /^(?:_|.*PWD|SHLVL|PS\d|PROMPT.*|HIST.*|LS_COLORS|LESS.*|PAGER|MANPATH|EDITOR|VISUAL|COLORTERM|TERM_.*|COLUMNS|LINES|MAIL|BASH.*|ZSH.*|FISH.*|STARSHIP.*|TMUX.*|STY|WINDOWID|SESSION_MANAGER|INVOCATION_ID|JOURNAL_STREAM|CLAUDE.*|CLAUDIKINS_.*|CODEX.*|VSCODE.*|BUN_.*|npm_.*|FORCE_COLOR|NO_COLOR|CI)$/;

/** Names of variables that none of these servers gets, although an agent would have given them. Sorted. */
export function withheldNames(env: Environment, entries: readonly PortableEntry[]): string[] {
  const passed = new Set(entries.flatMap(({ inherit }) => inheritedNames(env, stringsIn(inherit))));
  return Object.keys(env)
    .filter((name) => env[name] !== undefined && !passed.has(name) && !ofShell.test(name))
    .sort();
}

/** Expands `${VAR}` and `${VAR:-default}` in every string of a config value. */
import { withTexts } from "../base/json-object.ts";
import type { Environment } from "./environment.ts";

const opening = /\$\{([A-Za-z_][A-Za-z0-9_]*)(\}|:-)/y;

interface Expanded<T> {
  value: T;
  /** The variables that are not set and have no default, sorted and unique. References to them stay in the value. */
  missing: string[];
  /** The values that were filled in, by the names of their variables. */
  used: Record<string, string>;
}

/** The names of all variables in `${…}`, also those inside defaults, sorted. */
export function variablesIn(value: unknown): Set<string> {
  const found = JSON.stringify(value ?? null).matchAll(/\$\{([A-Za-z_]\w*)(?=\}|:-)/g);
  return new Set([...found].map(([, name = ""]) => name).sort());
}

interface ReferencedVariables {
  missing: Set<string>;
  used: Record<string, string>;
}

/**
 * Expands references as a shell does: `:-` uses the default if the variable is unset or empty, and a default may contain
 * references. A `$` without braces stays. The values of variables are not expanded again.
 */
export function expand<T>(value: T, env: Environment): Expanded<T> {
  const seen: ReferencedVariables = { missing: new Set(), used: {} };
  const expanded = withTexts(value, (text) => expandText(text, env, seen));
  return { value: expanded, missing: [...seen.missing].sort(), used: seen.used };
}

function expandText(text: string, env: Environment, seen: ReferencedVariables): string {
  let expanded = "";
  let done = 0;
  for (let at = text.indexOf("${"); at !== -1; at = text.indexOf("${", done)) {
    const { name, fallback, end } = referenceAt(text, at);
    const found = name !== undefined && Object.hasOwn(env, name) ? env[name] : undefined;
    const whole = text.slice(at, end);
    if (name !== undefined && fallback === undefined && found === undefined) seen.missing.add(name);
    if (name !== undefined && found) seen.used[name] = found;
    const value = fallback === undefined ? (found ?? whole) : found || expandText(fallback, env, seen);
    expanded += text.slice(done, at) + value;
    done = end;
  }
  return expanded + text.slice(done);
}

interface Reference {
  /** Undefined if the text at this place is not a reference. */
  name?: string | undefined;
  fallback?: string | undefined;
  end: number;
}

function referenceAt(text: string, at: number): Reference {
  opening.lastIndex = at;
  const [matched = "", name, mark] = opening.exec(text) ?? [];
  const start = at + matched.length;
  if (mark === "}") return { name, end: start };
  const close = mark === ":-" ? closingBrace(text, start) : -1;
  return close === -1 ? { end: at + 2 } : { name, fallback: text.slice(start, close), end: close + 1 };
}

/** Returns where the default that starts at `from` ends, after any references in it, or -1 if it is not closed. */
function closingBrace(text: string, from: number): number {
  let open = 1;
  for (let at = from; at < text.length; at++) {
    if (text.startsWith("${", at)) open += 1;
    if (text[at] === "}" && --open === 0) return at;
  }
  return -1;
}

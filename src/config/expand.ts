/** Expands `${VAR}` and `${VAR:-default}` in every string of a config value. */
import type { Environment } from "./environment.ts";

const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

export interface Expanded<T> {
  value: T;
  /** Variables that are not set and have no default, sorted, each once. Their references are left as they were. */
  missing: string[];
}

/** As in a shell, `:-` takes the default when the variable is unset or empty. A `$` without braces stays as it is. */
export function expand<T>(value: T, env: Environment): Expanded<T> {
  const missing = new Set<string>();
  const visit = (node: unknown): unknown => {
    if (typeof node === "string") {
      return node.replace(reference, (whole, name: string, fallback: string | undefined) => {
        const found = env[name];
        if (fallback !== undefined) return found || fallback;
        if (found === undefined) missing.add(name);
        return found ?? whole;
      });
    }
    if (Array.isArray(node)) return node.map(visit);
    if (node !== null && typeof node === "object") {
      return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, visit(child)]));
    }
    return node;
  };
  return { value: visit(value) as T, missing: [...missing].sort() };
}

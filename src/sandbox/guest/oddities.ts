/** Finds what looks wrong in a returned value. The host decides whether it is wrong, because it knows the code. */

export interface Oddity {
  kind: "NaN" | "undefined" | "circular" | "function";
  /** A path such as `[0].total`. Empty for the value itself. */
  path: string;
  count: number;
}

const maxVisited = 200_000;

/** Returns one entry for each kind, with the first place where it was found. */
export function oddities(root: unknown): Oddity[] {
  const found = new Map<string, Oddity>();
  const open = new Set<object>();
  let visited = 0;
  const note = (kind: Oddity["kind"], path: string) => {
    const known = found.get(kind);
    if (known) known.count += 1;
    else found.set(kind, { kind, path, count: 1 });
  };
  const visit = (value: unknown, path: string): void => {
    const kind = kindOf(value);
    if (kind) note(kind, path);
    visited += 1;
    if (kind || typeof value !== "object" || value === null || visited > maxVisited || path.length > 2_000) return;
    if (open.has(value)) {
      note("circular", path);
      return;
    }
    open.add(value);
    if (Array.isArray(value)) for (let at = 0; at < value.length; at++) visit(value[at], `${path}[${at}]`);
    else if (value instanceof Map) for (const [key, each] of value) visit(each, step(path, String(key)));
    else if (value instanceof Set) for (const each of value) visit(each, `${path}[]`);
    else if (isPlain(value)) for (const key of Object.keys(value)) visit((value as never)[key], step(path, key));
    open.delete(value);
  };
  visit(root, "");
  return [...found.values()];
}

function kindOf(value: unknown): Oddity["kind"] | undefined {
  if (Number.isNaN(value)) return "NaN";
  if (value === undefined) return "undefined";
  return typeof value === "function" ? "function" : undefined;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function step(path: string, key: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

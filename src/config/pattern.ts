/** Patterns of names, in which `*` matches any text. */

/** Returns whether the name matches the pattern: `*` matches any text, including none, and all other characters match themselves. */
export function matches(pattern: string, name: string): boolean {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined) return pattern === name;
  const end = name.length - last.length;
  if (end < first.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of others) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= end;
}

/** Returns how specific a pattern is. If several patterns match a name, the most specific one counts. */
export function exactness(pattern: string): number {
  const letters = pattern.replaceAll("*", "").length;
  return letters === pattern.length ? Number.POSITIVE_INFINITY : letters;
}

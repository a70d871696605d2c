/** Patterns of names: `*` matches any text, including none. All other characters match themselves, and case matters. */

/** Returns whether the name matches. Takes at most quadratic time for any input, because the names come from servers. */
export function matches(pattern: string, name: string): boolean {
  let at = 0;
  let inName = 0;
  let star = -1;
  let starInName = 0;
  while (inName < name.length) {
    if (pattern[at] === "*") {
      star = at++;
      starInName = inName;
    } else if (pattern[at] === name[inName]) {
      at++;
      inName++;
    } else if (star !== -1) {
      // On a mismatch, the last star takes one more character. Earlier stars never need to change.
      at = star + 1;
      inName = ++starInName;
    } else return false;
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}

/** Returns how specific a pattern is. If several patterns match a name, the most specific one counts. */
export function exactness(pattern: string): number {
  const letters = pattern.replaceAll("*", "").length;
  return letters === pattern.length ? Number.POSITIVE_INFINITY : letters;
}

/** Patterns of names: `*` stands for any text, also none; everything else for itself, upper and lower case apart. */

/** Never slow, whatever the two are: names come from servers. */
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
      // The last star takes one character more; an earlier one need never take any.
      at = star + 1;
      inName = ++starInName;
    } else return false;
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}

/** How exactly a pattern says what it means: of two that match the same name, the higher one counts. */
export function exactness(pattern: string): number {
  const letters = pattern.replaceAll("*", "").length;
  return letters === pattern.length ? Number.POSITIVE_INFINITY : letters;
}

/** Advice is a bonus: code may be stranger than what it was made for, and its outcome is what counts. */

export function orNothing<T>(advise: () => T, nothing: T): T {
  try {
    return advise();
  } catch {
    return nothing;
  }
}

/** What a decision about a call is bound to: digests by names that a person understands. */

/** The name of the digest of the arguments. */
export const argumentsPart = "the values of its arguments";

export function argumentsDigest(bound: Readonly<Record<string, string>>): string {
  return bound[argumentsPart] ?? "";
}

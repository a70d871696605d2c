/** The inverted index: which tools have a term, and how strongly. */

/** Strengths from 1 down to 0 are kept in this many steps. More steps do not improve the results. */
const steps = 16;

/** The numbers of the tools that have a term, by steps of strength, the strongest first. Empty steps are missing, or null in JSON. */
export type Posting = readonly (readonly number[] | null | undefined)[];

/** By term. */
export type Postings = ReadonlyMap<string, Posting>;

/** Each tool has its terms with strengths from 0 to 1; its number is its place in the order. */
export function postingsOf(tools: Iterable<ReadonlyMap<string, number>>): Postings {
  const postings = new Map<string, number[][]>();
  let tool = 0;
  for (const strengths of tools) {
    for (const [term, strength] of strengths) {
      const byStep = postings.get(term) ?? [];
      if (byStep.length === 0) postings.set(term, byStep);
      const step = Math.min(Math.max(Math.floor((1 - strength) * steps), 0), steps - 1);
      const same = byStep[step];
      if (same) same.push(tool);
      else byStep[step] = [tool];
    }
    tool++;
  }
  return postings;
}

/** The strength in the middle of a step. */
export function strengthOf(step: number): number {
  return 1 - (step + 0.5) / steps;
}

/** The way in which tests wait for what announces itself by no event. */

export interface Waiting {
  /** Ends before the limit of most tests, which is 60 s, so that the error names what was awaited. */
  withinMs?: number;
  /**
   * The pause before the next question, in milliseconds. Default 10, and at least as long as the last answer took: questions that start a
   * process would otherwise keep a core busy. 1 for a test that acts at the very moment.
   */
  everyMs?: number;
}

type Truthy<T> = Exclude<T, false | undefined | null | 0 | "">;

/** Asks until the answer is truthy, and returns it. Throws an error with the source of the question if that takes too long. */
export async function eventually<T>(question: () => T | Promise<T>, waiting: Waiting = {}): Promise<Truthy<T>> {
  const { withinMs = 50_000, everyMs } = waiting;
  const deadline = performance.now() + withinMs;
  for (;;) {
    const askedAt = performance.now();
    const answer = await question();
    if (answer) return answer as Truthy<T>;
    if (performance.now() > deadline) throw new Error(`this was not so within ${withinMs / 1_000} s: ${question}`);
    await Bun.sleep(everyMs ?? Math.max(10, performance.now() - askedAt));
  }
}

/** Whether the answer becomes true within the time. */
export async function isTrueWithin(withinMs: number, question: () => boolean | Promise<boolean>): Promise<boolean> {
  for (const deadline = performance.now() + withinMs; performance.now() < deadline; await Bun.sleep(5)) {
    if (await question()) return true;
  }
  return question();
}

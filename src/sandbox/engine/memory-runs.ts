/** The difference between two states of an engine's memory: the blocks that changed, as runs. */

/** Memory is compared with a fresh engine's in blocks of this size. */
const comparedBlockBytes = 256;

export interface Run {
  start: number;
  length: number;
}

/** The parts of `after` that differ from `before`. Both begin at the address `from` and have the same length. */
export function changedRuns(before: Uint8Array, after: Uint8Array, from = 0): Run[] {
  const runs: Run[] = [];
  for (let start = 0; start < after.length; start += comparedBlockBytes) {
    const end = Math.min(start + comparedBlockBytes, after.length);
    if (Buffer.compare(before.subarray(start, end), after.subarray(start, end)) === 0) continue;
    const last = runs.at(-1);
    if (last && last.start + last.length === from + start) last.length += end - start;
    else runs.push({ start: from + start, length: end - start });
  }
  return runs;
}

/** Writes 32-bit numbers (the head, then start and length of each run), followed by the runs. */
export function writeRuns(head: readonly number[], runs: readonly Run[], memory: Uint8Array): Uint8Array {
  const numbers = [...head, ...runs.flatMap(({ start, length }) => [start, length])];
  const written = new Uint8Array(4 * numbers.length + runs.reduce((sum, { length }) => sum + length, 0));
  new Int32Array(written.buffer, 0, numbers.length).set(numbers);
  let at = 4 * numbers.length;
  for (const { start, length } of runs) {
    written.set(memory.subarray(start, start + length), at);
    at += length;
  }
  return written;
}

/** Copies the runs into memory. The last number of the head is the number of runs. */
export function restoreRuns(written: Uint8Array, headWords: number, memory: Uint8Array): void {
  const [count = 0] = new Int32Array(written.buffer, written.byteOffset + 4 * (headWords - 1), 1);
  const runs = new Int32Array(written.buffer, written.byteOffset + 4 * headWords, 2 * count);
  let at = 4 * headWords + runs.byteLength;
  for (let index = 0; index < runs.length; index += 2) {
    const [start = 0, length = 0] = runs.subarray(index, index + 2);
    memory.set(written.subarray(at, at + length), start);
    at += length;
  }
}

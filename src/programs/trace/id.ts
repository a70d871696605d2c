/** Ids of executions: sorted by time, easy to type, and impossible to guess. */

/** Ids of executions that begin within this time, by a clock that may be set back, follow each other. */
const idsTogetherMs = 1_000;

/** Without letters that are easily confused. */
const letters = "0123456789abcdefghjkmnpqrstvwxyz";

const firstMoment = Date.UTC(2026, 0, 1);

/** Letters for milliseconds, enough for thirty years. */
const timeLetters = 8;

/** A letter has 5 bits, so these have 100. */
const randomLetters = 20;

const form = new RegExp(`^[${letters}]{${timeLetters + randomLetters}}(?:-\\d{1,6})*$`);

/** The time of the last id. Executions that begin idsTogetherMs get different times. */
let lastAt = 0;

export function newId(at: number): string {
  lastAt = at <= lastAt && at > lastAt - idsTogetherMs ? lastAt + 1 : at;
  return idOf(lastAt, crypto.getRandomValues(new Uint8Array(randomLetters)));
}

/** An id that is always the same for the same time and digest, which is hexadecimal and has at least 40 digits. */
export function idAt(at: number, digest: string): string {
  return idOf(at, Buffer.from(digest.slice(0, 2 * randomLetters), "hex"));
}

function idOf(at: number, bytes: Iterable<number>): string {
  let rest = Math.max(0, Math.floor(at - firstMoment));
  let id = "";
  for (let place = 0; place < timeLetters; place++) {
    id = letters[rest % 32] + id;
    rest = Math.floor(rest / 32);
  }
  for (const byte of bytes) id += letters[byte % 32];
  return id;
}

/** The id of a saved program that a call of another execution runs: always the same for the same call. */
export function idWithin(execution: string, call: number): string {
  return `${execution}-${call}`;
}

export function isId(text: string): boolean {
  return form.test(text);
}

/** The time in the id, in milliseconds since 1970. */
export function timeOf(id: string): number {
  return [...id.slice(0, timeLetters)].reduce((sum, letter) => sum * 32 + letters.indexOf(letter), 0) + firstMoment;
}

/** Limits that several rooms share. */

import { hourMs, kilobyte } from "./units.ts";

/** Time for a person to answer. */
export const personMs = hourMs;

/** Default time to wait for a lock between processes. Holders need less: the time of a few requests to a server. */
export const lockWaitMs = 60_000;

/** JSON of this length takes a few milliseconds to parse. Longer JSON is parsed only when needed, by the thread that needs it. */
export const largeJsonChars = 256 * kilobyte;

/** Maximum characters of one result in a context. Hosts cut results at about 25,000 tokens, so the rest would not be in the context. */
export const maxContextChars = 100_000;

/** Digits of a number that JavaScript may not hold. It holds every number of fifteen digits. */
export const minLostDigits = 16;

/** Schemas that apply to one value. A hostile schema may have any number. */
export const maxSchemasOfValue = 16;

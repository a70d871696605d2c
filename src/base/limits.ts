/** The limits that belong to no room in particular, or to several. */

import { hourMs, kilobyte, megabyte } from "./units.ts";

// Waiting

/** Time for a person to answer. */
export const personMs = hourMs;

/**
 * Wait for a lock between processes, if its user sets none. Longer than any holder needs, which is the time of a few requests to a server.
 */
export const lockWaitMs = 60_000;

/** Time for the system's keychain to answer. A person may have to unlock it, but an agent is waiting. */
export const keychainMs = 20_000;

/** Time for messages in one turn of the event loop. All servers share it: a hundred that send without pause take no longer than one. */
export const eventLoopTurnMs = 8;

/** Time after which a worker without work is terminated. */
export const workerIdleMs = 10_000;

/** Time that a worker waits for another job before it collects garbage. */
export const workerCollectAfterMs = 50;

/** Time from a large text to the collection on the main thread. By then a result is in its program. */
export const collectMainAfterMs = 100;

/** Bytes of large texts after which the main thread collects everything, and not only what is new. */
export const fullCollectionBytes = 16 * megabyte;

/** Workers of one kind at the same time, if their user sets no other number. Further jobs wait. */
export const maxWorkersOfKind = 2;

/**
 * Time without calls after which memory is given back. Agents make their calls seconds apart. After a longer pause, a cold start is hardly
 * noticed.
 */
export const idleAfterMs = 60_000;

/** Time for `Bun.shrink`, which works when the engine is idle, in code that is unmapped afterwards. Saves 5 MB. */
export const memoryShrinkMs = 1_000;

/** Time for a browser to start and read a file that redirects it. */
export const redirectFileKeptMs = 60_000;

/** Looks at the system's table of connections. A row can be missed while other rows change, so a missing one is looked for again. */
export const maxPeerLooks = 3;

// Messages of clients

/**
 * A message of a host or a browser. The SDK and our schemas copy each object several times, on the thread that answers all clients: about a
 * microsecond for each key, and more for keys that no other object has. A list of 100,000 values takes some 30 ms. Numbers
 * with more digits are not exact, and take long to read.
 */
export const clientMessage = { keys: 20_000, values: 100_000, levels: 200, digits: 1_000 };

/** A request of our own command line to the daemon. Its arguments are copied less often, and belong to the same user. */
export const ownMessage = { keys: 100_000, values: 1_000_000, levels: 500, digits: 1_000 };

// Owners

/** The part of places that is kept for owners that have none: a token or person does not wait until others' work ends. */
export const reservedShare = 0.25;

// Texts and values

/** JSON of this length takes a few milliseconds to parse. Longer JSON is parsed only when needed, by the thread that needs it. */
export const largeJsonChars = 256 * kilobyte;

/** Results of this length cause a garbage collection in the process that gives them to a program. */
export const collectedResultChars = 4 * megabyte;

/**
 * Characters of one result that a context holds at most. Hosts cut results at about 25,000 tokens, so the rest would not have been in the
 * context.
 */
export const maxContextChars = 100_000;

/**
 * Characters that an image counts for in a context. It costs about 1,500 tokens by its pixels, not by its base64. Audio and files are
 * counted the same.
 */
export const imageContextChars = 6_000;

/** Levels of a value that are searched for media. Deeper levels would overflow the stack. */
export const maxMediaDepth = 500;

/** Shorter base64 stays, since a note in its place would not be shorter. */
export const minMediaChars = 200;

/** Longer names are not compared with similar ones, because comparing takes time in proportion to the product of both lengths. */
export const maxComparedNameChars = 200;

/** Bytes of a file that are read for its first line. */
export const firstLineBytes = 16_384;

/** Characters of the `tracestate` of a trace. W3C Trace Context asks for at least as many; a longer one is dropped. */
export const maxTraceStateChars = 512;

/** Links on the way to one path. */
export const maxLinks = 40;

// Sealed values

/** Characters of a sealed value that others keep for us. Anybody can send longer ones, which are not ours. */
export const maxSealedChars = 8_000;

// Numbers

/** Digits of a number that JavaScript may not hold. It holds every number of fifteen digits. */
export const minLostDigits = 16;

/** Schemas that apply to one value. A hostile schema may have any number. */
export const maxSchemasOfValue = 16;

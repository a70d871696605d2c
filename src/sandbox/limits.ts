/**
 * Limits that several files share. Limits that a config sets are in config/defaults.ts; these are the same for everyone. The guest's limits
 * are in the guest: its script must not change while saved programs still use it.
 */

import { megabyte } from "../base/units.ts";

/** Different keys in the arguments of a call. */
export const maxArgumentKeys = 50_000;

/** Values in the arguments of a call. The main thread parses them, 15 to 20 ns each, and must answer others within 100 ms. */
export const maxArgumentParts = 3_200_000;

/** Values that take as long to parse as a list or an object. */
export const partsOfContainer = 4;

/** Questions about the tools (`tools.search`, `tools.list`) of one execution: the main thread answers each. */
export const maxToolQuestions = 1_000;

/** Values that one execution displays: each is a message to the main thread. */
export const maxDisplayedValues = 1_000;

/** Characters of JSON that are read in one turn of the event loop. */
export const jsonCharsInTurn = 1_000_000;

/** Calls and answers that arise together cross between the threads in one message, unless they are longer than this many characters. */
export const maxJoinedChars = 10_000;

/** Loop iterations between two calls of the host: about a millisecond. */
export const fuelRounds = 200_000;

/**
 * Depth of folders that are listed, measured or removed. Other programs may create deeper folders than sandboxed code can. Each folder
 * stays open while its contents are read.
 */
export const maxWalkedDepth = 128;

/** Bytes of memory that a program begins with. The memory grows up to its limit, in steps of a fifth. */
export const firstMemoryBytes = 16 * megabyte;

/** Size of one file that a program writes. */
export const maxFileBytes = 50 * megabyte;

/** Size of the workspace. */
export const maxWorkspaceBytes = 500 * megabyte;

/** Files and folders of the workspace together. */
export const maxWorkspaceEntries = 10_000;

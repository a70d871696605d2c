/** Limits that several files share. None of them can be set in a config. */

import { megabyte } from "../base/units.ts";

/** One message of a server: a line on stdout, a JSON body, or one event of a stream. */
export const maxMessageBytes = 256 * megabyte;

/** Lines of one event. A parser needs far more memory for a short line than the line has bytes. */
export const maxEventLines = 1_000_000;

/** The body of a failed request, which is read only for the error message. */
export const maxErrorBytes = 65_536;

/** Larger messages are parsed in a worker. A message of this size takes at most 3 ms, as much as the use of a worker. */
export const maxInlineBytes = 131_072;

/** While a larger message is decoded, and after it, the worker collects what is new. For smaller ones, that would take too large a share. */
export const collectedInWorkerBytes = 8 * megabyte;

/** Time for a notification to be accepted: each occupies one of a limited number of sockets. */
export const httpNoticeMs = 10_000;

/** Life of an exchanged token whose provider names none. */
export const defaultTokenMs = 5 * 60_000;

/** Lines of output in an error message. */
export const maxErrorLines = 5;

/** Wait for another process that renames or removes log files. */
export const logLockWaitMs = 2_000;

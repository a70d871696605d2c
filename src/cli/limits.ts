/** The limits of the command line: how many lines and characters it shows, how long it waits, and what its flags accept. */

import { dayMs, megabyte, minuteMs } from "../base/units.ts";

// Flags

/** Maximum of the flags for idle time and for the time of a connection. */
export const maxIdleMs = dayMs;

/** Maximum of the flag for the time that running calls get to finish. */
export const maxGraceMs = 10 * minuteMs;

/** Characters of a token for HTTP, at least. A shorter one could be guessed. */
export const minTokenChars = 16;

/** Characters of a secret. Private keys and certificates are shorter. */
export const maxSecretChars = 65_536;

/** Time until a token of `tokens add` expires, if no flag says otherwise. */
export const defaultTokenMs = 90 * dayMs;

/** Maximum of flags for a time from now on. */
export const maxAheadMs = 3_650 * dayMs;

/** Size of one request over HTTP. */
export const defaultBodyBytes = 16 * megabyte;

/** Size of the events of a session that are kept for a client that reconnects. */
export const defaultEventBytes = 4 * megabyte;

/** How long they are kept. */
export const defaultEventAgeMs = 5 * minuteMs;

/** Time for a person to sign in, if no flag says otherwise. */
export const defaultSignInMs = 5 * minuteMs;

/** Maximum of the flag for this time. */
export const maxSignInMs = 60 * minuteMs;

/** Time for all servers together to answer `init`, if no flag says otherwise. */
export const defaultStartsMs = 30_000;

/** Maximum of the flag for this time. */
export const maxStartsMs = 10 * minuteMs;

/** Rows of a list, if no flag says otherwise. */
export const defaultRows = 20;

/** Calls of one execution, if no flag says otherwise. */
export const defaultCalls = 40;

/** Lines of a log, if no flag says otherwise. */
export const defaultLines = 50;

// Waiting

/**
 * Time after which a browser counts as started. A program that opens a browser ends soon; one that is the browser itself may run for days.
 */
export const browserStartedAfterMs = 3_000;

/** Time for the first start of a server, which may have to be downloaded. */
export const firstStartMs = 120_000;

/** Time for a program to say its version. */
export const versionAnswerMs = 5_000;

/** Input typed within this time before a question does not answer it. */
export const typedBeforeMs = 150;

/** Delay before the signal guard starts. The first answers to a host do not wait for the start of another thread. */
export const signalGuardAfterMs = 1_000;

/** How often its thread looks whether the main thread is blocked. */
export const signalGuardLookMs = 100;

/** Looks without an answer before it is. With fewer, a busy machine made it look blocked. */
export const signalGuardLooks = 5;

// Input

/** Characters of a line that is typed. A longer input could fill the memory. */
export const maxTypedLineChars = 65_536;

// Progress

/** Width of the bar of a progress line. */
export const progressBarChars = 24;

/** Work that takes less time shows no progress line. */
export const progressQuietMs = 1_000;

/** How often the line is drawn. */
export const progressRedrawMs = 100;

// Widths of texts, in characters

/** Maximum width of help. */
export const helpChars = 80;

/** Minimum width of a wrapped summary. */
export const minSummaryChars = 30;

/** Maximum width of a bar in a list. */
export const maxBarChars = 60;

/** Minimum width of a bar in a list. */
export const minBarChars = 4;

/** Width to which a text is shortened before its column moves below the row. */
export const minColumnChars = 12;

/** Width up to which the cells of a column are filled with spaces in a pipe, where columns have any width. */
export const maxPipedChars = 40;

/** Minimum width of the bars of an execution's calls. */
export const minWaterfallChars = 10;

/** Maximum width of these bars. */
export const maxWaterfallChars = 100;

/** Minimum width of the names of calls. Names are shortened before bars. */
export const minCallNameChars = 12;

/** Characters of a message or a name in it. */
export const maxWaterfallTextChars = 500;

/** Maximum width of a question about a call. */
export const maxQuestionChars = 100;

/** Minimum width for all columns of the statistics. */
export const minStatisticsChars = 72;

/** Minimum width for all columns of the list of executions. */
export const minTraceChars = 90;

// Shortened texts

/** Characters of a call's arguments in the list of approvals. */
export const maxListedArgumentChars = 60;

/** Characters of a program in the list of executions. */
export const maxListedCodeChars = 60;

/** Characters of a program that are read for this, because white space is shortened. */
export const maxReadCodeChars = 2_000;

/** Characters of a message to or from a server on stderr. */
export const maxWireChars = 1_000;

// Names and rows

/** Characters of an id in a list, at least: the part of it that says when it began has eight. */
export const minIdChars = 8;

/** Ids of executions that an error lists. */
export const maxListedIds = 5;

/** Servers named when nothing was found. */
export const maxServersOfNothingFound = 20;

/** Tools in the table. The JSON contains all. */
export const maxStatisticsTools = 30;

/** Bars for days or other periods: the latest ones. */
export const maxStatisticsBars = 31;

/** Tools that completion offers. If more fit, servers are offered first. */
export const maxCompletedTools = 200;

/** Servers that fit a name. More are counted, and not listed. */
export const maxListedMatches = 20;

/** Servers that a search shows. More are counted, and not shown. */
export const maxFoundServers = 50;

/** Variables that a report names. */
export const maxNamedVariables = 8;

// Doctor

/** With less free space, a tool result that is written to the workspace may not fit. */
export const minFreeBytes = 100 * megabyte;

/** Milliseconds that doctor gives a daemon to answer when it is asked again. */
export const lateAnswerMs = 10_000;

/** Milliseconds until doctor looks again at generated files that differ: the daemon may be writing them. */
export const lateFilesMs = 500;

/** A start that takes more than this share of its time limit is reported as slow. */
export const slowStartShare = 0.5;

/** A token of `serve --http` that expires sooner is reported. */
export const tokenEndsSoonMs = 7 * dayMs;

/** A sign-in that ends sooner and cannot be renewed is reported. */
export const signInEndsSoonMs = dayMs;

/** How often a daemon that is a service looks whether another one has ended. */
export const anotherLookMs = 3_000;

/** Time for a command that starts or stops a service. */
export const serviceCommandMs = 60_000;

/**
 * Time for a receiver of telemetry to take one message, with all attempts, unless a variable sets another. A command may stay as long
 * after its answer.
 */
export const commandSendMs = 2_000;

/** The same for `serve` and the daemon. */
export const serverSendMs = 5_000;

/** How often a log file that is followed is looked at. */
export const logFollowMs = 150;

/** Bytes of one read of a log file. */
export const maxLogReadBytes = 4 * megabyte;

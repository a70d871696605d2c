/** The limits of the database: how long processes wait for each other, and how much is done in one step. */

import { hourMs, megabyte } from "../base/units.ts";

// Waiting

/** Time that a process waits for another one that writes. */
export const databaseBusyMs = 10_000;

/** How often the database is looked at for changes of others, while a listener waits for them. */
export const storeLookMs = 250;

/** Time without a job after which the thread that writes ends. */
export const writerIdleMs = 30_000;

// Approvals

/** Characters of an excerpt of a call's arguments. The migration in database.ts has the same number. */
export const maxExcerptChars = 2_000;

/** Days that decided approvals are kept for lists. */
export const approvalKeptDays = 30;

/** Decided approvals that are kept for each config. */
export const maxDecidedApprovals = 1_000;

/** Open approvals of one config, and the bytes of their arguments. */
export const maxOpenOfConfig = { rows: 500, bytes: 64_000_000 };

/** The same for all configs together. */
export const maxOpenOfAll = { rows: 2_000, bytes: 256_000_000 };

/**
 * Time for a worker to change approvals: longer than all waits for locks together. A worker that is ended within a transaction would keep
 * its lock.
 */
export const approvalChangeMs = 120_000;

/** Free pages of the database that are given back at once. */
export const approvalPagesGivenBack = 4_000;

// The audit log

/** Maximum length of one text of an event, in characters. Names come from servers. */
export const maxAuditTextChars = 500;

/** Events that are kept for a listener. A command writes few; a process that writes many has a listener, or needs none. */
export const maxUnheardEvents = 100;

/** Lines that one cut of the log removes. */
export const maxCutLines = 50_000;

// Work in one step

/**
 * Pages of the write-ahead log before any other thread copies them into the database. The store's own thread does it after
 * 1000 pages, so that others rarely have to.
 */
export const checkpointPages = 8_000;

/** A larger answer is stored in slices of this size. */
export const answerSliceBytes = megabyte;

/** Rows that are deleted in one step. Deleting overwrites them. */
export const maxDeletedAtOnce = 16;

/** Free pages that are given back in one step. */
export const maxPagesGivenBack = 500;

/** A database with more data than this is not rewritten only to make its file shrink later. */
export const maxRewrittenBytes = 64 * megabyte;

// Postgres

/** Time for a statement or a transaction. After that, its connection counts as lost. */
export const databaseAnswerMs = 20_000;

/** Time in which a transaction waits for its process. */
export const transactionIdleMs = 5_000;

/** Time for a new connection. */
export const databaseConnectSeconds = 5;

/** Time in which work is begun again after its connection was lost. */
export const databaseRetryMs = 6_000;

/** The same for what stores programs. */
export const patientRetryMs = 30_000;

/** Connections of one process, besides the one that waits for changes. */
export const maxConnections = 6;

/** Connections of one process for documents, besides the one that waits for changes. */
export const maxDocumentConnections = 2;

/** A process that does not renew its lock for documents for this long has lost it. */
export const documentLockMs = 10_000;

/** How often a lock for documents is renewed. */
export const documentLockRenewedMs = 3_000;

/** A process that does not renew its lease for this long counts as dead. */
export const leaseMs = 15_000;

/** How often a lease is renewed. */
export const leaseRenewedMs = 4_000;

/** How soon others are told of frequent changes. */
export const changeToldMs = 100;

/** How soon a lost connection of listeners is replaced at first. The pause grows to `changeLookMs` while the database is away. */
export const listenAgainMs = 100;

/** How often listeners are told without a change, in case that a message was lost. */
export const changeLookMs = 15_000;

/** Time for which the size of the stored pages is remembered. */
export const roomKnownMs = 3_000;

/** How often one of the processes removes what is no longer kept. */
export const tidyTurnMs = hourMs;

/** Executions that a process begins to continue at the same time. */
export const maxContinuedAtOnce = 4;

/** How often the executions are looked for that no process runs, if nothing says that there are new ones. */
export const dueLookMs = 3_000;

/** The shortest time between two looks. */
export const dueLookPauseMs = 300;

/** Executions that one look finds. The next one finds others. */
export const maxDueAtOnce = 500;

/** How often a process asks for jobs, if it does not know of new ones. */
export const jobLookSeconds = 2;

/** How often a process looks for jobs of processes that have died. */
export const jobTendSeconds = 3;

/** A job whose process shows no sign of life for this long is given to another one. pg-boss allows no less. */
export const jobLifeSeconds = 10;

/** Time for one attempt. */
export const jobSeconds = 120;

/** Attempts to continue an execution after the first one, and the shortest and the longest time between them. */
export const continuationRetries = { retryLimit: 6, retryDelay: 5, retryDelayMax: 120 };

/** Time that jobs are kept after their end. */
export const jobKeptSeconds = 600;

/** Connections for jobs. */
export const maxJobConnections = 2;

/** Rows of a table that are read in one step, if there may be very many. */
export const rowsReadAtOnce = 500;

/** Bytes of pages that are read in one step. */
export const rowBytesReadAtOnce = megabyte;

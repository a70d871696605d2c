/** Limits that several files share. */

import { megabyte } from "../base/units.ts";

/** Time that a process waits for another one that writes. */
export const databaseBusyMs = 10_000;

/** Days that decided approvals are kept for lists. */
export const approvalKeptDays = 30;

/** Decided approvals that are kept for each config. */
export const maxDecidedApprovals = 1_000;

/** Lines that one cut of the log removes. */
export const maxCutLines = 50_000;

/** A larger answer is stored in slices of this size. */
export const answerSliceBytes = megabyte;

/** Time in which work is begun again after its connection was lost. */
export const databaseRetryMs = 6_000;

/** Size of one part of a file. */
export const filePartBytes = megabyte;

/**
 * The limits of programs: what is recorded and counted of them, and how long callers wait. Limits of one program that a config sets are
 * in config/defaults.ts.
 */

import { dayMs, hourMs, kilobyte, megabyte } from "../base/units.ts";

// Running and saving

/** Characters of a program. Longer programs are refused. */
export const maxSourceChars = 500_000;

/** Time for running calls to be answered when the process ends. Agents wait about two seconds for the end. */
export const lastAnswersMs = 1_000;

/** Time for a program that waits to be saved. */
export const programSavingMs = 2_000;

/** Time between looks for stored executions that are no longer kept. */
export const tidyMs = hourMs;

/** How often a process that ends looks which executions it can give up. */
export const drainLookMs = 50;

/** How often the store is looked at for what other processes want of executions. */
export const executionLookMs = 500;

/** Memory of the programs that are copied at the same time. A larger program is copied alone. */
export const maxCopiedBytes = 64 * megabyte;

/** What one program may write at once to be saved. */
export const savedBurstBytes = 128 * megabyte;

/** What it may write in each second afterwards. */
export const savedBytesPerSecond = 4 * megabyte;

/** Log lines that are written before other events are handled. */
export const storedLinesAtOnce = 2_000;

/** Characters of one record of a stored program. Longer texts are split. */
export const storedRecordChars = 256 * kilobyte;

/** Maximum number of open subscriptions of one execution. */
export const maxOpenSubscriptions = 100;

/** Changed resources that wait to be asked for. Several changes of one resource count once. */
export const maxChangedResources = 1_000;

// What programs and people read

/** Tools with a smaller share of the best score are not suggested: they have little more than one word in common. */
export const minSuggestionShare = 0.4;

/** Tools that an error names. */
export const maxNamedTools = 20;

/** Schemas that refer to themselves have no end. No schema written by hand has more alternatives. */
export const maxSchemaParts = 100;

/** Characters of a value in an error. */
export const maxShownArgumentChars = 60;

/** Tools that `tools.search` finds, if the program sets no limit. */
export const defaultToolsSearchLimit = 10;

/** The highest limit that the program may set. */
export const maxToolsSearchLimit = 100;
/** Characters of the name of a tool in a line about its progress. */
export const maxProgressNameChars = 100;

/** Characters of a server's message about its progress. */
export const maxProgressChars = 200;

/** Fewer characters that were kept out of the context are not worth mentioning. They may be quotes and line breaks alone. */
export const notableChars = 1_000;

// Records

/** Delay before a record is written, so that the answer goes first. */
export const recordAfterMs = 20;

/** Calls that are recorded. Further calls are only counted. */
export const maxRecordedCalls = 10_000;

/** Characters of the arguments of one call. */
export const maxRecordedArgumentChars = 10_000;

/** Characters of the result of one call. */
export const maxRecordedResultChars = 20_000;

/** Characters of the program. */
export const maxRecordedCodeChars = 500_000;

/** Characters of one log line, and of one message of a failure. */
export const maxRecordedLogChars = 20_000;

/** Characters of the value that the program returns. */
export const maxRecordedValueChars = 100_000;

/** Characters of all contents of an execution. */
export const maxRecordedChars = 4_000_000;

/** No secret is longer. This much is read beyond a cut and then dropped, so that half a secret is never kept. */
export const maxMaskedSecretChars = 4_096;

/** Ids of executions that begin within this time, by a clock that may be set back, follow each other. */
export const idsTogetherMs = 1_000;

// Counts

/** Delay before counts are written. A crash loses at most the counts of this time. */
export const countsAfterMs = 2_000;

/** Days that are kept. Older days become months. */
export const ledgerKeptDays = 100;

/** Months that are kept. Older months become years. */
export const ledgerKeptMonths = 24;

/** Tools in one period. */
export const maxCountedTools = 1_000;

/** Writes of counts until they are summed up by day. Readers sum up the rest. */
export const maxUnsummedWrites = 200;

/** What is kept of recorded executions. */
export const recordsKept = { count: 200, ageMs: 14 * dayMs, bytes: 50 * megabyte };

/** Days that the page and the terminal show by default, including today. */
export const defaultDays = 30;

/** After this time, a use of a tool counts half. */
export const halfLifeDays = 14;

// Saved programs

/** Saved programs of one config, or of one door. */
export const maxSavedPrograms = 200;

/** Characters of the code of a saved program. */
export const maxSavedCodeChars = 200_000;

/** The schemas of a saved program. The file of the program has them as indented JSON, which grows with the square of the levels. */
export const savedSchemaLimits = { characters: 1_000_000, values: 20_000, levels: 500 };

/** Characters of the description of a saved program, which searches show. */
export const maxSavedDescriptionChars = 1_000;

/** How deep saved programs can call each other. */
export const maxProgramDepth = 5;

/** Agents whose last program is remembered, so that they can save it. */
export const maxLastPrograms = 50;

/** Schedules of one config, or of one door. */
export const maxSchedules = 100;

/** Missed times that are counted. */
export const maxCountedMisses = 1_000;

/** Runs of a saved program that an agent gets, the latest first. */
export const maxToldRuns = 5;

/** Characters of the value of a run that an agent gets. */
export const maxToldValueChars = 10_000;

// Dry runs

/** Calls that a dry run lists. Others are only counted. */
export const maxPlannedCalls = 1_000;

/** Characters of the arguments of all listed calls. Further arguments are left out. */
export const maxPlannedChars = 1_000_000;

/** Characters of the list of calls that an agent or a person gets. */
export const maxPlannedTextChars = 6_000;

/** Characters of one call in this list. */
export const maxPlannedCallChars = 500;

// Shared workspaces

/** Attempts to read the files of a workspace while others replace them. */
export const maxBringingAttempts = 5;

/** Problems of files that are remembered, so that each is told once. */
export const maxToldProblems = 1_000;

/** Difference of two times of a file that are the same. Systems round them. */
export const roundedMs = 1;

/** Files of a workspace that are looked at before other events are handled. */
export const entriesAtOnce = 200;

/**
 * The limits of the sandbox: how long, how large and how many, and why. Limits that a config sets are in config/defaults.ts; these are for
 * everybody. The numbers of the guest stand in the guest: its script must stay the same for as long as programs wait that it has saved.
 */

import { megabyte } from "../base/units.ts";

// Reading a program

/** CPU time for parsing a program. Parsing takes milliseconds, but for some programs a parser would try combinations for years. */
export const programReadingMs = 5_000;

/** How much the memory of this process may grow meanwhile, in MB. A parser that tries combinations leaves garbage quickly. */
export const programReadingMb = 512;

/** The pause between two looks at the memory meanwhile. Most programs are parsed before the first. */
export const programReadingLookMs = 200;

/** Characters of a program. Parsers take more than a kilobyte of memory for each token. */
export const maxProgramChars = 500_000;

/** Tokens of a program, for the same reason. Words in strings and comments count as well. */
export const maxProgramTokens = 150_000;

/** Syntax errors in longer programs keep the message of the parser. */
export const maxExplainedSyntaxChars = 20_000;

/** Characters at the beginning of a line that are searched for a Markdown fence. */
export const maxFenceChars = 200;

/** Findings of the check that an error lists. */
export const maxListedFindings = 20;

/** Exports that are read from one skill. Programs write skills, and the thread that answers the host reads them, so the work is limited. */
export const maxSkillExports = 100;

/** Characters of an exported declaration in which its signature is looked for. */
export const maxExportDeclarationChars = 2_000;

/** Characters of the signature of an export. A longer one is cut. */
export const maxExportSignatureChars = 300;

/** Characters of the comment before an export that are read. */
export const maxExportCommentChars = 4_000;

/** Transpiled skills that a worker keeps. Beyond it, all are dropped and transpiled again when they are imported. */
export const maxTranspiledSkills = 100;

/** Skills that are read for their exports, when an error lists what could have been imported. */
export const maxReadSkills = 8;

// Workers

/** Time for a worker to stop by itself before it is terminated. On a busy machine it takes long, and says where the code was. */
export const stopGraceMs = { timeout: 1_000, cancelled: 250 };

/** Time that an outcome waits for its explanation. */
export const explanationMs = 2_000;

/** Time for a worker to make a copy before other programs go first. */
export const imageCopyMs = 1_000;

/** A kept program is parked after this many times the usual time if it waits for a call and not for a person. */
export const longCallShare = 6;

/** Time for terminated workers to end. */
export const workerEndingMs = 1_000;

/** Memory of all parked programs together. Beyond it, programs that wait keep their worker. */
export const maxParkedBytes = 512 * megabyte;

// Places of programs

/**
 * Programs that compute at the same time, for each core. The operating system gives the cores to all of them in turn, so a program of one
 * owner is slow beside too many of another.
 */
export const computingPerCore = 2;

/** At least, so that some owners can compute beside each other on a small machine. */
export const minComputingPrograms = 8;

/** At most, because the main thread must get a core within 100 ms. */
export const maxComputingPrograms = 16;

/** Programs in memory, for each that may compute. Those that wait for calls take 8 MB each, and no core. */
export const programsPerComputing = 4;

/** The part of the machine's memory that programs may fill that use all that they may use by default. Each counts as `memoryOfProgram`. */
export const programMemoryShare = 0.5;

/** The default of the memory of a program. */
export const memoryOfProgram = 256 * megabyte;

/** The part of the places to compute that is kept for owners that have none. The rest is enough for an owner that is alone. */
export const reservedComputingShare = 0.5;

/** The pause between two looks at which programs only wait, while others need their places. */
export const placeLookMs = 5;

/** Programs that leave their place in memory while they wait for a person. Later ones keep it. */
export const maxProgramsWithoutPlace = 100;

// Shares of the time of this process

/** A caller is active for this long after it has used time. */
export const activeCallerMs = 1_000;

/** The time that a caller may use at once before it waits for its share. */
export const callerReserveMs = 250;

/** The most that a caller can owe. A program that computed for ten seconds keeps the next one waiting for this time, times the callers. */
export const largestCallerDebtMs = 500;

/** A caller works for this long after it has used time. Then it pauses, and those that owe time get all of it. */
export const workingCallerMs = 100;

/** The part of its share that a caller gets while it owes time and another works that owes less. */
export const debtorShare = 1 / 3;

/** A caller owes less than another if it owes this much less. Otherwise both get their shares. */
export const debtLeadMs = 50;

/** The longest pause between two looks at whether a caller may go on. */
export const shareLookMs = 25;

/** CPU time that a program takes around its own, on all threads: its request, its text, its answer. Measured, like the next three. */
export const programOverheadMs = 10;

/** CPU time that a call takes in this process and in a fast server. */
export const callOverheadMs = 1.5;

/** The same for each million characters of its result. */
export const resultOverheadMs = 100;

/** The same for a new worker, when the one of a program cannot be used again. */
export const workerStartMs = 50;

/** The time limit of a program does not count while it waits for a timer that fires later than this, and for nothing else. */
export const longTimerMs = 60_000;

// Calls and messages

/** Different keys in the arguments of a call. */
export const maxArgumentKeys = 50_000;

/** Arguments with fewer characters cannot have as many different keys, and are not searched for them. */
export const minCharsOfManyKeys = 4 * maxArgumentKeys;

/** Values in the arguments of a call. The main thread parses them, 15 to 20 ns each, and must answer others within 100 ms. */
export const maxArgumentParts = 3_200_000;

/** Values that take as long to parse as a list or an object. */
export const partsOfContainer = 4;

/** Questions about the tools (`tools.search`, `tools.list`) of one execution: the main thread answers each. */
export const maxToolQuestions = 1_000;

/** Values that one execution displays: each is a message to the main thread. */
export const maxDisplayedValues = 1_000;

/** Tools that one execution asks about for the check and the advice. Others stay unknown. */
export const maxKnownTools = 500;

/** Searches that one execution makes for the check and the advice. Others find nothing. */
export const maxKnownSearches = 50;

/** Characters of such a search. Its words come from the program, and should be a name or two. */
export const maxKnownSearchChars = 500;

/** Rounds of questions about tools: an answer may lead to more. */
export const maxKnownToolsRounds = 5;

/** Longer JSON of content blocks is not parsed for counting. */
export const maxCountedBlocksChars = 500_000;

/** Characters of JSON that are read in one turn of the event loop. */
export const jsonCharsInTurn = 1_000_000;

/** Calls and answers of one moment cross between the threads together, unless they are longer than this many characters. */
export const maxJoinedChars = 10_000;

/** At most this many calls wait to cross together, so that the main thread makes some while the program goes on. */
export const maxJoinedCalls = 8;

// Logs

/** Log lines go to the main thread in groups of at least this size. */
export const logGroupBytes = 32_768;

/** A smaller group goes after this time. */
export const logGroupAgeMs = 25;

/** Log lines that the advice examines, from the first one. */
export const adviceLogLines = 300;

/** Memory that a log line takes beside its text. */
export const logLineBytes = 64;

/** Share of the limit of the logs for their beginning. The rest is for their end. */
export const logHeadShare = 0.75;

// Memory and images

/** Memory reserved for the engine itself, so that exhausted memory is an exception and no abort. */
export const engineReserveBytes = 1_048_576;

/** Loop rounds between two calls of the host: about a millisecond. */
export const fuelRounds = 200_000;

/** Shorter texts are copied into the engine with emscripten's loop, which is faster for them than the platform's encoder. */
export const minEncodedChars = 512;

/** An engine's memory that has grown beyond this is discarded instead of restored, because its pages would stay resident. */
export const keptContextBytes = 48 * megabyte;

/** If a program has used more memory than this, the pages go back to the system before the next one. */
export const minGivenBackBytes = 16 * megabyte;

/** The used part below the end of a fresh engine's memory: the beginning of the heap, and the top of the stack. */
export const keptBelowEndBytes = megabyte;

/**
 * A context counts as exhausted when less than this is left of its memory. The runtime's limit is a little below the end of the memory (see
 * `engineReserveBytes`), and allocations leave gaps.
 */
export const exhaustedBytes = 3 * megabyte;

/** Time for the engine's own work at the end of an execution. Stopping it would lose its stack, and so the context. */
export const contextEndingMs = 50;

/** Host calls between two garbage collections. */
export const callsPerCollection = 50_000;

/** Memory is compared with a fresh engine's in blocks of this size. */
export const comparedBlockBytes = 256;

/** A larger part of the host's state is split in an image. */
export const imagePartBytes = megabyte;

/** Bytes of one batch of pages of an image. Batches are written one at a time, and others may write between two of them. */
export const imageBatchBytes = megabyte;

// What the engine asks its host to compute

/** Characters of the JSON of the arguments. */
export const maxComputeChars = 10_000_000;

/** Random bytes of one request. */
export const maxHostRandomBytes = megabyte;

/** Characters of a text that `Intl.Segmenter` splits. */
export const maxSegmentedChars = 1_000_000;

/** Formatters that a worker keeps. Beyond it, all are dropped and made again when they are needed. */
export const maxKeptFormatters = 100;

/** Digits of a number that `Intl` formats. Longer numbers are refused, because parsing takes quadratic time. */
export const maxFormattedDigits = 10_000;

// Files of a program

/** Characters of a path. */
export const maxPathChars = 4_096;

/** Bytes of one name in a path. */
export const maxNameBytes = 255;

/** Bytes of a path that replicas share. An index of the database has it. */
export const maxSharedPathBytes = 1_024;

/** Depth of folders, because each folder of a path is opened. */
export const maxFolderDepth = 64;

/**
 * Depth of folders that are listed, measured or removed. Other programs may create deeper folders than sandboxed code can. Each folder
 * stays open while its contents are read.
 */
export const maxWalkedDepth = 128;

/** Age of a temporary file after which it counts as abandoned. No write takes this long. */
export const abandonedFileAfterMs = 120_000;

/** Size of one file that a program writes. */
export const maxFileBytes = 50 * megabyte;

/** Size of the workspace. */
export const maxWorkspaceBytes = 500 * megabyte;

/** Files and folders of the workspace together. */
export const maxWorkspaceEntries = 10_000;

/** Size of the workspace that a dry run can copy. */
export const maxScratchBytes = 200 * megabyte;

/** The workspace is measured again after this time. Until then, changes of other executions are not noticed. */
export const quotaCountedForMs = 2_000;

// Explaining an outcome

/** Longer code is not explained after a failure, because it would take too long. */
export const maxExplainedCodeChars = 50_000;

/** Characters of a failure in a receipt. */
export const maxReceiptFailureChars = 200;

/** Characters of a failure that are compared with what the program says. */
export const maxComparedFailureChars = 1_000;

/** Results of one tool that are kept for the advice: the first one and the last ones. */
export const maxSeenResults = 4;

/** Longer results that are kept for the advice replace each other: only the last one is kept. */
export const longResultChars = 1_000_000;

/** Characters of arguments, results and failures of calls that are saved with a program. */
export const maxSavedCallChars = 262_144;

/** Characters of a program that is looked through once more after it succeeded, for signs that its output is wrong. */
export const maxSuspectedCodeChars = 20_000;

/** Names of a program that are searched for in the results. */
export const maxSuspectedNames = 200;

/** Characters of results that are searched for these names. */
export const maxSuspectedResultChars = 4_000_000;

/** Characters of a value that is searched for empty parts for this. */
export const maxEmptySearchChars = 10_000;

/** Warnings about one program. */
export const maxWarnings = 5;

/** Values of one part of the results that the advice compares. */
export const maxSeenValues = 5_000;

/** Keys of an object that a text names. */
export const maxShownKeys = 20;

/** Values of a property that the advice has seen. With more, it is not a set of choices. */
export const maxChoices = 12;

/** Characters of results that are parsed again for the advice. */
export const maxReparsedChars = 8_000_000;

/** Longer arguments are not written again in a suggestion. */
export const maxCorrectedArgumentsChars = 160;

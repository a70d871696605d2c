/** The limits of the policy: how often the user is asked, how much of a call is shown, and what the audit log keeps. */

import { dayMs, minuteMs } from "../base/units.ts";

/** Attempts of a request that is permitted for one connection, if its server is restarted each time. */
export const maxSendAttempts = 3;

// Asking

/** Questions about a tool that changes after each question. */
export const maxQuestionRounds = 3;

/** Calls of one execution that wait for a decision at the same time. Further calls wait until one of them is decided. */
export const maxWaitingCalls = 20;

/** Different tools of one execution that are refused. After that, it asks no more. */
export const maxRefusedTools = 5;

/** Questions of one execution. */
export const maxQuestions = 50;

/** After this many refusals of one tool within the time below, from any execution, it is not asked about for as long again. */
export const maxRefusalsOfTool = 3;

/** The time for this. */
export const refusalPauseMs = minuteMs;

/** Time between looks at the decisions of other processes. */
export const decisionLookMs = 500;

/** Time between looks whether an execution waits for a decision. The user may be asked a moment after the question was stored. */
export const questionLookMs = 250;

// Showing a call

/** Characters of a name. The whole question fits into a terminal window. */
export const maxQuestionNameChars = 120;

/** Characters of the reason why the user is asked. */
export const maxWhyChars = 700;

/** Characters of one line of the arguments. */
export const maxArgumentLineChars = 200;

/** A question shows this much of the beginning of long arguments. */
export const firstArgumentLines = { lines: 10, characters: 800 };

/** A question shows this much of the end of long arguments. */
export const lastArgumentLines = { lines: 5, characters: 400 };

/** Longer arguments are not read as a whole, and the number of omitted characters is not exact. */
export const maxExactChars = 100_000;

/** Characters of a broken line, at least. */
export const minBrokenLineChars = 20;

/** Characters of the line of code that is shown with a question. */
export const maxQuestionCodeChars = 300;

// Quotas

/** Time until a call over a quota is refused. */
export const refusedCallMs = 100;

// People who sign in at an OIDC provider

/** Time for the provider to answer a request. Agents wait meanwhile. */
export const providerRequestMs = 5_000;

/** Size of its metadata, its keys and its answers. Those of large providers have some 20 kB. */
export const maxProviderBytes = 1_000_000;

/** Time that its metadata and its keys are used without a look whether they have changed. */
export const providerKeysMs = 10 * minuteMs;

/** Time between two looks for keys that tokens name and that are not known. Anybody can send such tokens: they wait for the next look together. */
export const unknownKeyPauseMs = 1_000;

/** Time that a provider that has failed is not asked again. */
export const providerPauseMs = 2_000;

/** Characters of a token. Servers accept headers of about 16 kB. */
export const maxPersonTokenChars = 16_000;

/** Time that an answer of the provider about an opaque token counts, unless the token expires earlier. */
export const introspectionKeptMs = 30_000;

/** Tokens that the provider is asked about at the same time. Others wait. */
export const introspectionsAtOnce = 10;

/** Answers that are remembered. */
export const maxIntrospections = 10_000;

/** Groups of one person. Further ones do not count. */
export const maxGroups = 1_000;

/** Characters of the name of a person in lists and logs. */
export const maxPersonNameChars = 100;

/** How often expired and revoked people are looked for. What they began must end within a second. */
export const peopleLookMs = 250;

/** Tokens of one person whose groups are known at once. A person has few clients, and each has one valid token. */
export const maxLiveTokens = 50;

/** Time for which the groups in the newest token of a person are kept. Older tokens have expired long before. */
export const newestGroupsKeptMs = 90 * dayMs;

/** Time between two writes of the time when a person was here last. */
export const personSeenGapMs = minuteMs;

// What a session has read

/** Characters of data of one call that are kept for a comparison with arguments, such as a list of 10,000 orders. */
export const maxReadChars = 4_000_000;

/** The same for all calls of a program, and for everything that a session has seen. */
export const maxKeptReadChars = 8_000_000;

/** Values of one text that are told apart. The rest is compared as letters only. */
export const maxTextLeaves = 100_000;

/** Characters of the longest value that counts as one fact, such as the name and address of a sender. A longer one is free text. */
export const maxFieldChars = 120;

/** Letters of the shortest word of a result that is found among the words of the program. */
export const minWordLetters = 4;

/** Letters of the shortest address, channel or name that is looked for in texts of strangers. */
export const minAddressLetters = 3;

/** Numbers that an outcome may show without showing data, such as counts and sums. */
export const maxPlainNumbers = 60;

/** Characters of the shortest code, such as base64, that counts as encoded data if nobody has shown it. */
export const minEncodedChars = 24;

/** Numbers that a call to a chosen place may hold, such as a count, without counting as computed data. */
export const maxSentNumbers = 3;

/** Letters of the shortest number, address or code that is data by itself. */
export const minCodeLength = 8;

/** Changes between letters and digits in such a code. */
export const minCodeLetters = 3;

/** Characters of the longest answer that may be no more than a repetition of its arguments. */
export const maxEchoChars = 2_000;

/** Letters of the names that such an answer may add of its own, all together: too few for an address. */
export const maxOwnNameLetters = 12;

/** Names of arguments whose meaning is kept. */
export const maxKeptArgumentNames = 2_000;

/** Sentences of a stranger's text in which the one is looked for that a question quotes. */
export const maxSearchedSentences = 10_000;

/** Letters that are looked for in a text. More could take quadratic time, and say no more. */
export const maxSoughtLetters = 2_000;

/** Letters of a piece of a text. A repeated part is found if it has one and a half times as many, or is a whole value. */
export const pieceLetters = 16;

/** Letters of the shortest value that is compared. */
export const minPieceLetters = 5;

/** Pieces of the arguments of a call that are compared. */
export const maxComparedPieces = 1_000;

/** Characters of private data that all pieces together are compared with, in the main thread: 0.2 ms for each million. */
export const maxComparedChars = 400_000_000;

/** Characters of one value that are compared. */
export const maxComparedTextChars = 50_000;

/** Sessions of clients of `serve --http` in memory. Others are read from the database when they come back. */
export const maxKnownSessions = 10_000;

/** Time between two looks whether other processes have written files with labels. */
export const labelLookMs = 1_000;

/** Days that labels of clients are kept after they were last written. Those of executions and files go with these. */
export const labelKeptDays = 30;

// How rules label tools

/** Characters of the name of a tool or an argument that the rules read. A longer one says nothing more. */
export const maxRuleNameChars = 200;

/** Characters of a description in which the rules look for its first sentence. */
export const maxRuleSentenceChars = 400;

/** Arguments of a tool that the rules read. */
export const maxRuleArguments = 100;

/** Words whose stems are kept. Definitions use few words, and a stem takes some microseconds. */
export const maxKnownStems = 5_000;

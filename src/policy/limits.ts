/** Limits that several files share. */

/** Calls of one execution that wait for a decision at the same time. Further calls wait until one of them is decided. */
export const maxWaitingCalls = 20;

/** Time for the provider to answer a request. Agents wait meanwhile. */
export const providerRequestMs = 5_000;

/** Characters of a token. Servers accept headers of about 16 kB. */
export const maxPersonTokenChars = 16_000;

/** Characters of data of one call that are kept for a comparison with arguments, such as a list of 10,000 orders. */
export const maxReadChars = 4_000_000;

/** Values of one text that are kept as separate values. Further values are compared as letters only. */
export const maxTextLeaves = 100_000;

/** Minimum letters of a word in a result that is searched for among the program's words. */
export const minWordLetters = 4;

/** Maximum characters of an answer that may count as a repetition of its arguments. */
export const maxEchoChars = 2_000;

/** Maximum letters that are searched for in a text. More could take quadratic time without a better result. */
export const maxSoughtLetters = 2_000;

/** Letters of a piece of a text. A repeated part is found if it has one and a half times as many letters, or is a whole value. */
export const pieceLetters = 16;

/** Minimum letters of a value that is compared. */
export const minPieceLetters = 5;

/** Characters of private data that all pieces together are compared with, in the main thread: 0.2 ms for each million. */
export const maxComparedChars = 400_000_000;

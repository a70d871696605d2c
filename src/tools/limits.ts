/** Limits that several files share. Tools come from servers, which may send anything. */

/** Time to wait for the first answer of a server, from the moment it was asked. */
export const firstAnswerMs = 10_000;

/** Names of servers in a hint. */
export const maxHintedNames = 20;

/** Files of fewer tools are written on the main thread, which takes a few milliseconds. */
export const minToolsOffThread = 500;

/** Only the beginning of longer JSON is parsed. */
export const maxObservedTextChars = 4_000_000;

/** Levels of a value that are looked at. */
export const maxObservedDepth = 6;

/** Levels of a schema. Deeper ones are `unknown`. */
export const maxSchemaDepth = 64;

/** Outer schemas that are kept to find the defaults of arguments. The nearest ones are kept. */
export const maxSurroundingSchemas = 32;

/** Characters of a description in a comment. */
export const maxDocDescriptionChars = 400;

/** Levels of a schema that are prepared for the check. */
export const maxCheckedDepth = 64;

/** Words of a phrase of the vocabulary, such as `out_of_office`. */
export const maxPhraseWords = 3;

/** With fewer tools, making the index is faster than reading it. */
export const minPreparedTools = 500;

/** Characters of a server's name for something, when a reason quotes it. */
export const maxShownNameChars = 80;

/** Tools for one need, if the agent sets no limit. */
export const defaultSearchLimit = 5;

/** The highest limit that an agent may set for a search, in tools. */
export const maxSearchLimit = 50;

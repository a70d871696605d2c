/** The limits of the task runner: what a small model is given to read, and how often it and a server are tried. */

// Prompts. Beyond a budget, each part gets fewer words or none.

/** The budget of all options. */
export const maxOptionsTokens = 2_400;

/** The budget of the descriptions of arguments. */
export const maxArgumentsTokens = 1_500;

/** Characters of the type of a tool's arguments. */
export const maxTypeChars = 4_000;

/** Characters of a tool's description. */
export const maxToolDescriptionChars = 1_500;

/** A larger schema is not sent with the prompt. */
export const maxSchemaTokens = 4_000;

/** Factor for the maximum if search finds none of the options, because the right one might be left out. Each gets fewer words. */
export const unknownOptionsFactor = 4;

/** Servers that describe a category. */
export const maxDescribingServers = 6;

/** Tools that describe a server. */
export const maxDescribingTools = 4;

/** Arguments that describe a tool. */
export const maxDescribingArguments = 12;

/** Characters of the choices of an argument. */
export const maxChoicesChars = 100;

/** Characters of a task. Longer ones would cost their tokens again at every level. */
export const maxTaskChars = 20_000;

/** Maximum number of tools from other places that are offered when no option of a level fits, or named when nothing fits. */
export const maxElsewhere = 10;

/** Tools that a failure names. */
export const maxNearTools = 3;

/** Maximum number of unavailable servers that a failure names. */
export const maxMissedServers = 5;

// Answers

/** Tokens of the answer with one option. Enough for models that think before they answer. */
export const choiceAnswerTokens = 1_000;

/** Tokens of the answer with arguments, which may be long texts. */
export const argumentsAnswerTokens = 4_000;

/** Extra tokens for thinking, which endpoints count as part of the answer. */
export const thinkingTokens = 1_024;

/** Only this much of an answer is searched. */
export const maxAnswerChars = 200_000;

/** Braces that are tried as the start of an object. */
export const maxObjectStarts = 200;

/** Levels of the JSON of an answer. */
export const maxAnswerDepth = 64;

// Trying again

/** Maximum number of tries for one request, including the first. */
export const maxRequestTries = 4;

/** If the endpoint asks for a longer wait, the request fails. */
export const maxEndpointPauseMs = 20_000;

/** Time for the host's model to answer. Long, because hosts may show the request to the user first. */
export const samplingMs = 300_000;

/** Maximum number of starts and calls together. There are fewer if each takes the full time limit. */
export const maxCallTries = 3;

/** The same if each takes the full time limit. */
export const maxCallTimeouts = 2;

/** Wait before the second try. It doubles for the third. */
export const firstRetryMs = 300;

/** A server that asks for a longer wait is reported instead. */
export const maxRetryMs = 5_000;

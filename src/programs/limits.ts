/** Limits that several files share. Limits of one program that a config sets are in config/defaults.ts. */

/** Characters of a program. Longer programs are refused. */
export const maxSourceChars = 500_000;

/** Tools that an error names. */
export const maxNamedTools = 20;

/** Fewer characters that were kept out of the context are not worth mentioning. They may be quotes and line breaks alone. */
export const notableChars = 1_000;

/** Characters of the arguments of one call. */
export const maxRecordedArgumentChars = 10_000;

/** Characters of the result of one call. */
export const maxRecordedResultChars = 20_000;

/** No secret is longer. This much is read beyond a cut and then dropped, so that half a secret is never kept. */
export const maxMaskedSecretChars = 4_096;

/** Days that are kept. Older days become months. */
export const ledgerKeptDays = 100;

/** Days that the page and the terminal show by default, including today. */
export const defaultDays = 30;

/** Characters of the code of a saved program. */
export const maxSavedCodeChars = 200_000;

/** Difference of two times of a file that are the same. Systems round them. */
export const roundedMs = 1;

/** Files of a workspace that are looked at before other events are handled. */
export const entriesAtOnce = 200;

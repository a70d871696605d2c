/** The limits of the parts that every command shares. */

/** Interval between checks whether the config has changed, while it is watched. */
export const configLookMs = 1_000;

/**
 * Longer questions whether a config is trusted are not asked in a form: few users would read them to the end, where a hostile config could
 * hide something.
 */
export const maxTrustQuestionChars = 3_000;

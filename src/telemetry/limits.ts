/** The limits of telemetry. */

/** Time for a receiver to take what is left when a process ends. Afterwards it is given up. */
export const lastSendMs = 2_000;

/** Ended spans and log records that wait to be sent. Further ones are dropped, so that a receiver that is down costs no more memory. */
export const maxQueued = 2_048;

/** Spans or log records of one message. */
export const maxBatch = 512;

/** Combinations of attributes of one metric. Further ones are counted together, as `otel.metric.overflow`. */
export const maxSeries = 2_000;

/** Characters of a log line that is sent. */
export const maxLogLineChars = 8_192;

/** Characters of a name that an agent chose. */
export const maxNameChars = 128;

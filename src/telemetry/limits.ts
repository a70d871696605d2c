/** Limits that several files share. */

/** Time in which metrics wait for the database. Prometheus gives a process ten seconds by default. */
export const databaseLookMs = 1_500;

/** Combinations of attributes of one metric. Further ones are counted together, as `otel.metric.overflow`. */
export const maxSeries = 2_000;

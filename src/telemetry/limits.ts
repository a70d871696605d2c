/** Limits that several files share. */

/** Combinations of attributes of one metric. Further ones are counted together, as `otel.metric.overflow`. */
export const maxSeries = 2_000;

/** Limits that several files share. */

/** Time until a daemon listens. */
export const daemonStartMs = 30_000;

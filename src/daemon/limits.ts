/** Limits that several files share. */

/** Maximum time until a new daemon listens. */
export const daemonStartMs = 30_000;

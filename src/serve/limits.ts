/** Limits that several files share. Limits of surfaces, answers and programs that a config sets are in config/defaults.ts. */

/** A connection without traffic for this long is closed. Streams send keep-alives. */
export const httpIdleSeconds = 30;

/**
 * Sessions and their streams are looked after at least twice in this time: often enough for proxies that close connections after half a
 * minute of silence.
 */
export const maxSessionTendMs = 15_000;

/** The time after which a client that was refused for lack of room may try again. */
export const retryAfterSeconds = 30;

/** Resources that one session subscribes to, or that the requests of one host listen to. Each costs its server a request. */
export const maxListenedResources = 1_000;

/** Requests of one host over stdio that run at the same time, and that wait for its answers. */
export const maxStdioRequests = 256;

/** Time for a config that was not trusted at the start to be opened. */
export const unlockMs = 2_000;

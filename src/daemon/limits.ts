/** The limits of the daemon: how long it waits, and what its socket carries. */

import { megabyte } from "../base/units.ts";
import { maxMessageBytes } from "../servers/limits.ts";

// Starting, and taking the place of an older daemon

/** Time until a daemon listens. */
export const daemonStartMs = 30_000;

/** Bytes of the folder of a socket. Systems refuse socket paths of more than about a hundred characters. */
export const maxSocketFolderBytes = 70;

/** Time until the daemon of a faster process listens. */
export const otherDaemonStartMs = 500;

/** Time for a daemon that has its place to listen. */
export const peerBeginsMs = 300;

/** Maximum time until an older daemon has freed the socket. It finishes its calls meanwhile. */
export const takeOverMs = 5_000;

/** Bytes of earlier daemons' logs that are kept when the next daemon starts. */
export const maxDaemonLogBytes = megabyte;

// Serving callers

/** Unread bytes after which a connection is given up. */
export const maxUnreadBytes = 4 * maxMessageBytes;

/** Time for the other side to read the last messages. A paused process reads nothing. */
export const lastReadMs = 30_000;

/** Bytes of the head of a request or answer. */
export const maxHeadBytes = 16_384;

/** Silence after which the daemon is asked whether it is still there. */
export const daemonSilenceMs = 10_000;

/** Time for a daemon to answer another process. A running daemon answers at once. */
export const peerAnswerMs = 2_000;

/** Time for a daemon to take over executions. It starts a worker for each that it continues. */
export const adoptMs = 20_000;

/** Time for the daemon to answer whether it runs a server. After that, this process starts the server itself. */
export const heldAnswerMs = 5_000;

// Ending

/** Time without calls after which the daemon ends, at least. */
export const minIdleMs = 300_000;

/** How often the files and the idle time are checked. */
export const daemonLookMs = 3_000;

/** Time after the socket's removal in which late callers are still sent to another daemon. */
export const lastMomentMs = 250;

/** Time for the last answers when the daemon ends. */
export const lastAnswerMs = 5_000;

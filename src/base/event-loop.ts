/** Lets other events be handled between two parts of long work, and between many small ones. */

/** Time for messages in one turn of the event loop. All servers share it: a hundred that send without pause take no longer than one. */
const eventLoopTurnMs = 8;

let lastTurn: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop that only this caller gets, so that many callers together do not block the thread. */
export function eventLoopTurn(): Promise<void> {
  lastTurn = lastTurn.then(turn);
  return lastTurn;
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => {
      timeEndsAt = performance.now() + eventLoopTurnMs;
      resolve();
    });
  });
}

let timeEndsAt = 0;

/**
 * Whether the next message may be handled at once. If not, wait for `eventLoopTurn`. The time is measured from the last such turn, or from the
 * first message after a pause; asking the event loop when a turn ends would take 2 µs for each message.
 */
export function hasTurnTime(): boolean {
  const now = performance.now();
  if (now >= timeEndsAt + eventLoopTurnMs) timeEndsAt = now + eventLoopTurnMs;
  return now < timeEndsAt;
}

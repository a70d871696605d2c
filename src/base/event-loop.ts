/** Lets other events be handled between two parts of long work, and between many small ones. */
let lastTurn: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop that no other caller gets, so that many callers do not block the thread together. */
export function eventLoopTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise<void>((resolve) => void setImmediate(resolve)));
  return lastTurn;
}

/** Time for messages in one turn of the event loop. All servers share it: a hundred that send without pause take no longer than one. */
const turnMs = 8;

let turnEndsAt: number | undefined;

/** Whether the next message may be handled in this turn. If not, wait for `eventLoopTurn`. */
export function hasTurnTime(): boolean {
  const now = performance.now();
  if (turnEndsAt === undefined) {
    turnEndsAt = now + turnMs;
    setImmediate(() => {
      turnEndsAt = undefined;
    });
  }
  return now < turnEndsAt;
}

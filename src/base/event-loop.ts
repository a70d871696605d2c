/** Lets other events be handled between two parts of long work, and between many small ones. */

import { eventLoopTurnMs } from "./limits.ts";

let lastTurn: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop that no other caller gets, so that many callers do not block the thread together. */
export function eventLoopTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise<void>((resolve) => void setImmediate(resolve)));
  return lastTurn;
}

let turnEndsAt: number | undefined;

/** Whether the next message may be handled in this turn. If not, wait for `eventLoopTurn`. */
export function hasTurnTime(): boolean {
  const now = performance.now();
  if (turnEndsAt === undefined) {
    turnEndsAt = now + eventLoopTurnMs;
    setImmediate(() => {
      turnEndsAt = undefined;
    });
  }
  return now < turnEndsAt;
}

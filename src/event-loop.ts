/** Lets other events be handled between two parts of long work. */
let lastTurn: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop that no other caller gets, so that many callers do not block the thread together. */
export function eventLoopTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise<void>((resolve) => void setImmediate(resolve)));
  return lastTurn;
}

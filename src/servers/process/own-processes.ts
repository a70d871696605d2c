/** Bounds the processes of servers that are started for single people. */
import { ClaudikinsError } from "../../base/errors.ts";

/** Processes of servers that are started for single people, in one process of claudikins. */
const maxOwnProcesses = 200;

/** Processes that this process has started for single people. */
let running = 0;

/** Counts a process for one person. Call the returned function when it has ended. Throws SERVER_UNAVAILABLE if there are too many. */
export function enterOwnProcess(server: string): () => void {
  if (running >= maxOwnProcesses) {
    throw new ClaudikinsError("SERVER_UNAVAILABLE", `${maxOwnProcesses} processes of people are running`, {
      hint: `Try again later. A shorter "idleTimeoutMs" of "${server}" ends unused processes sooner.`,
    });
  }
  running += 1;
  return () => {
    running -= 1;
  };
}

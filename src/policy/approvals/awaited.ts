/** Notices that an execution waits for a decision, and that the user is not being asked in this process. */

import { isOfExecution } from "../../store/approval.ts";
import type { Approvals } from "./approvals.ts";

/** Time between two checks whether an execution waits for a decision. The user may be asked a moment after the question was stored. */
const questionLookMs = 250;

interface AwaitedOptions {
  approvals: Approvals;
  /** Whether the user is being asked in this process. */
  isAsking: () => boolean;
  /** Ends the wait. */
  signal: AbortSignal;
}

/** Resolves when the execution waits for a decision in another place. Resolves with false when `signal` is aborted first. */
export async function awaitsApproval(
  execution: string,
  { approvals, isAsking, signal }: AwaitedOptions,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let timer: NodeJS.Timeout | undefined;
  let hasWaited = false;
  const look = async () => {
    const isWaiting = !isAsking() && (await approvals.isWaiting(execution));
    // Between two questions, the user is not asked for a moment.
    if (isWaiting && hasWaited) resolve(true);
    hasWaited = isWaiting;
  };
  const ignore = () => {};
  const stopListening = approvals.onRow((row) => {
    if (!isOfExecution(row.execution, execution)) return;
    timer ??= setInterval(() => void look().catch(ignore), questionLookMs);
  });
  const stop = () => resolve(false);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await promise;
  } finally {
    clearInterval(timer);
    stopListening();
    signal.removeEventListener("abort", stop);
  }
}

/** One request over HTTP, from its start until its answer is there. */
import type { RequestId } from "@modelcontextprotocol/sdk/types.js";

/** One request that waits for its answer. */
export interface Exchange {
  id: RequestId;
  abort: AbortController;
  /** The server numbers its events: the SDK asks for the rest when the stream breaks. */
  isResumable: boolean;
  /** How often that was in vain. */
  failedResumptions: number;
  /** Resolves when it is known whether the server takes it. */
  received: PromiseWithResolvers<void>;
}

export function newExchange(id: RequestId): Exchange {
  const received = Promise.withResolvers<void>();
  return { id, abort: new AbortController(), isResumable: false, failedResumptions: 0, received };
}

/** Resolves when of each it is known whether the server takes it, or when the time is over. */
export async function allReceived(exchanges: Iterable<Exchange>, withinMs: number): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, withinMs);
  await Promise.race([Promise.all([...exchanges].map(({ received }) => received.promise)), late.promise]);
  clearTimeout(timer);
}

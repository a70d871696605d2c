/** Drops answers that nobody waits for any more: the SDK would write each of them, however large, into an error message. */
import type { RequestId } from "@modelcontextprotocol/sdk/types.js";
import type { Log } from "../log.ts";
import type { Watcher } from "./watched-transport.ts";

export function withoutLateAnswers(server: string, log: Log): Watcher {
  const awaited = new Set<number>();
  return {
    sent(message) {
      if (!("method" in message)) return;
      if ("id" in message) awaited.add(Number(message.id));
      else if (message.method === "notifications/cancelled") awaited.delete(Number(message.params?.["requestId"]));
    },
    received() {},
    passes(message) {
      if ("method" in message) return true;
      // An error about a message that could not be read has no id.
      const { id } = message as { id?: RequestId | null };
      if (id === undefined || id === null || awaited.delete(Number(id))) return true;
      log.debug(`${server}: answered request ${id} after the caller stopped waiting`);
      return false;
    },
  };
}

/** Listens to progress of servers. The SDK would lose progress that arrives together with the answer. */
import type { JSONRPCMessage, Progress } from "@modelcontextprotocol/client";
import { ProgressNotificationSchema } from "@modelcontextprotocol/core";
import type { Watcher } from "./watched-transport.ts";

export type ProgressListener = (progress: Progress) => void;

export class ServerProgress implements Watcher {
  readonly #listeners = new Map<number, (progress: Progress | undefined) => void>();
  #lastToken = 0;

  /** The client does not need these messages. */
  received(message: JSONRPCMessage): boolean {
    if (!("method" in message) || message.method !== "notifications/progress") return true;
    // Some servers return the token as a text.
    const listener = this.#listeners.get(Number(message.params?.["progressToken"]));
    if (listener) listener(ProgressNotificationSchema.safeParse(message).data?.params);
    return false;
  }

  /** Returns the token for the request, and a function that ends listening. The listener gets undefined for progress of unexpected form. */
  listen(listener: (progress: Progress | undefined) => void): { progressToken: number; end: () => void } {
    this.#lastToken += 1;
    const progressToken = this.#lastToken;
    this.#listeners.set(progressToken, listener);
    return { progressToken, end: () => void this.#listeners.delete(progressToken) };
  }
}

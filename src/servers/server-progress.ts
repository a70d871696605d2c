/** Listens to progress of servers. The SDK would lose progress that arrives together with the answer. */
import type { JSONRPCMessage, Progress, ProgressToken } from "@modelcontextprotocol/client";
import { ProgressNotificationSchema } from "@modelcontextprotocol/core";
import type { Watcher } from "./watched-transport.ts";

export type ProgressListener = (progress: Progress) => void;

export class ServerProgress implements Watcher {
  readonly #listeners = new Map<ProgressToken, ProgressListener>();
  #lastToken = 0;

  /** The client does not need these messages. */
  received(message: JSONRPCMessage): boolean {
    if (!("method" in message) || message.method !== "notifications/progress") return true;
    const { success, data } = ProgressNotificationSchema.safeParse(message);
    if (success) this.#listeners.get(data.params.progressToken)?.(data.params);
    return false;
  }

  /** Returns the token for the request, and a function that ends listening. */
  listen(listener: ProgressListener): { progressToken: ProgressToken; end: () => void } {
    this.#lastToken += 1;
    const progressToken = this.#lastToken;
    this.#listeners.set(progressToken, listener);
    return { progressToken, end: () => void this.#listeners.delete(progressToken) };
  }
}

/** Listens to progress of servers. The SDK would lose progress that arrives together with the answer. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type Progress, ProgressNotificationSchema, type ProgressToken } from "@modelcontextprotocol/sdk/types.js";

export type ProgressListener = (progress: Progress) => void;

export class ServerProgress {
  readonly #listeners = new Map<ProgressToken, ProgressListener>();
  #lastToken = 0;

  /** Call this before the client connects. */
  attach(client: Client, transport: Transport): void {
    // Called with every message, before the client handles it.
    transport.onmessage = (message) => {
      if (this.#listeners.size === 0 || !("method" in message) || message.method !== "notifications/progress") return;
      const { success, data } = ProgressNotificationSchema.safeParse(message);
      if (success) this.#listeners.get(data.params.progressToken)?.(data.params);
    };
    client.setNotificationHandler(ProgressNotificationSchema, () => {});
  }

  /** Returns the token for the request, and a function that ends listening. */
  listen(listener: ProgressListener): { progressToken: ProgressToken; end: () => void } {
    this.#lastToken += 1;
    const progressToken = this.#lastToken;
    this.#listeners.set(progressToken, listener);
    return { progressToken, end: () => void this.#listeners.delete(progressToken) };
  }
}

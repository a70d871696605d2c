/** How far a server says it is with a call. The SDK would lose what comes in one piece with the answer; hence this. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type Progress, ProgressNotificationSchema, type ProgressToken } from "@modelcontextprotocol/sdk/types.js";

export type ProgressListener = (progress: Progress) => void;

export class ServerProgress {
  readonly #listeners = new Map<ProgressToken, ProgressListener>();
  #lastToken = 0;

  /** To be called before the client is connected. */
  attach(client: Client, transport: Transport): void {
    // Called at once with every message, before the client looks at it.
    transport.onmessage = (message) => {
      if (this.#listeners.size === 0 || !("method" in message) || message.method !== "notifications/progress") return;
      const { success, data } = ProgressNotificationSchema.safeParse(message);
      if (success) this.#listeners.get(data.params.progressToken)?.(data.params);
    };
    client.setNotificationHandler(ProgressNotificationSchema, () => {});
  }

  /** The token for the request, and what ends the listening. */
  listen(listener: ProgressListener): { progressToken: ProgressToken; end: () => void } {
    this.#lastToken += 1;
    const progressToken = this.#lastToken;
    this.#listeners.set(progressToken, listener);
    return { progressToken, end: () => void this.#listeners.delete(progressToken) };
  }
}

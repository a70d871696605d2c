/** Passes on log messages of servers, and sets their log level on each new connection. */
import type { ServerConfig } from "../config/load.ts";
import type { JsonObject } from "../json-object.ts";
import type { Connection } from "./connect.ts";

/** Called with a server's message: `level`, `data` and perhaps `logger`, unchecked. */
export type LogListener = (server: string, message: JsonObject) => void;

/** Maximum time for a server to change its level. */
const levelMs = 2_000;

export class ProtocolLog {
  #level: string | undefined;
  readonly #listeners = new Set<LogListener>();

  /** Returns a function that ends listening. */
  listen(listener: LogListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  tell(server: string, message: JsonObject): void {
    for (const listener of this.#listeners) listener(server, message);
  }

  /** Applies to servers that are connected later. Use `connected` for the others. */
  set level(level: string) {
    this.#level = level;
  }

  /** Sends the level to a server that has a log. Failures are ignored. */
  async connected(connection: Connection, { name }: ServerConfig): Promise<void> {
    if (this.#level === undefined || !connection.offers("logging")) return;
    const request = { method: "logging/setLevel", params: { level: this.#level } };
    await connection.request(request, { what: `logging/setLevel of ${name}`, timeoutMs: levelMs }).catch(() => {});
  }
}

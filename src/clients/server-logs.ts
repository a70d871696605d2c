/** What servers log, for whoever passes it on: from the level that they are told, on every new connection. */
import type { ServerConfig } from "../config/load.ts";
import type { JsonObject } from "../json-object.ts";
import type { Connection } from "./connect.ts";

/** Told which server logs what: `level`, `data` and perhaps `logger`, not checked. */
export type LogListener = (server: string, message: JsonObject) => void;

/** How long a server may take to change its level. */
const levelMs = 2_000;

export class ServerLogs {
  #level: string | undefined;
  readonly #listeners = new Set<LogListener>();

  /** What it gives ends that. */
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

  /** For servers that are connected from now on; those that are have to be told one by one. */
  set level(level: string) {
    this.#level = level;
  }

  /** Where the server has a log. It is none of its faults that it cannot be told what to log. */
  async connected(connection: Connection, { name }: ServerConfig): Promise<void> {
    if (this.#level === undefined || !connection.offers("logging")) return;
    const request = { method: "logging/setLevel", params: { level: this.#level } };
    await connection.request(request, { what: `logging/setLevel of ${name}`, timeoutMs: levelMs }).catch(() => {});
  }
}

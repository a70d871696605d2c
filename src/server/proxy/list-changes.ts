/** Announces changed lists to an agent: only lists that it has seen, and once for changes of one moment. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { JsonObject } from "../../json-object.ts";

type What = "tools" | "prompts" | "resources";

/** Servers that are asked together answer at about the same time. */
const momentMs = 50;

export class ListChanges {
  readonly #server: Server;
  /** The lists that the agent has seen, as text if they can be compared. */
  readonly #shown = new Map<What, string | undefined>();
  readonly #timers = new Map<What, NodeJS.Timeout>();

  constructor(server: Server) {
    this.#server = server;
  }

  shown(what: What, list?: readonly JsonObject[]): void {
    this.#shown.set(what, list && JSON.stringify(list));
  }

  /** `now` returns the current list. Nothing is announced if it is the same. */
  changed(what: What, now?: () => readonly JsonObject[]): void {
    if (this.#timers.has(what)) return;
    const tell = () => {
      this.#timers.delete(what);
      if (!this.#shown.has(what)) return;
      const list = now && JSON.stringify(now());
      if (list !== undefined && list === this.#shown.get(what)) return;
      this.#shown.set(what, list);
      void this.#server.notification({ method: `notifications/${what}/list_changed` }).catch(() => {});
    };
    this.#timers.set(what, setTimeout(tell, momentMs).unref());
  }
}

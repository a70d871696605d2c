/** Tells a host that a list has changed: only one that it has seen, and once for changes of one moment. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { JsonObject } from "../../json-object.ts";

type What = "tools" | "prompts" | "resources";

/** Servers that are asked together answer together. */
const momentMs = 50;

export class ListChanges {
  readonly #server: Server;
  /** What the host has seen; a text where it can be compared with. */
  readonly #shown = new Map<What, string | undefined>();
  readonly #timers = new Map<What, NodeJS.Timeout>();

  constructor(server: Server) {
    this.#server = server;
  }

  shown(what: What, list?: readonly JsonObject[]): void {
    this.#shown.set(what, list && JSON.stringify(list));
  }

  /** `now` gives the list as it is, so that nothing is told when it is the same. */
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

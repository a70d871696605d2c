/** What an agent is told in direct mode without asking: log messages, and changes of lists. */
import { LoggingLevelSchema } from "@modelcontextprotocol/core";
import type { LoggingLevel, LoggingMessageNotification, Server } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../json-object.ts";
import type { HostRequests } from "../host.ts";

const severity = new Map(LoggingLevelSchema.options.map((level, index) => [level, index]));

/** The servers' log messages with their names, from the level that the agent chose, and servers that are missing in lists. */
export class HostLog {
  readonly #server: Server;
  readonly #requests: HostRequests;
  readonly #named = new Map<string, string>();
  /** Undefined leaves the level to the servers. */
  level: LoggingLevel | undefined;

  constructor(server: Server, requests: HostRequests) {
    this.#server = server;
    this.#requests = requests;
  }

  /** Passes a log message of a server. A message with an invalid level is dropped. */
  pass(server: string, { level: given, logger, ...rest }: JsonObject): void {
    const { success, data: level } = LoggingLevelSchema.safeParse(given);
    if (!success) return;
    const source = typeof logger === "string" && logger !== "" ? `${server}/${logger}` : server;
    this.#send({ data: null, ...rest, level, logger: source }, server);
  }

  /** Reports each server that is missing in a list once, with the reason. */
  nameProblems(what: string, problems: ReadonlyMap<string, string>): void {
    for (const [server, problem] of problems) {
      const key = JSON.stringify([what, server]);
      if (this.#named.get(key) === problem) continue;
      this.#named.set(key, problem);
      const data = `The ${what} of ${server} are missing from the list: ${problem}`;
      this.#send({ level: "warning", logger: "claudikins", data }, server);
    }
  }

  #send(params: LoggingMessageNotification["params"], server: string): void {
    if (this.level !== undefined && severity.get(params.level)! < severity.get(this.level)!) return;
    const related = this.#requests.latestOf(server);
    const options = related === undefined ? {} : { relatedRequestId: related };
    void this.#server.notification({ method: "notifications/message", params }, options).catch(() => {});
  }
}

type What = "tools" | "prompts" | "resources";

/** Servers that are asked together answer at about the same time. */
const momentMs = 50;

/** Announces changed lists: only lists that the agent has seen, and once for changes of one moment. */
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

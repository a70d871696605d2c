/** The log for the agent: the servers' log messages with their names, from the level that the agent chose, and missing servers. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  type LoggingLevel,
  LoggingLevelSchema,
  type LoggingMessageNotification,
} from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "../../json-object.ts";
import type { HostRequests } from "../host-requests.ts";

const severity = new Map(LoggingLevelSchema.options.map((level, index) => [level, index]));

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

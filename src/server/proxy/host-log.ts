/** The host's log: what the servers write into theirs, with their names, from the level that the host wants; and what they lack. */
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
  /** Undefined: what the servers think right. */
  level: LoggingLevel | undefined;

  constructor(server: Server, requests: HostRequests) {
    this.#server = server;
    this.#requests = requests;
  }

  /** A message of a server's log. One without a level that there is, is none. */
  pass(server: string, { level: given, logger, ...rest }: JsonObject): void {
    const { success, data: level } = LoggingLevelSchema.safeParse(given);
    if (!success) return;
    const source = typeof logger === "string" && logger !== "" ? `${server}/${logger}` : server;
    this.#send({ data: null, ...rest, level, logger: source }, server);
  }

  /** Names each server once that is missing in a list, and why. */
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

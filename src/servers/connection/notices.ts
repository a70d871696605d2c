/** Notifications of servers: changes, and log messages. Their form is not trusted. */
import type { Client } from "@modelcontextprotocol/client";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import type { Log } from "../../base/log.ts";
import { oneLine } from "../../base/visible-text.ts";

/** Characters of a server's log message in the log of claudikins. */
const maxNoticeChars = 500;

/** Characters of the URI of a resource that has changed. */
const maxUpdatedUriChars = 8_192;

/** A kind of list that servers have, as the protocol names it. */
export type ListName = "tools" | "resources" | "prompts";

export type Notice =
  /** A list of the server has changed. */
  | { what: ListName }
  /** A resource has changed. */
  | { uri: string }
  /** A log message, unchecked. */
  | { message: JsonObject };

const listChanges: ReadonlyMap<string, ListName> = new Map([
  ["notifications/tools/list_changed", "tools"],
  ["notifications/resources/list_changed", "resources"],
  ["notifications/prompts/list_changed", "prompts"],
]);

interface NoticeSource {
  server: string;
  log: Log;
  redact: (text: string) => string;
}

/** Call this before the client connects: some servers do not wait for the end of `initialize`. */
export function listenTo(client: Client, source: NoticeSource, onNotice: (notice: Notice) => void): void {
  client.fallbackNotificationHandler = async ({ method, params = {} }) => {
    const what = listChanges.get(method);
    const uri = params["uri"];
    if (what !== undefined) onNotice({ what });
    else if (method === "notifications/message") {
      logMessage(source, params);
      onNotice({ message: params });
    } else if (
      method === "notifications/resources/updated" &&
      typeof uri === "string" &&
      uri.length <= maxUpdatedUriChars
    ) {
      onNotice({ uri });
    }
  };
}

/** Logs the message as one line with the server's name. */
function logMessage({ server, log, redact }: NoticeSource, params: Record<string, unknown>): void {
  const line = `${server}${logText(params, redact, maxNoticeChars)}`;
  const { level } = params;
  if (level === "debug") log.debug(line);
  else if (level === "info" || level === "notice") log.info(line);
  else log.warn(line);
}

/** The logger's name, if any, and the message: ` (part): words`. */
export function logText(
  { logger, data }: Record<string, unknown>,
  redact: NoticeSource["redact"],
  maxChars: number,
): string {
  // Redacted before it is cut, because half a secret would not be recognised.
  const words = redact(wordsOf(data).slice(0, 100 * maxNoticeChars));
  const part = typeof logger === "string" && logger !== "" ? ` (${oneLine(redact(logger), 50)})` : "";
  return `${part}: ${oneLine(words, maxChars)}`;
}

function wordsOf(data: unknown): string {
  if (typeof data === "string") return data;
  const message = isObject(data) && Object.keys(data).length === 1 ? data["message"] : undefined;
  return typeof message === "string" ? message : (JSON.stringify(data) ?? "");
}

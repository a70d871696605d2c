/** Notifications to an agent in direct mode: log messages, and changes of lists. */
import { LoggingLevelSchema } from "@modelcontextprotocol/core";
import type { LoggingLevel, LoggingMessageNotification, Notification } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../base/json-object.ts";
import { withoutOwnMeta } from "./answers.ts";

/** Changes of lists within this time are announced together. Servers that are asked together answer at about the same time. */
const listChangesMs = 50;

/** Notifications of one kind that wait to be written. */
const maxUnsentNotices = 100;

/**
 * Sends a notification to the agent, if possible with the answer to a request that `server` works for. A promise that is returned
 * resolves when the notification is written.
 */
type SendNotification = (notification: Notification, server?: string) => unknown;

/** Hears of changes. */
export interface ChangeListener {
  listChanged(what: What): void;
  resourceUpdated(uri: string): void;
}

export type What = "tools" | "prompts" | "resources";

/** Notifies the agent of one connection. */
export function listenerWith(send: (notification: Notification) => void): ChangeListener {
  return {
    listChanged: (what) => send({ method: `notifications/${what}/list_changed` }),
    resourceUpdated: (uri) => send({ method: "notifications/resources/updated", params: { uri } }),
  };
}

const severity = new Map(LoggingLevelSchema.options.map((level, index) => [level, index]));

/** The servers' log messages with their names, from the level that the agent chose, and servers that are missing in lists. */
export class HostLog {
  readonly #sendTo: SendNotification;
  readonly #named = new Map<string, string>();
  readonly #unsent = new Unsent((count) => {
    const data = `${count} log messages were left out: they came faster than they could be sent`;
    this.#send({ level: "warning", logger: "claudikins", data }, undefined);
  });
  /** Undefined leaves the level to the servers. */
  level: LoggingLevel | undefined;

  constructor(send: SendNotification, level?: LoggingLevel) {
    this.#sendTo = send;
    this.level = level;
  }

  /** Passes a log message of a server. A message with an invalid level is dropped. */
  pass(server: string, { level: given, logger, ...rest }: JsonObject): void {
    const { success, data: level } = LoggingLevelSchema.safeParse(given);
    if (!success) return;
    const source = typeof logger === "string" && logger !== "" ? `${sourceOf(server)}/${logger}` : sourceOf(server);
    this.#send({ data: null, ...withoutOwnMeta(rest), level, logger: source }, server);
  }

  /** Reports each server that is missing in a list once, with the reason. */
  nameProblems(what: string, problems: ReadonlyMap<string, string>): void {
    for (const [server, problem] of problems) {
      const key = JSON.stringify([what, server]);
      if (this.#named.get(key) === problem) continue;
      this.#named.set(key, problem);
      const data = `The ${what} of ${server} are missing from the list: ${problem}`;
      this.#send({ level: "warning", logger: ownLogger, data }, server);
    }
  }

  #send(params: LoggingMessageNotification["params"], server: string | undefined): void {
    if (this.level !== undefined && severity.get(params.level)! < severity.get(this.level)!) return;
    this.#unsent.send(() => this.#sendTo({ method: "notifications/message", params }, server));
  }
}

/** The server's name as the first part of a logger. A logger that a server chooses is always behind the first slash. */
function sourceOf(server: string): string {
  const name = server.replaceAll("%", "%25").replaceAll("/", "%2F");
  return name === ownLogger ? `${name}/` : name;
}

/** The logger of our own messages. */
const ownLogger = "claudikins";

/** Announces changed lists: only lists that the agent has seen, and once for changes of one moment. */
export class ListChanges {
  readonly #listener: ChangeListener;
  /** The lists that the agent has seen, if they can be compared. */
  readonly #shown = new Map<What, readonly JsonObject[] | undefined>();
  readonly #timers = new Map<What, NodeJS.Timeout>();

  constructor(listener: ChangeListener) {
    this.#listener = listener;
  }

  shown(what: What, list?: readonly JsonObject[]): void {
    this.#shown.set(what, list);
  }

  /** `now` returns the current list. Nothing is announced if it is the same. */
  changed(what: What, now?: () => readonly JsonObject[]): void {
    if (this.#timers.has(what)) return;
    const tell = () => {
      this.#timers.delete(what);
      if (!this.#shown.has(what)) return;
      const list = now?.();
      if (list && isSameList(list, this.#shown.get(what))) return;
      this.#shown.set(what, list);
      this.#listener.listChanged(what);
    };
    this.#timers.set(what, setTimeout(tell, listChangesMs).unref());
  }
}

/** Most entries that are the same are the same object, too. */
function isSameList(list: readonly JsonObject[], other: readonly JsonObject[] | undefined): boolean {
  if (list.length !== other?.length) return false;
  return list.every((each, at) => each === other[at] || JSON.stringify(each) === JSON.stringify(other[at]));
}

/** Notifications that are not written yet. A server can send more of them than an agent reads, and they must not pile up in memory. */
export class Unsent {
  #count = 0;
  /** Notifications that were left out since the last one was written. */
  #dropped = 0;
  readonly #onDropped: ((count: number) => void) | undefined;

  /** `onDropped` is called once there is room again. */
  constructor(onDropped?: (count: number) => void) {
    this.#onDropped = onDropped;
  }

  /** Calls `send` unless too many notifications wait. Its promise resolves when the notification is written. */
  send(send: () => unknown): void {
    if (this.#count >= maxUnsentNotices) {
      this.#dropped += 1;
      return;
    }
    this.#count += 1;
    void Promise.resolve(send())
      .catch(() => {})
      .then(() => this.#written());
  }

  #written(): void {
    this.#count -= 1;
    if (this.#count > 0 || this.#dropped === 0) return;
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#onDropped?.(dropped);
  }
}

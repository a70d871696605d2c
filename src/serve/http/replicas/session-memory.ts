/**
 * What a client has set in its session, besides `initialize`: the resources that it listens to, and the level of log messages. A replica that
 * takes the session over sets it again.
 */
import type { JSONRPCMessage, JSONRPCRequest } from "@modelcontextprotocol/server";
import { isObject, type JsonObject, parsedJson, stringsIn } from "../../../base/json-object.ts";

/** Subscriptions of one session that are renewed when another replica takes it over. */
const maxKeptSubscriptions = 200;

/** Characters of the URI of such a subscription. */
const maxKeptUriChars = 2_000;

export class SessionMemory {
  readonly #resources: Set<string>;
  #level: string | undefined;

  /** `kept` is the JSON of another memory. */
  constructor(kept = "{}") {
    const { resources, level } = Object(parsedJson(kept)) as JsonObject;
    this.#resources = new Set(stringsIn(resources));
    this.#level = typeof level === "string" ? level : undefined;
  }

  get json(): string {
    return JSON.stringify({ resources: this.resources, level: this.#level });
  }

  /** The URIs of the resources that the client listens to. */
  get resources(): string[] {
    return [...this.#resources];
  }

  /** Takes note of a message of the client. Returns whether that has changed something. */
  received(message: JSONRPCMessage): boolean {
    if (!("method" in message)) return false;
    const { uri, level } = isObject(message.params) ? message.params : {};
    switch (message.method) {
      case "resources/subscribe":
        return this.#subscribed(uri);
      case "resources/unsubscribe":
        return this.#resources.delete(String(uri));
      case "logging/setLevel":
        if (typeof level !== "string" || level.length > maxKeptUriChars || level === this.#level) return false;
        this.#level = level;
        return true;
      default:
        return false;
    }
  }

  #subscribed(uri: unknown): boolean {
    if (typeof uri !== "string" || uri.length > maxKeptUriChars || this.#resources.has(uri)) return false;
    if (this.#resources.size >= maxKeptSubscriptions) return false;
    this.#resources.add(uri);
    return true;
  }

  /** The requests that set everything again. */
  requests(): Pick<JSONRPCRequest, "method" | "params">[] {
    const level = this.#level === undefined ? [] : [{ method: "logging/setLevel", params: { level: this.#level } }];
    const resources = this.resources.map((uri) => ({ method: "resources/subscribe", params: { uri } }));
    return [...level, ...resources];
  }
}

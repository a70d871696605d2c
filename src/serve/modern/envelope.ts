/** The metadata in each request of MCP 2026-07-28: who the host is, and what it supports and wants. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  PROTOCOL_VERSION_META_KEY,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { isObject, type JsonObject, stringsIn } from "../../base/json-object.ts";
import type { HostIdentity } from "../../programs/trace/record.ts";
import { hostIdentity } from "../host-request.ts";
import { maxListenedResources } from "../limits.ts";

/** Tasks that one request can listen to. */
const maxListenedTasks = 256;

/** What the host of a request supports. */
export function capabilitiesOf(context: ServerContext): ClientCapabilities {
  return envelopeOf(context)[CLIENT_CAPABILITIES_META_KEY] ?? {};
}

/** Undefined if the host wants no log messages. */
export function logLevelOf(context: ServerContext): LoggingLevel | undefined {
  return envelopeOf(context)[LOG_LEVEL_META_KEY] as LoggingLevel | undefined;
}

export function identityOf(context: ServerContext): HostIdentity {
  const { [CLIENT_INFO_META_KEY]: info, [PROTOCOL_VERSION_META_KEY]: protocol } = envelopeOf(context);
  return hostIdentity(info, typeof protocol === "string" ? protocol : undefined);
}

/** The SDK has checked the metadata. Its type does not name the keys. */
function envelopeOf({ mcpReq: { envelope = {} } }: ServerContext): Record<string, unknown> {
  return envelope;
}

/** The metadata of a request that nothing has checked yet. */
export function metaIn(message: unknown): JsonObject {
  const { params } = Object(message) as { params?: unknown };
  return isObject(params) && isObject(params["_meta"]) ? params["_meta"] : {};
}

/** What a `subscriptions/listen` request names. Undefined for other messages. Without `taskIds`, it does not ask for tasks. */
export function listenedTo(message: unknown): { resources: string[]; taskIds: string[] | undefined } | undefined {
  if (!isObject(message) || message["method"] !== "subscriptions/listen" || !isObject(message["params"]))
    return undefined;
  const { resourceSubscriptions, taskIds } = Object(message["params"]["notifications"]) as JsonObject;
  return {
    resources: stringsIn(resourceSubscriptions).slice(0, maxListenedResources),
    taskIds: Array.isArray(taskIds) ? stringsIn(taskIds).slice(0, maxListenedTasks) : undefined,
  };
}

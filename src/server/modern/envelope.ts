/** The metadata in each request of MCP 2026-07-28: who the host is, and what it supports and wants. The SDK has checked it. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  PROTOCOL_VERSION_META_KEY,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { type HostIdentity, hostIdentity } from "../tools/call-context.ts";

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

/** The SDK's type names none of the keys. */
function envelopeOf({ mcpReq: { envelope = {} } }: ServerContext): Record<string, unknown> {
  return envelope;
}

/**
 * The part of a server's answer that an agent gets: a result without the metadata that concerns another connection; a server's own error
 * unchanged, or ours with its hint.
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  SUBSCRIPTION_ID_META_KEY,
} from "@modelcontextprotocol/server";
import { toClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { pageIdOf } from "../../servers/connection/responder.ts";
import { pageAddress } from "../../servers/network/page-address.ts";
import { objectsOf } from "../../servers/result.ts";

/** The code for an unknown resource, in revisions of the protocol up to 2025-11-25. */
export const resourceNotFound = -32_002;

/** A JSON-RPC error. The SDK puts these three fields into its answer. */
export class HostError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export function invalidParams(message: string): HostError {
  return new HostError(ProtocolErrorCode.InvalidParams, message);
}

export function noResource(uri: string): HostError {
  return new HostError(resourceNotFound, `No server has the resource ${uri}`, { uri });
}

export function noSkill(uri: string): HostError {
  return invalidParams(`No server has the skill ${uri}`);
}

/** The error that the server answered. Undefined if the request failed otherwise. */
export function serverError(thrown: unknown, server: string): HostError | undefined {
  const { code, cause } = toClaudikinsError(thrown);
  if (!(cause instanceof ProtocolError) || !answered.includes(code)) return undefined;
  return new HostError(cause.code, cause.message, dataOf(cause, server));
}

export function hostError(thrown: unknown, server: string): HostError {
  if (thrown instanceof HostError) return thrown;
  return serverError(thrown, server) ?? new HostError(ProtocolErrorCode.InternalError, toClaudikinsError(thrown).text);
}

/** Our error codes that stand for an error answer of a server. */
const answered: readonly string[] = ["PROTOCOL_ERROR", "INVALID_ARGUMENTS", "TOOL_FAILED"];

/** Unsafe URLs are left out. */
function dataOf(cause: ProtocolError, server: string): unknown {
  if (cause.code !== ProtocolErrorCode.UrlElicitationRequired || !isObject(cause.data)) return cause.data;
  const elicitations = objectsOf(cause.data["elicitations"]).flatMap((each) => {
    const { href } = pageAddress(each["url"]);
    return href === undefined ? [] : [{ ...each, url: href, elicitationId: pageIdOf(server, each["elicitationId"]) }];
  });
  return { ...cause.data, elicitations };
}

/**
 * A server's message without the metadata by which it would belong to a task, a subscription or a request of our own connection with the
 * agent: there, the server's ids mean nothing, or something of another server.
 */
export function withoutOwnMeta<T extends JsonObject>(message: T): T {
  const { _meta: meta } = message;
  if (!isObject(meta) || !Object.keys(meta).some(isConnectionKey)) return message;
  return { ...message, _meta: Object.fromEntries(Object.entries(meta).filter(([key]) => !isConnectionKey(key))) };
}

function isConnectionKey(key: string): boolean {
  return connectionKeys.includes(key) || key.toLowerCase().startsWith("claudikins/");
}

const connectionKeys: readonly string[] = [RELATED_TASK_META_KEY, SUBSCRIPTION_ID_META_KEY, "progressToken"];

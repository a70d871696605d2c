/** What a host is answered when there is no result: a server's own error as it came, or ours with its hint. */
import { ErrorCode, McpError, UrlElicitationRequiredError } from "@modelcontextprotocol/sdk/types.js";
import { pageAddress } from "../../clients/page-address.ts";
import { objectsOf } from "../../clients/result.ts";
import { type ClaudikinsError, toClaudikinsError } from "../../errors.ts";
import { isObject, type JsonObject } from "../../json-object.ts";

/** The code of the protocol for a resource that there is not. */
const resourceNotFound = -32_002;

/** A JSON-RPC error: the SDK puts these three into its answer. */
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
  return new HostError(ErrorCode.InvalidParams, message);
}

export function noResource(uri: string): HostError {
  return new HostError(resourceNotFound, `No server has the resource ${uri}`, { uri });
}

/** The error of a server's answer; undefined where the server itself said nothing. */
export function serverError(thrown: unknown, server: string): HostError | undefined {
  const { code, cause } = toClaudikinsError(thrown);
  if (!(cause instanceof McpError) || !answered.includes(code)) return undefined;
  // The SDK has put its own words before the server's.
  const words = cause.message.replace(/^MCP error -?\d+: /, "");
  return new HostError(cause.code, words, dataOf(cause, server));
}

export function hostError(thrown: unknown, server: string): HostError {
  if (thrown instanceof HostError) return thrown;
  return serverError(thrown, server) ?? new HostError(ErrorCode.InternalError, textOf(toClaudikinsError(thrown)));
}

/** What the model has to know: why the tool could not be called, and what helps. */
export function failedCall(thrown: unknown): JsonObject {
  return { content: [{ type: "text", text: textOf(toClaudikinsError(thrown)) }], isError: true };
}

/** Codes of errors that a server may have answered. */
const answered: readonly string[] = ["PROTOCOL_ERROR", "INVALID_ARGUMENTS", "TOOL_FAILED"];

function textOf({ message, hint }: ClaudikinsError): string {
  return hint === undefined ? message : `${message}\nHint: ${hint}`;
}

/**
 * Ids of elicitations are told to the host with the server before them: two servers may use the same. Pages that nobody should
 * open are left out.
 */
function dataOf(cause: McpError, server: string): unknown {
  if (!(cause instanceof UrlElicitationRequiredError) || !isObject(cause.data)) return cause.data;
  const elicitations = objectsOf(cause.data["elicitations"]).flatMap((each) => {
    const { href } = pageAddress(each["url"]);
    return href === undefined ? [] : [{ ...each, url: href, elicitationId: `${server}:${each["elicitationId"]}` }];
  });
  return { ...cause.data, elicitations };
}

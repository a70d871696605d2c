/** What went wrong with a request over HTTP: what the SDK threw, or a response that is no answer. */
import { SseError } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { systemCodeOf } from "../errors.ts";
import type { Endpoint } from "./endpoint.ts";
import { isEventStream, mediaTypeOf, retryAfterOf } from "./http-response.ts";
import { NetworkFailure, noAnswer, notMcp, refusal, unreadable } from "./network-failure.ts";

export function failureOf(error: unknown, { url, hasToken }: Endpoint): NetworkFailure {
  if (error instanceof NetworkFailure) return error;
  const status = error instanceof StreamableHTTPError || error instanceof SseError ? (error.code ?? 0) : 0;
  if (status >= 300) return refusal(status, { hasToken });
  return systemCodeOf(error) === undefined ? unreadable() : noAnswer(error, url);
}

export interface AskedFor {
  method: string;
  /** The streamable transport; otherwise the older one. */
  isStreamable: boolean;
  hasSession: boolean;
  hasToken: boolean;
  /** Whether the message was a request. */
  expectsAnswer: boolean;
}

/** A redirect is none: whether to follow is the SDK's decision. */
export function refusalOf(response: Response, asked: AskedFor): NetworkFailure | undefined {
  const { method, isStreamable, hasSession, hasToken } = asked;
  const { status } = response;
  // Servers need neither offer a stream beside the answers, nor take a goodbye.
  if (method === "DELETE" || (status === 405 && method === "GET" && isStreamable)) return undefined;
  if (status >= 400) return refusal(status, { hasToken, hasSession, retryAfterMs: retryAfterOf(response) });
  if (status >= 300 || isEventStream(response)) return undefined;
  // The older transport answers on its stream alone, the other one also with JSON.
  const expectsStream = method === "GET" && !isStreamable;
  const expectsAnswer = method === "POST" && isStreamable && asked.expectsAnswer && status !== 202;
  const isMcp = !expectsStream && (!expectsAnswer || mediaTypeOf(response) === "application/json");
  return isMcp ? undefined : notMcp(response.headers.get("content-type"));
}

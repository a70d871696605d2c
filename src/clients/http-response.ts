/** Reads responses over HTTP: their media type, the answer in them, how long to wait, and what went wrong. */
import { SseError } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { RequestId } from "@modelcontextprotocol/sdk/types.js";
import { systemCodeOf } from "../errors.ts";
import { parsedJson } from "../json-object.ts";
import type { Endpoint } from "./endpoint.ts";
import { NetworkFailure, noAnswer, notMcp, refusal, unreadable } from "./network-failure.ts";
import { boundedText } from "./response-body.ts";
import { maxErrorBytes } from "./size-limits.ts";

export function mediaTypeOf(response: Response): string | undefined {
  return response.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
}

export function isEventStream(response: Response): boolean {
  return mediaTypeOf(response) === "text/event-stream";
}

/** Longer times are cut to this. */
const longestRetryAfterMs = 24 * 3_600_000;

/** The server's `Retry-After` in milliseconds, from seconds or a date. Undefined if there is none. */
export function retryAfterOf({ headers }: Response, now = Date.now()): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), longestRetryAfterMs);
}

/** The JSON-RPC answer in the body of a failed response. Undefined if there is none, or the body is too long. */
export async function answerIn(response: Response, id: RequestId): Promise<string | undefined> {
  try {
    const text = await boundedText(response, maxErrorBytes, () => new Error("too long for an error"));
    return (parsedJson(text) as { id?: unknown } | null | undefined)?.id === id ? text : undefined;
  } catch {
    return undefined;
  }
}

export function failureOf(error: unknown, { url, hasToken }: Endpoint): NetworkFailure {
  if (error instanceof NetworkFailure) return error;
  const status = error instanceof StreamableHTTPError || error instanceof SseError ? (error.code ?? 0) : 0;
  if (status >= 300) return refusal(status, { hasToken });
  return systemCodeOf(error) === undefined ? unreadable() : noAnswer(error, url);
}

export interface AskedFor {
  method: string;
  /** Streamable HTTP; otherwise the older HTTP+SSE transport. */
  isStreamable: boolean;
  hasSession: boolean;
  hasToken: boolean;
  /** Whether the message was a request, not a notification. */
  expectsAnswer: boolean;
}

/** Undefined for success and redirects. The SDK decides whether to follow a redirect. */
export function refusalOf(response: Response, asked: AskedFor): NetworkFailure | undefined {
  const { method, isStreamable, hasSession, hasToken } = asked;
  const { status } = response;
  // Servers may offer no stream, and may not support DELETE.
  if (method === "DELETE" || (status === 405 && method === "GET" && isStreamable)) return undefined;
  if (status >= 400) return refusal(status, { hasToken, hasSession, retryAfterMs: retryAfterOf(response) });
  if (status >= 300 || isEventStream(response)) return undefined;
  // The older transport answers only on its stream, the newer one also with JSON.
  const expectsStream = method === "GET" && !isStreamable;
  const expectsAnswer = method === "POST" && isStreamable && asked.expectsAnswer && status !== 202;
  const isMcp = !expectsStream && (!expectsAnswer || mediaTypeOf(response) === "application/json");
  return isMcp ? undefined : notMcp(response.headers.get("content-type"));
}

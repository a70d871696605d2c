/** Reads responses over HTTP: their media type, the answer in them, how long to wait, and what went wrong. */

import { type RequestId, SdkHttpError, SseError } from "@modelcontextprotocol/client";
import { boundedText } from "../../base/bounded-body.ts";
import { systemCodeOf } from "../../base/errors.ts";
import { parsedJson } from "../../base/json-object.ts";
import { hourMs } from "../../base/units.ts";
import type { Era } from "../connection/server-client.ts";
import { NetworkFailure, noAnswer, refusal, unreadable } from "../failures/network-failure.ts";
import { maxErrorBytes } from "../limits.ts";
import type { Endpoint } from "./endpoint.ts";
import { errorIn } from "./said-error.ts";

/** A longer `Retry-After` is cut to this. */
const maxRetryAfterMs = 24 * hourMs;

export function mediaTypeOf(response: Response): string | undefined {
  return response.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
}

export function isEventStream(response: Response): boolean {
  return mediaTypeOf(response) === "text/event-stream";
}

/** The server's `Retry-After` in milliseconds, from seconds or a date. Undefined if there is none. */
export function retryAfterOf({ headers }: Response, now = Date.now()): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), maxRetryAfterMs);
}

/** The range of error codes that the MCP specification keeps for itself. */
const codesOfProtocol = { least: -32_099, most: -32_020 };

/**
 * The JSON-RPC error in a failed response, where it is the answer to the request: to each request of the newer era, and to an
 * `initialize` that a server of the newer era refuses. Undefined for other responses, whose body is not read then.
 */
export async function answerOfProtocol(
  response: Response,
  { id, method, era }: { id: RequestId; method: string; era: Era },
): Promise<string | undefined> {
  if (![400, 404].includes(response.status) || mediaTypeOf(response) !== "application/json") return undefined;
  if (era === "2025" && method !== "initialize") return undefined;
  const answer = await answerIn(response, id);
  const { error } = (parsedJson(answer ?? "") ?? {}) as { error?: { code?: unknown } };
  const code = Number(error?.code);
  const isOfProtocol = codesOfProtocol.least <= code && code <= codesOfProtocol.most;
  return era === "2026" || isOfProtocol ? answer : undefined;
}

/**
 * The JSON-RPC error in a response that says with its status that the server failed: what the server says about the request. Undefined for
 * other responses, whose body is not read then, and for `initialize`, whose status says which era the server is of.
 */
export async function ownError(
  response: Response,
  { id, method }: { id: RequestId; method: string },
): Promise<string | undefined> {
  const { status } = response;
  if (status < 500 || status === 503 || method === "initialize" || mediaTypeOf(response) !== "application/json")
    return undefined;
  const answer = await answerIn(response, id);
  return errorIn(parsedJson(answer ?? "")) && answer;
}

/** The JSON-RPC answer in the body of a failed response. Undefined if there is none, or the body is too long. */
export async function answerIn(response: Response, id: RequestId): Promise<string | undefined> {
  const text = await errorText(response);
  return (parsedJson(text) as { id?: unknown } | null | undefined)?.id === id ? text : undefined;
}

/** The body of a failed response. Empty if it is too long. */
export function errorText(response: Response): Promise<string> {
  return boundedText(response, maxErrorBytes, () => new Error("too long for an error")).catch(() => "");
}

export function failureOf(error: unknown, { url, hasToken }: Endpoint): NetworkFailure {
  if (error instanceof NetworkFailure) return error;
  const status = statusOf(error) ?? 0;
  if (status >= 300) return refusal(status, { hasToken });
  return systemCodeOf(error) === undefined ? unreadable() : noAnswer(error, url);
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof SdkHttpError) return error.status;
  return error instanceof SseError ? error.code : undefined;
}

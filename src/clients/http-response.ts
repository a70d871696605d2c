/** What a server's response is: its media type, how long to wait, and the answer in a failure. */
import type { RequestId } from "@modelcontextprotocol/sdk/types.js";
import { boundedText } from "./response-body.ts";
import { maxErrorBytes } from "./size-limits.ts";

export function mediaTypeOf(response: Response): string | undefined {
  return response.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
}

export function isEventStream(response: Response): boolean {
  return mediaTypeOf(response) === "text/event-stream";
}

/** Who says more is not taken at its word. */
const longestRetryAfterMs = 24 * 3_600_000;

/** How long the server wants to be left alone, from seconds or a date; undefined where it does not say. */
export function retryAfterOf({ headers }: Response, now = Date.now()): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), longestRetryAfterMs);
}

/** The JSON-RPC message that answers this request, if a failed response carries one. Undefined for a body that is too long. */
export async function answerIn(response: Response, id: RequestId): Promise<string | undefined> {
  try {
    const text = await boundedText(response, maxErrorBytes, () => new Error("too long for an error"));
    return (JSON.parse(text) as { id?: unknown } | null)?.id === id ? text : undefined;
  } catch {
    return undefined;
  }
}

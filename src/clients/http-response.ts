/** What a response of a server is, and when its stream ends. */
import type { RequestId } from "@modelcontextprotocol/sdk/types.js";

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

/** Longer ones are not read to know what a failure is. */
const longestError = 65_536;

/** The JSON-RPC message that answers this request, where a failure has one; its body is read or given up. */
export async function answerIn(response: Response, id: RequestId): Promise<string | undefined> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > longestError) return undefined;
  }
  try {
    return (JSON.parse(text) as { id?: unknown } | null)?.id === id ? text : undefined;
  } catch {
    return undefined;
  }
}

/** The same response; `ended` is called when all of its body has been read, or no more of it will come. */
export function watched(response: Response, ended: () => void): Response {
  if (!response.body) return response;
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      ended();
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, headers } = response;
  return new Response(body, { status, headers });
}

/** Response bodies that are changed on their way, and collected when they were large. */
import { ReadableStream } from "node:stream/web";
import type { Chunks } from "../base/bounded-body.ts";
import { collectSoon } from "../base/collect-soon.ts";
import { collectedBodyBytes } from "./limits.ts";

/** The same response with another body, made from its chunks. They are not decompressed faster than they are read. */
export function withBody(response: Response, change: (chunks: Chunks) => Chunks): Response {
  const { body, status, headers } = response;
  return body ? new Response(ReadableStream.from(change(collected(body))), { status, headers }) : response;
}

async function* collected(chunks: Chunks): Chunks {
  let size = 0;
  try {
    for await (const chunk of chunks) {
      size += chunk.length;
      yield chunk;
    }
  } finally {
    if (size > collectedBodyBytes) collectSoon(size);
  }
}

/** Reads response bodies with a limit on their decoded size. */
import { ReadableStream } from "node:stream/web";
import { collectSoon } from "../base/collect-soon.ts";
import { collectedBodyBytes } from "./limits.ts";

export type Chunks = AsyncIterable<Uint8Array>;

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

/** Throws the error of `tooLarge` if there are more than `maxBytes`, and stops reading. */
export async function* limited(chunks: Chunks, maxBytes: number, tooLarge: () => Error): Chunks {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
    yield chunk;
  }
}

/** The whole body as text. Throws the error of `tooLarge` if it has more than `maxBytes`, and stops reading. */
export async function boundedText(response: Response, maxBytes: number, tooLarge: () => Error): Promise<string> {
  if (!response.body) return "";
  return Buffer.concat(await Array.fromAsync(limited(response.body, maxBytes, tooLarge))).toString();
}

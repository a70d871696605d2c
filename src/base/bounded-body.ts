/** Reads response bodies with a limit on their decoded size. */

export type Chunks = AsyncIterable<Uint8Array>;

/** Throws the error of `tooLarge` if there are more than `maxBytes`, and stops reading. */
export async function* limited(chunks: Chunks, maxBytes: number, tooLarge: () => Error): Chunks {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
    yield chunk;
  }
}

/** The whole body as text, without a byte order mark. Throws the error of `tooLarge` if it has more than `maxBytes`, and stops reading. */
export async function boundedText(response: Response, maxBytes: number, tooLarge: () => Error): Promise<string> {
  if (!response.body) return "";
  return Buffer.concat(await Array.fromAsync(limited(response.body, maxBytes, tooLarge)))
    .toString()
    .replace(/^\uFEFF/, "");
}

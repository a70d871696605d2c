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

/** The whole body in a buffer of its own, which can be moved to a worker. Throws the error of `tooLarge` as `limited` does. */
export async function boundedBytes(
  { body }: Response,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks = body ? await Array.fromAsync(limited(body, maxBytes, tooLarge)) : [];
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** The whole body as text, without a byte order mark. Throws the error of `tooLarge` if it has more than `maxBytes`, and stops reading. */
export async function boundedText(response: Response, maxBytes: number, tooLarge: () => Error): Promise<string> {
  if (!response.body) return "";
  return Buffer.concat(await Array.fromAsync(limited(response.body, maxBytes, tooLarge)))
    .toString()
    .replace(/^\uFEFF/, "");
}

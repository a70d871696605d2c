/** Reads response bodies with a limit on their decoded size. */
import { collectSoon } from "../collect-soon.ts";
import { megabytes } from "./size-limits.ts";

/** Bytes of a body after which garbage is collected, because a server could send many of them. */
const largeBody = 32 * 1_048_576;

export interface BodyWatch {
  /** Sees each chunk before the reader does. What it throws ends the download, and the reader gets the error. */
  seen?: (chunk: Uint8Array) => void;
  /** Called when the body has ended or failed, but not when the reader cancels it. */
  ended?: (() => void) | undefined;
}

/** The same response with a watched body. Bun decompresses it no faster than it is read. */
export function watched(response: Response, { seen, ended }: BodyWatch): Response {
  if (!response.body) return response;
  let size = 0;
  const over = () => {
    if (size > largeBody) collectSoon();
    ended?.();
  };
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          size += value.length;
          seen?.(value);
          return controller.enqueue(value);
        }
        controller.close();
      } catch (error) {
        controller.error(error);
        void reader.cancel().catch(() => {});
      }
      over();
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, headers } = response;
  return new Response(body, { status, headers });
}

/** A `seen` that throws the error of `tooLarge` if the body has more than `maxBytes`. */
export function bodyLimit(maxBytes: number, tooLarge: () => Error): (chunk: Uint8Array) => void {
  let size = 0;
  return (chunk) => {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
  };
}

/** The same for each event of an event stream. The stream as a whole may be endless. */
export function eventLimit(
  { bytes: maxBytes, lines: maxLines }: { bytes: number; lines: number },
  tooLarge: (limit: string) => Error,
): (chunk: Uint8Array) => void {
  let [size, lines] = [0, 0];
  let tail = Buffer.alloc(0);
  return (chunk) => {
    // A blank line may be split between two chunks.
    const bytes = Buffer.concat([tail, chunk]);
    const end = Math.max(...blankLines.map((line) => bytes.lastIndexOf(line)));
    if (end !== -1) [size, lines] = [0, 0];
    const rest = end === -1 ? chunk : bytes.subarray(end);
    size += rest.length;
    lines += lineEnds(rest);
    if (size > maxBytes) throw tooLarge(megabytes(maxBytes));
    if (lines > maxLines) throw tooLarge(`${maxLines.toLocaleString("en")} lines`);
    tail = Buffer.from(bytes.subarray(-2));
  };
}

const blankLines = ["\n\n", "\n\r\n", "\r\r"];

function lineEnds(bytes: Uint8Array): number {
  let count = 0;
  for (const end of ["\n", "\r"].map((each) => each.charCodeAt(0))) {
    for (let at = bytes.indexOf(end); at !== -1; at = bytes.indexOf(end, at + 1)) count += 1;
  }
  return count;
}

/** The whole body as text. Throws the error of `tooLarge` when the limit is reached, and stops reading. */
export async function boundedText(response: Response, maxBytes: number, tooLarge: () => Error): Promise<string> {
  const chunks: Uint8Array[] = [];
  const check = bodyLimit(maxBytes, tooLarge);
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    check(chunk);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

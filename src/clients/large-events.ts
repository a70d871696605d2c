/** Takes large events out of a stream of server-sent events, so that the SDK does not parse them. */

const newline = 0x0a;
const carriageReturn = 0x0d;

/** The position after the first event and its blank line. -1 if no event is complete. */
function endOfEvent(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== newline && byte !== carriageReturn) {
      const line = bytes.indexOf(newline, at);
      const other = bytes.indexOf(carriageReturn, at);
      if (line === -1 && other === -1) return -1;
      at = Math.min(line === -1 ? bytes.length : line, other === -1 ? bytes.length : other) - 1;
      continue;
    }
    const end = byte === carriageReturn && bytes[at + 1] === newline ? at + 2 : at + 1;
    if (bytes[end] === newline) return end + 1;
    if (bytes[end] === carriageReturn) return bytes[end + 1] === newline ? end + 2 : end + 1;
  }
  return -1;
}

/** The text after `data:` in the lines of an event. */
function dataOf(event: Uint8Array): Buffer {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < event.length; ) {
    let end = start;
    while (end < event.length && event[end] !== newline && event[end] !== carriageReturn) {
      const next = event.indexOf(newline, end);
      const other = event.indexOf(carriageReturn, end);
      end = Math.min(next === -1 ? event.length : next, other === -1 ? event.length : other);
    }
    const line = event.subarray(start, end);
    if (Buffer.from(line.subarray(0, 5)).toString() === "data:") lines.push(line.subarray(line[5] === 0x20 ? 6 : 5));
    start = end + 1;
  }
  return Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [Buffer.from("\n"), line])));
}

/**
 * Returns the response without its events of more than `largeBytes`. `take` gets their data in order, and the stream
 * continues when its promise resolves.
 */
export function withoutLargeEvents(
  response: Response,
  largeBytes: number,
  take: (data: Buffer) => Promise<void>,
): Response {
  if (!response.body) return response;
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  /** The bytes of an incomplete event. */
  let chunks: Uint8Array[] = [];
  let size = 0;

  /** Adds a chunk and returns the complete small events. Large events go to `take`. */
  const complete = async (chunk: Uint8Array): Promise<Uint8Array[]> => {
    const tail = Buffer.concat([chunks.at(-1)?.subarray(-3) ?? new Uint8Array(), chunk]);
    chunks.push(chunk);
    size += chunk.length;
    if (endOfEvent(tail, 0) === -1) return [];
    const out: Uint8Array[] = [];
    let rest: Uint8Array = Buffer.concat(chunks);
    for (let end = endOfEvent(rest, 0); end !== -1; end = endOfEvent(rest, 0)) {
      const event = rest.subarray(0, end);
      if (event.length > largeBytes) await take(dataOf(event));
      else out.push(event);
      rest = rest.subarray(end);
    }
    chunks = rest.length > 0 ? [rest] : [];
    size = rest.length;
    return out;
  };

  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) {
            // The reader handles incomplete events.
            if (size > 0 && size <= largeBytes) for (const chunk of chunks) controller.enqueue(chunk);
            controller.close();
            return;
          }
          const events = await complete(value);
          for (const event of events) controller.enqueue(event);
          if (events.length > 0) return;
        }
      } catch (error) {
        controller.error(error);
        void reader.cancel().catch(() => {});
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, headers } = response;
  return new Response(body, { status, headers });
}

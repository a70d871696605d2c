/**
 * Conditional requests (RFC 9110, section 13): if a program reads the same address again, the API is asked whether its answer has changed. Many
 * APIs do not count such a request, and send no body. Answers are remembered for one program only.
 */
import { megabyte } from "../base/units.ts";
import type { Send, SourceRequest } from "./source.ts";

/** The body of one answer. A larger one is not remembered. */
const maxBodyBytes = 2 * megabyte;

/** All bodies of one API together. The ones that were not used for the longest time are forgotten first. */
const maxAllBytes = 16 * megabyte;

/** Answers of one API. */
const maxAnswers = 1_000;

interface Remembered {
  tag: string;
  headers: Headers;
  body: Uint8Array<ArrayBuffer>;
}

export class RememberedReads {
  readonly #send: Send;
  /** The last used ones are last. */
  readonly #answers = new Map<string, Remembered>();
  #bytes = 0;

  constructor(send: Send) {
    this.#send = send;
  }

  /** `program` is the execution that asks. Outside a program, nothing is remembered. */
  async send(request: SourceRequest, program: string | undefined, signal: AbortSignal): Promise<Response> {
    const headers = new Headers(request.headers);
    const isOwnCondition = ["if-none-match", "if-match", "range", "if-modified-since"].some((name) =>
      headers.has(name),
    );
    if (program === undefined || request.method !== "GET" || isOwnCondition) return await this.#send(request, signal);
    // The headers have the credentials, and everything else that an answer may depend on.
    const key = JSON.stringify([program, request.url.href, request.signsIn ?? false, [...headers]]);
    const known = this.#take(key);
    const asked = known ? { ...request, headers: { ...request.headers, "if-none-match": known.tag } } : request;
    const response = await this.#send(asked, signal);
    if (known && response.status === 304) {
      const same = { ...known, headers: merged(known.headers, response.headers) };
      this.#keep(key, same);
      return new Response(same.body, { status: 200, headers: same.headers });
    }
    const tag = response.headers.get("etag");
    if (response.status !== 200 || tag === null || !response.body || !mayKeep(response.headers)) return response;
    const { body, whole } = await beginning(response.body);
    if (body) this.#keep(key, { tag, headers: response.headers, body });
    return new Response(whole, { status: 200, headers: response.headers });
  }

  #take(key: string): Remembered | undefined {
    const known = this.#answers.get(key);
    if (known && this.#answers.delete(key)) this.#bytes -= known.body.length;
    return known;
  }

  #keep(key: string, answer: Remembered): void {
    this.#take(key);
    this.#answers.set(key, answer);
    this.#bytes += answer.body.length;
    for (const oldest of this.#answers.keys()) {
      if (this.#bytes <= maxAllBytes && this.#answers.size <= maxAnswers) break;
      this.#take(oldest);
    }
  }
}

/** Whether the API allows it. `Vary: *` says that an answer depends on more than the request. */
function mayKeep(headers: Headers): boolean {
  return !/\bno-store\b/i.test(headers.get("cache-control") ?? "") && headers.get("vary")?.trim() !== "*";
}

/** The headers that came with the body, with what the API says now: its limits, for example. */
function merged(old: Headers, now: Headers): Headers {
  const all = new Headers(old);
  for (const [name, value] of now)
    if (!name.startsWith("content-") && name !== "transfer-encoding") all.set(name, value);
  return all;
}

/** `body` is undefined if it is too large. `whole` has all of it. */
async function beginning(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<{ body?: Uint8Array<ArrayBuffer>; whole: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> }> {
  const reader = stream.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  while (size <= maxBodyBytes) {
    const { done, value } = await reader.read();
    if (done) {
      const body = new Uint8Array(Buffer.concat(chunks));
      return { body, whole: body };
    }
    chunks.push(value);
    size += value.length;
  }
  const whole = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = chunks.shift() ?? (await reader.read()).value;
      if (next) controller.enqueue(next);
      else controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { whole };
}

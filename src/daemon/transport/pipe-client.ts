/** Requests and messages to a daemon over a named pipe, which Bun's fetch and WebSocket do not offer. */
import type { IncomingMessage, RequestOptions } from "node:http";
import type { Duplex } from "node:stream";
import { type MessageSocket, maxBytes } from "./contract.ts";
import { JsonLines } from "./json-lines.ts";

/** The protocol of a connection for messages, as its upgrade names it. */
export const upgradeName = "claudikins-messages";

export interface PipeRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal | null;
}

const http = () => process.getBuiltinModule("node:http");

/** `name` is the name of the pipe; elsewhere than on Windows, the path of a socket. */
const over = (name: string): RequestOptions => ({
  createConnection: () => process.getBuiltinModule("node:net").connect(name),
});

/** Rejects with the system's errors, such as ENOENT if nobody listens, and with the reason of the signal. */
export function requestOverPipe(name: string, path: string, { body, signal, ...how }: PipeRequest): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const fail = (error: Error) => reject(signal?.aborted ? signal.reason : error);
  const request = http().request({ ...over(name), path, ...how, ...(signal ? { signal } : {}) }, (answer) => {
    const chunks: Buffer[] = [];
    answer.on("data", (chunk: Buffer) => chunks.push(chunk));
    answer.on("error", fail);
    answer.on("close", () => {
      if (answer.complete) resolve(new Response(Buffer.concat(chunks), { status: answer.statusCode ?? 500 }));
      else fail(new Error("the connection ended before the answer did"));
    });
  });
  request.on("error", fail);
  request.end(body);
  return promise;
}

export class PipeSocket implements MessageSocket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  #stream: Duplex | undefined;
  #isClosed = false;
  readonly #end: () => void;

  /** Connects. `onclose` is called if that fails. */
  constructor(name: string, path: string) {
    const request = http().request({ ...over(name), path, headers: { connection: "Upgrade", upgrade: upgradeName } });
    this.#end = () => request.destroy();
    request.on("upgrade", (_, stream, head) => this.#opened(stream, head));
    request.on("response", (answer: IncomingMessage) => {
      answer.resume();
      this.#closed();
    });
    request.on("error", () => this.#closed());
    request.end();
  }

  get readyState(): number {
    if (this.#isClosed) return WebSocket.CLOSED;
    return this.#stream ? WebSocket.OPEN : WebSocket.CONNECTING;
  }

  send(text: string): void {
    if (this.#stream?.writable) this.#stream.write(`${text}\n`);
  }

  close(): void {
    if (this.#stream) this.#stream.end();
    else this.#end();
  }

  terminate(): void {
    if (this.#stream) this.#stream.destroy();
    else this.#end();
    this.#closed();
  }

  #opened(stream: Duplex, head: Buffer): void {
    if (this.#isClosed) return void stream.destroy();
    this.#stream = stream;
    const lines = new JsonLines(maxBytes, (data) => this.onmessage?.({ data }));
    const take = (chunk: Buffer) => {
      if (!lines.add(chunk)) stream.destroy();
    };
    stream.on("data", take);
    stream.on("error", () => {});
    stream.once("close", () => this.#closed());
    this.onopen?.();
    if (head.length > 0) take(head);
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }
}

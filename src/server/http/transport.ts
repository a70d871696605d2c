/**
 * The streamable HTTP transport of one session, as the SDK's protocol wants it. The SDK has one; ours bounds what it keeps,
 * ends streams that are done also after a resumption, and those of cancelled requests, and lets no client wait in vain.
 */
import type { Transport, TransportSendOptions } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type MessageExtraInfo,
  type RequestId,
} from "@modelcontextprotocol/sdk/types.js";
import type { Body } from "./body.ts";
import { EventLog, type EventLogOptions } from "./event-log.ts";
import { EventStream, type StayOpen } from "./event-stream.ts";
import { invalidMessage, noSession, Refusal } from "./refusal.ts";

export interface TransportOptions {
  /** Of the protocol, as the session speaks it. */
  version: string;
  events: EventLogOptions;
  /** After which time a client shall come back to a stream that was closed. */
  retryMs: number;
  /** A connection that has been open for so long is closed, where the client will come back. */
  maxConnectionMs: number;
  /** Tool calls of the session that run side by side; more wait, so that one host leaves something for the others. */
  maxCalls: number;
  /** Requests of the session that have no answer yet. */
  maxRequests: number;
}

/** Of the protocol, from which clients know what an event without data is, and come back after it (SEP-1699). */
const pollingVersion = "2025-11-25";

/** Of the protocol, the only one with several messages in one body. */
const batchVersion = "2025-03-26";

const streamHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  // Proxies shall not collect what is to be told now.
  "x-accel-buffering": "no",
};

export class SessionTransport implements Transport {
  readonly sessionId = crypto.randomUUID();
  onmessage?: Transport["onmessage"];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #options: TransportOptions;
  readonly #log: EventLog;
  /** For what belongs to no request: the client asks for it with GET. */
  readonly #listening: EventStream;
  /** Of requests that have no answer yet, by the id of the stream. */
  readonly #open = new Map<number, EventStream>();
  readonly #byRequest = new Map<RequestId, EventStream>();
  readonly #calls = new Set<RequestId>();
  readonly #waiting: { call: JSONRPCRequest; stream: EventStream }[] = [];
  #lastStream = 0;
  #isClosed = false;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#log = new EventLog(options.events);
    this.#listening = this.#stream(0);
  }

  async start(): Promise<void> {}

  /** Requests that have no answer yet. */
  get running(): number {
    return this.#byRequest.size;
  }

  /** Whether somebody is connected, or waits for an answer. */
  get isInUse(): boolean {
    return this.running > 0 || this.#listening.isLive;
  }

  /** What a POST brings. Throws a Refusal. */
  post({ messages, isBatch }: Body, stayOpen: StayOpen): Response {
    // It may have ended while the body came in.
    if (this.#isClosed) throw noSession();
    if (isBatch && this.#options.version !== batchVersion) {
      throw invalidMessage(`Version ${this.#options.version} of the protocol does not allow batches`);
    }
    const ids = messages.filter(isJSONRPCRequest).map(({ id }) => id);
    if (new Set(ids).size < ids.length || ids.some((id) => this.#byRequest.has(id))) {
      throw invalidMessage("A request with this id is already running");
    }
    if (this.running + ids.length > this.#options.maxRequests) {
      throw new Refusal(429, `This session already has ${this.running} requests running`, { "retry-after": "1" });
    }
    if (ids.length === 0) {
      for (const message of messages) this.#receive(message);
      return new Response(null, { status: 202 });
    }
    this.#lastStream += 1;
    const stream = this.#stream(this.#lastStream);
    this.#open.set(stream.id, stream);
    for (const id of ids) {
      stream.pending.add(id);
      this.#byRequest.set(id, stream);
    }
    const response = this.#streamed(stream.open(stayOpen));
    for (const message of messages) this.#receive(message, stream);
    return response;
  }

  /** What a GET asks for: the stream that belongs to no request, or the rest of one that was broken off. Throws a Refusal. */
  listen(lastEventId: string | null, stayOpen: StayOpen): Response {
    if (lastEventId === null) return this.#streamed(this.#listening.open(stayOpen));
    const [, id, number] = (/^(\d{1,9})-(\d{1,9})$/.exec(lastEventId) ?? []).map(Number);
    if (id === undefined || number === undefined || id > this.#lastStream) {
      throw new Refusal(400, "Last-Event-ID is not an event of this session");
    }
    const stream = id === 0 ? this.#listening : this.#open.get(id);
    if (stream) return this.#streamed(stream.open(stayOpen, number));
    const rest = this.#log.after(id, number);
    // To a browser's EventSource and the SDK's client this says that nothing more will come.
    return rest.length > 0 ? this.#streamed(Buffer.concat(rest)) : new Response(null, { status: 204 });
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
    const requestId = isAnswer ? message.id : options?.relatedRequestId;
    if (requestId === undefined) {
      this.#unrelated().write(message);
      return;
    }
    const stream = this.#byRequest.get(requestId);
    if (!stream) {
      // Who has cancelled a request wants nothing more of it; but what the client was asked meanwhile is to be ended.
      const isOfRequest = isAnswer || ("method" in message && message.method === "notifications/progress");
      if (!isOfRequest) this.#unrelated().write(message);
      return;
    }
    stream.write(message);
    if (isAnswer) this.#done(requestId, stream);
  }

  /** Forgets what is old, keeps connections alive, and closes those that have been open for long. */
  tend(): void {
    this.#log.forgetOld();
    for (const stream of [this.#listening, ...this.#open.values()]) {
      if (this.#canPoll && stream.liveMs > this.#options.maxConnectionMs) stream.letGo();
      else stream.keepAlive();
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#byRequest.clear();
    this.#waiting.length = 0;
    // Whoever runs a request hears of it here, before the client does.
    this.onclose?.();
    for (const stream of [this.#listening, ...this.#open.values()]) stream.letGo();
    this.#open.clear();
  }

  get #canPoll(): boolean {
    return this.#options.version >= pollingVersion;
  }

  #stream(id: number): EventStream {
    const stream: EventStream = new EventStream({
      id,
      log: this.#log,
      primes: this.#canPoll,
      retryMs: this.#options.retryMs,
      onGone: () => this.#gone(stream),
    });
    return stream;
  }

  #streamed(body: ReadableStream<Uint8Array> | Buffer<ArrayBuffer>): Response {
    return new Response(body, { headers: { ...streamHeaders, "mcp-session-id": this.sessionId } });
  }

  /** A client that listens to nothing else may still be waiting for an answer: what is asked of it can go there. */
  #unrelated(): EventStream {
    if (this.#listening.isLive) return this.#listening;
    return [...this.#open.values()].findLast(({ isLive }) => isLive) ?? this.#listening;
  }

  #receive(message: JSONRPCMessage, stream?: EventStream): void {
    if (stream && isJSONRPCRequest(message)) {
      if (message.method === "tools/call") this.#waiting.push({ call: message, stream });
      else this.onmessage?.(message, this.#extra(stream));
      this.#beginCalls();
      return;
    }
    this.onmessage?.(message);
    if (!("method" in message) || message.method !== "notifications/cancelled") return;
    // Nobody answers a request that was cancelled.
    const requestId = message.params?.["requestId"] as RequestId;
    const cancelled = this.#byRequest.get(requestId);
    if (cancelled) this.#done(requestId, cancelled);
  }

  /** Those whose turn it is. */
  #beginCalls(): void {
    while (this.#calls.size < this.#options.maxCalls) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#calls.add(next.call.id);
      this.onmessage?.(next.call, this.#extra(next.stream));
    }
  }

  /** So that a handler can send the client away, to come back later. */
  #extra(stream: EventStream): MessageExtraInfo {
    if (!this.#canPoll) return {};
    return { closeSSEStream: () => stream.letGo(), closeStandaloneSSEStream: () => this.#listening.letGo() };
  }

  #done(requestId: RequestId, stream: EventStream): void {
    this.#byRequest.delete(requestId);
    stream.pending.delete(requestId);
    if (stream.pending.size === 0) {
      this.#open.delete(stream.id);
      stream.letGo();
    }
    const at = this.#waiting.findIndex(({ call }) => call.id === requestId);
    if (at !== -1) this.#waiting.splice(at, 1);
    this.#calls.delete(requestId);
    this.#beginCalls();
  }

  /** A client that knows no event to go on from cannot come back: nobody would ever read the answer. */
  #gone(stream: EventStream): void {
    if (stream.isResumable || this.#isClosed) return;
    for (const requestId of stream.pending) {
      const params = { requestId, reason: "The connection was lost" };
      this.#receive({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    }
  }
}

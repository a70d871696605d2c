/**
 * The streamable HTTP transport of one session, for the SDK's protocol class. The SDK's own transport (2.4.0), even with an event store and
 * a limit for unread bytes around it, fails two tests of test/serve/http-streams.test.ts: a listener gets no event to resume after until
 * a message comes ("gets messages without a request"), and never what was sent before it connected ("replaces the first one of a
 * listener"). It also keeps the id of every cancelled request for as long as the session, however long the client made it.
 */
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  type Transport,
  type TransportSendOptions,
} from "@modelcontextprotocol/server";
import { Semaphore } from "../../base/semaphore.ts";
import type { Messages } from "./body.ts";
import { EventLog, type EventLogOptions, EventStream, eventStreamHeaders, type StayOpen } from "./event-stream.ts";
import { HttpRefusal, invalidMessage, noSession } from "./refusal.ts";

export interface TransportOptions {
  /** The protocol version of the session. */
  version: string;
  events: EventLogOptions;
  /** The time after which a client should reconnect to a closed stream. */
  retryMs: number;
  /** A connection is closed after this time if the client can resume it. */
  maxConnectionMs: number;
  /** Maximum number of concurrent tool calls of the session. Others wait, so that one agent leaves room for the rest. */
  maxCalls: number;
  /** Open requests of the session. */
  maxRequests: number;
}

/** The first protocol version whose clients accept an event without data and resume after it (SEP-1699). */
const pollingVersion = "2025-11-25";

/** The only protocol version with batches. */
const batchVersion = "2025-03-26";

export class SessionTransport implements Transport {
  readonly sessionId = crypto.randomUUID();
  onmessage?: Transport["onmessage"];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #options: TransportOptions;
  readonly #log: EventLog;
  /** The stream for messages that belong to no request. The client opens it with GET. */
  readonly #listening: EventStream;
  /** The streams of open requests. A batch has one stream for all its requests. */
  readonly #byRequest = new Map<RequestId, EventStream>();
  /** Tool calls that run. */
  readonly #calls = new Set<RequestId>();
  readonly #places: Semaphore;
  #lastStream = 0;
  #isClosed = false;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#log = new EventLog(options.events);
    this.#places = new Semaphore(options.maxCalls);
    this.#listening = this.#stream(0);
  }

  async start(): Promise<void> {}

  /** Open requests. */
  get running(): number {
    return this.#byRequest.size;
  }

  /** Whether the client is connected or waits for an answer. */
  get isInUse(): boolean {
    return this.running > 0 || this.#listening.isLive;
  }

  /** Handles a POST request. Throws an HttpRefusal. */
  post({ messages, isBatch }: Messages, stayOpen: StayOpen): Response {
    // The session may have ended while the body arrived.
    if (this.#isClosed) throw noSession();
    if (isBatch && this.#options.version !== batchVersion) {
      throw invalidMessage(`Version ${this.#options.version} of the protocol does not allow batches`);
    }
    const ids = messages.filter(isJSONRPCRequest).map(({ id }) => id);
    if (new Set(ids).size < ids.length || ids.some((id) => this.#byRequest.has(id))) {
      throw invalidMessage("A request with this id is already running");
    }
    if (this.running + ids.length > this.#options.maxRequests) {
      throw new HttpRefusal(429, `This session already has ${this.running} requests running`, { "retry-after": "1" });
    }
    if (ids.length === 0) {
      for (const message of messages) this.#receive(message);
      return new Response(null, { status: 202 });
    }
    this.#lastStream += 1;
    const stream = this.#stream(this.#lastStream);
    for (const id of ids) this.#byRequest.set(id, stream);
    const response = this.#streamed(stream.open(stayOpen));
    for (const message of messages) this.#receive(message, stream);
    return response;
  }

  /** Handles a GET request: opens the stream that belongs to no request, or resumes another one. Throws an HttpRefusal. */
  listen(lastEventId: string | null, stayOpen: StayOpen): Response {
    if (lastEventId === null) return this.#streamed(this.#listening.open(stayOpen));
    const [, id, number] = (/^(\d{1,9})-(\d{1,9})$/.exec(lastEventId) ?? []).map(Number);
    if (id === undefined || number === undefined || id > this.#lastStream) {
      throw new HttpRefusal(400, "Last-Event-ID is not an event of this session");
    }
    const stream = this.#streams().find((each) => each.id === id);
    if (stream) return this.#streamed(stream.open(stayOpen, number));
    const rest = this.#log.after(id, number);
    // For a browser's EventSource and the SDK's client, this status means that the stream has ended.
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
      // A client that cancelled a request expects no answer, but a question that it was asked meanwhile must be ended.
      const isOfRequest = isAnswer || ("method" in message && message.method === "notifications/progress");
      if (!isOfRequest) this.#unrelated().write(message);
      return;
    }
    stream.write(message);
    if (isAnswer) this.#done(requestId, stream);
  }

  /** Drops old events, keeps connections alive, and closes connections that have been open for long. */
  tend(): void {
    this.#log.forgetOld();
    for (const stream of this.#streams()) {
      if (this.#canPoll && stream.liveMs > this.#options.maxConnectionMs) stream.letGo();
      else stream.keepAlive();
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const streams = this.#streams();
    this.#byRequest.clear();
    // The handler of the request learns it here, before the client does.
    this.onclose?.();
    for (const stream of streams) stream.letGo();
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

  #streams(): EventStream[] {
    return [this.#listening, ...new Set(this.#byRequest.values())];
  }

  #streamed(body: ReadableStream<Uint8Array> | Buffer<ArrayBuffer>): Response {
    return new Response(body, { headers: { ...eventStreamHeaders, "mcp-session-id": this.sessionId } });
  }

  /** A client without another stream may still wait for an answer: a question can go to that stream. */
  #unrelated(): EventStream {
    if (this.#listening.isLive) return this.#listening;
    return this.#streams().findLast(({ isLive }) => isLive) ?? this.#listening;
  }

  #receive(message: JSONRPCMessage, stream?: EventStream): void {
    if (stream && isJSONRPCRequest(message) && message.method === "tools/call") {
      void this.#beginCall(message, stream);
      return;
    }
    this.onmessage?.(message);
    if (!("method" in message) || message.method !== "notifications/cancelled") return;
    // A cancelled request gets no answer.
    const requestId = message.params?.["requestId"] as RequestId;
    const cancelled = this.#byRequest.get(requestId);
    if (cancelled) this.#done(requestId, cancelled);
  }

  async #beginCall(call: JSONRPCRequest, stream: EventStream): Promise<void> {
    await this.#places.acquire(undefined);
    // The call may have been cancelled while it waited.
    if (this.#byRequest.get(call.id) !== stream) return this.#places.release();
    this.#calls.add(call.id);
    this.onmessage?.(call);
  }

  #done(requestId: RequestId, stream: EventStream): void {
    this.#byRequest.delete(requestId);
    if (!this.#streams().includes(stream)) stream.letGo();
    if (this.#calls.delete(requestId)) this.#places.release();
  }

  /** A client without an event id cannot resume, so it would never read the answer. */
  #gone(stream: EventStream): void {
    if (stream.isResumable || this.#isClosed) return;
    for (const [requestId, own] of [...this.#byRequest]) {
      if (own !== stream) continue;
      const params = { requestId, reason: "The connection was lost" };
      this.#receive({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    }
  }
}

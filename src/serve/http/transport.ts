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
import { parsedJson } from "../../base/json-object.ts";
import { Semaphore } from "../../base/semaphore.ts";
import type { Sender } from "../legacy/legacy-host.ts";
import type { Messages } from "./body.ts";
import {
  EventLog,
  type EventLogOptions,
  EventStream,
  eventStreamHeaders,
  messageEvent,
  type StayOpen,
} from "./event-stream.ts";
import { type ForcedEnd, forcedAnswer, replicaEnded, sessionEnded } from "./forced-end.ts";
import { HttpRefusal, invalidMessage, LeavingRefusal, noSession } from "./refusal.ts";

/** Characters that the id of an event has for the ids of requests. */
const maxMarkChars = 200;

/** Time for which a replica that leaves keeps an answer for a client that has lost its connection. It comes back within seconds. */
const unreadAnswerMs = 5_000;

/** What a transport has if other replicas may take its session over. */
export interface SharedOptions {
  /** The id of a session that was taken over. */
  sessionId?: string | undefined;
  /** Streams with a lower number are of a replica that is dead. */
  firstStream: number;
  /** Called with each message of the client. */
  received: (message: JSONRPCMessage) => void;
}

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
  /** Undefined if the session lives and ends with this process. */
  shared?: SharedOptions | undefined;
}

/** The first protocol version whose clients accept an event without data and resume after it (SEP-1699). */
const pollingVersion = "2025-11-25";

/** The only protocol version with batches. */
const batchVersion = "2025-03-26";

export class SessionTransport implements Transport {
  readonly sessionId: string;
  /** Whose message came last. Each message of a session may come with another token of the same owner. */
  sender: Sender | undefined;
  /** Whether another replica continues the session. Nothing is taken here any more. */
  isMoved = false;
  /** Whether the client has ever sent a GET request. */
  hasListened = false;
  onmessage?: Transport["onmessage"];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #options: TransportOptions;
  readonly #log: EventLog;
  /** The stream for messages that belong to no request. The client opens it with GET. */
  readonly #listening: EventStream;
  /** The streams of open requests. A batch has one stream for all its requests. */
  readonly #byRequest = new Map<RequestId, EventStream>();
  /** Requests that no client waits for, each with the function to call when it is answered. */
  readonly #replayed = new Map<RequestId, () => void>();
  /** The streams with an answer that was written when no client read, and when that was. */
  readonly #unread = new Map<number, number>();
  /** Tool calls that run. */
  readonly #calls = new Set<RequestId>();
  readonly #places: Semaphore;
  #lastStream: number;
  #isClosed = false;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#log = new EventLog(options.events);
    this.#places = new Semaphore(options.maxCalls);
    this.sessionId = options.shared?.sessionId ?? crypto.randomUUID();
    this.#lastStream = options.shared?.firstStream ?? 0;
    this.#listening = this.#stream(this.#lastStream);
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

  /** Whether a request is open, or its answer waits for a client that may come back for it soon. */
  get isBusy(): boolean {
    const before = performance.now() - unreadAnswerMs;
    return this.running > 0 || [...this.#unread.values()].some((at) => at > before);
  }

  get isConnected(): boolean {
    return this.#streams().some(({ isLive }) => isLive);
  }

  /** Handles a POST request. Throws an HttpRefusal. */
  post({ messages, isBatch }: Messages, stayOpen: StayOpen, sender?: Sender): Response {
    this.#requireOpen();
    this.sender = sender;
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
    const stream = this.#stream(this.#lastStream, this.#options.shared ? markOf(ids) : "");
    for (const id of ids) this.#byRequest.set(id, stream);
    const response = this.#streamed(stream.open(stayOpen));
    for (const message of messages) this.#receive(message, stream);
    return response;
  }

  /** The session may have ended while a body arrived. Throws an HttpRefusal. */
  #requireOpen(): void {
    if (this.isMoved) throw new LeavingRefusal();
    if (this.#isClosed) throw noSession();
  }

  /** Handles a request that the client has sent to another replica. Resolves when it is answered; nobody gets the answer. */
  async replay(request: Pick<JSONRPCRequest, "method" | "params">): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    // The client may have chosen any other id.
    const id = crypto.randomUUID();
    this.#replayed.set(id, resolve);
    this.onmessage?.({ jsonrpc: "2.0", id, ...request });
    await promise;
  }

  /** Handles a GET request: opens the stream that belongs to no request, or resumes another one. Throws an HttpRefusal. */
  listen(lastEventId: string | null, stayOpen: StayOpen): Response {
    this.#requireOpen();
    this.hasListened = true;
    if (lastEventId === null) return this.#streamed(this.#listening.open(stayOpen));
    const [, ids, mark] = /^(\d{1,9}-\d{1,9})(?:-([\w-]{1,200}))?$/.exec(lastEventId) ?? [];
    const [id, number] = (ids?.split("-") ?? []).map(Number);
    if (id === undefined || number === undefined || id > this.#lastStream) {
      throw new HttpRefusal(400, "Last-Event-ID is not an event of this session");
    }
    if (id < this.#listening.id) return this.#afterLoss(mark, stayOpen);
    const stream = this.#streams().find((each) => each.id === id);
    if (stream) return this.#streamed(stream.open(stayOpen, number));
    this.#unread.delete(id);
    const rest = this.#log.after(id, number);
    // For a browser's EventSource and the SDK's client, this status means that the stream has ended.
    return rest.length > 0 ? this.#streamed(Buffer.concat(rest)) : new Response(null, { status: 204 });
  }

  /** Resumes a stream of a replica that is dead. The answer of its request is lost, and the client learns it. */
  #afterLoss(mark: string | undefined, stayOpen: StayOpen): Response {
    const lost = mark === undefined ? [] : requestsOf(mark);
    if (lost.length === 0) return this.#streamed(this.#listening.open(stayOpen));
    const events = lost.map((id) => messageEvent(JSON.stringify(forcedAnswer(id, replicaEnded))));
    return this.#streamed(Buffer.from(events.join("")));
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
    const requestId = isAnswer ? message.id : options?.relatedRequestId;
    const replayed = isAnswer && requestId !== undefined ? this.#replayed.get(requestId) : undefined;
    if (replayed && requestId !== undefined) {
      this.#replayed.delete(requestId);
      replayed();
      return;
    }
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
    for (const [id, at] of this.#unread) if (performance.now() - at > unreadAnswerMs) this.#unread.delete(id);
    for (const stream of this.#streams()) {
      if (this.#canPoll && stream.liveMs > this.#options.maxConnectionMs) stream.letGo();
      else stream.keepAlive();
    }
  }

  /** Open requests get `why` as their answer. */
  async close(why: ForcedEnd = sessionEnded): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const streams = this.#streams();
    const open = [...this.#byRequest];
    this.#byRequest.clear();
    // The handler of the request learns it here, before the client does.
    this.onclose?.();
    for (const [id, stream] of open) stream.write(forcedAnswer(id, why));
    for (const stream of streams) stream.letGo();
  }

  get #canPoll(): boolean {
    return this.#options.version >= pollingVersion;
  }

  #stream(id: number, mark = ""): EventStream {
    const stream: EventStream = new EventStream({
      id,
      mark,
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
    this.#options.shared?.received(message);
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
    if (!this.#streams().includes(stream)) {
      if (stream.isResumable && !stream.isLive) this.#unread.set(stream.id, performance.now());
      stream.letGo();
    }
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

/** The end of an event's id: the ids of the requests that its stream answers. Empty if they are too long. */
function markOf(ids: readonly RequestId[]): string {
  const mark = Buffer.from(JSON.stringify(ids)).toString("base64url");
  return mark.length > maxMarkChars ? "" : `-${mark}`;
}

function requestsOf(mark: string): RequestId[] {
  const ids = parsedJson(Buffer.from(mark, "base64url").toString());
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "string" || typeof id === "number") : [];
}

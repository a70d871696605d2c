/** MCP over HTTP: the SDK's transports, with failures told apart where they arise and answers that break off noticed. */
import { AsyncLocalStorage } from "node:async_hooks";
import { SSEClientTransport, SseError } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { FetchLike, Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  ErrorCode,
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type RequestId,
} from "@modelcontextprotocol/sdk/types.js";
import { largeBytes, receive } from "./decoding/receive.ts";
import type { Endpoint } from "./endpoint.ts";
import { answerIn, failureOf, isEventStream, refusalOf } from "./http-response.ts";
import { withoutLargeEvents } from "./large-events.ts";
import { broken, brokeOff, NetworkFailure, noAnswer, sessionEnded, tooLarge, unreadable } from "./network-failure.ts";
import { bodyLimit, eventLimit, watched } from "./response-body.ts";
import { maxErrorBytes, maxEventLines, maxMessageBytes, megabytes } from "./size-limits.ts";

/** How long the server may take to be told that the session is over. */
const goodbyeMs = 1_000;

/** How long the other requests of a session that has ended may take until it is known whether they were refused. */
const verdictMs = 1_000;

/** How long the server may take to accept what needs no answer: each takes one of the sockets that there are. */
const noticeMs = 10_000;

/** How long an answer may be on its way through the parsers after its stream has ended. */
const drainGraceMs = 100;

/** As many as the SDK makes by default; it tells nobody when it gives up. */
const maxResumptions = 2;

const eventLimits = { bytes: maxMessageBytes, lines: maxEventLines };

/** The SDK counts its own. */
const pingId = "claudikins-ping";

/** Which exchange a `fetch` of the SDK belongs to. */
const exchanges = new AsyncLocalStorage<Exchange | undefined>();

export class HttpTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Why the connection is gone. */
  failure: NetworkFailure | undefined;
  readonly #endpoint: Endpoint;
  readonly #kind: "auto" | "http" | "sse";
  readonly #open = new Map<RequestId, Exchange>();
  #inner: StreamableHTTPClientTransport | SSEClientTransport | undefined;
  /** What the last `fetch` threw: EventSource makes a text of it. */
  #lastFailure: NetworkFailure | undefined;
  #closing: Promise<void> | undefined;
  /** Being asked, by the first request that makes it doubtful, for all. */
  #knowsSession: Promise<boolean> | undefined;

  constructor(endpoint: Endpoint, kind: "auto" | "http" | "sse") {
    this.#endpoint = endpoint;
    this.#kind = kind;
  }

  async start(): Promise<void> {
    if (this.#kind === "sse") await this.#startSse();
    else {
      const { url, headers } = this.#endpoint;
      this.#inner = this.#listen(
        new StreamableHTTPClientTransport(url, { fetch: this.#fetch, requestInit: { headers } }),
      );
      await this.#inner.start();
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    // Who is not waited for need not go on sending either.
    if ("method" in message && message.method === "notifications/cancelled") {
      this.#end(message.params?.["requestId"] as RequestId);
    }
    const exchange = isJSONRPCRequest(message) ? this.#begin(message.id) : undefined;
    try {
      await this.#sendAs(exchange, message);
    } catch (error) {
      // Nobody waits for it any more, and the connection is well.
      if (exchange?.abort.signal.aborted) throw error;
      const failure = this.#failureOf(error);
      if (this.#isOlderServer(message, failure)) return this.#fallBack(message, failure);
      if (exchange) this.#open.delete(exchange.id);
      if (failure.isGone) this.#lose(failure);
      throw failure;
    }
  }

  setProtocolVersion(version: string): void {
    this.#inner?.setProtocolVersion(version);
  }

  /** Tells who waits, then the server, which has a second for it. Safe to call often. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.failure?.isUnsent) await this.#verdicts();
    for (const id of [...this.#open.keys()]) this.#end(id);
    this.onclose?.();
    const inner = this.#inner;
    if (inner instanceof StreamableHTTPClientTransport && this.#session !== undefined && !this.failure) {
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, goodbyeMs);
      await Promise.race([inner.terminateSession().catch(() => {}), late.promise]);
      clearTimeout(timer);
    }
    await inner?.close();
  }

  /** Of a session that is no more: what was sent beside the request that showed it may be refused as well. */
  async #verdicts(): Promise<void> {
    await allReceived(this.#open.values(), verdictMs);
    // Until who waits for them has heard.
    await new Promise((resolve) => setImmediate(resolve));
  }

  #begin(id: RequestId): Exchange {
    const exchange = newExchange(id);
    this.#open.set(id, exchange);
    return exchange;
  }

  #end(id: RequestId): void {
    this.#open.get(id)?.abort.abort();
    this.#open.delete(id);
  }

  async #sendAs(exchange: Exchange | undefined, message: JSONRPCMessage): Promise<void> {
    const onresumptiontoken = () => {
      if (exchange) exchange.isResumable = true;
    };
    const inner = this.#inner;
    if (!inner) throw new Error("not started");
    await exchanges.run(exchange, () =>
      inner instanceof SSEClientTransport ? inner.send(message) : inner.send(message, { onresumptiontoken }),
    );
  }

  /** As the protocol says how to know a server that speaks only the older transport. */
  #isOlderServer(message: JSONRPCMessage, { status }: NetworkFailure): boolean {
    const isUntried = this.#kind === "auto" && this.#inner instanceof StreamableHTTPClientTransport;
    return isUntried && isInitializeRequest(message) && [400, 404, 405].includes(status ?? 0);
  }

  async #fallBack(message: JSONRPCMessage, first: NetworkFailure): Promise<void> {
    try {
      await this.#inner?.close();
      await this.#startSse();
    } catch (error) {
      // That it is no SSE either says less than what was wrong with the usual way.
      throw error instanceof NetworkFailure && error.code === "AUTH_REQUIRED" ? error : first;
    }
    await this.#sendAs(undefined, message);
  }

  async #startSse(): Promise<void> {
    // Between the two ways it may have been closed.
    if (this.#closing) throw broken("its connection was closed");
    const { url, headers } = this.#endpoint;
    const sse = new SSEClientTransport(url, { fetch: this.#fetch, requestInit: { headers } });
    this.#inner = sse;
    sse.onerror = (error) => this.#report(error);
    try {
      await sse.start();
    } catch (error) {
      // It would go on trying.
      await sse.close();
      throw this.#lastFailure ?? this.#failureOf(error);
    }
    this.#listen(sse);
    sse.onerror = (error) => {
      // A new stream would be a new session that nobody has initialized.
      if (error instanceof SseError) this.#lose(broken("its event stream broke"));
      else this.#report(error);
    };
  }

  #listen<T extends Transport>(inner: T): T {
    inner.onmessage = (message) => {
      if (!("method" in message) && message.id === pingId) return;
      if (!("method" in message) && message.id !== undefined) this.#open.delete(message.id);
      this.onmessage?.(message);
    };
    inner.onerror = (error) => this.#report(error);
    return inner;
  }

  /** Only our own words: the SDK's have addresses in them, and what the server answered. */
  #report(error: unknown): void {
    this.onerror?.(this.#failureOf(error));
  }

  #failureOf(error: unknown): NetworkFailure {
    return failureOf(error, this.#endpoint);
  }

  #lose(failure: NetworkFailure): void {
    if (this.#closing || this.failure) return;
    this.failure = failure;
    // EventSource sets the time of its next attempt after it has told of the error.
    queueMicrotask(() => void this.close());
  }

  readonly #fetch: FetchLike = async (url, init = {}) => {
    const exchange = exchanges.getStore();
    try {
      const response = await this.#ask(url, init, exchange);
      return isEventStream(response)
        ? this.#boundedStream(response, init.method, exchange)
        : await this.#smallBody(response);
    } catch (error) {
      if (init.method === "GET" && exchange && ++exchange.failedResumptions === maxResumptions)
        this.#brokeOff(exchange);
      throw error;
    } finally {
      exchange?.received.resolve();
    }
  };

  /** A large message is handed on from here, and the SDK is told that the request was accepted without an answer. */
  async #smallBody(response: Response): Promise<Response> {
    // Nobody needs the body of a redirect or a refusal, but the SDK may read it for its own error.
    const refuse = () => tooLarge(megabytes(maxMessageBytes));
    if (!response.ok) return watched(response, { seen: bodyLimit(maxErrorBytes, refuse) });
    const limit = bodyLimit(maxMessageBytes, refuse);
    const bytes = Buffer.from(await watched(response, { seen: limit }).arrayBuffer());
    const { headers, status } = response;
    if (bytes.length <= largeBytes) return new Response(bytes.length > 0 ? bytes : null, { headers, status });
    await this.#receive(bytes);
    return new Response(null, { headers, status: 202 });
  }

  /** Throws where the bytes are no message. */
  readonly #receive = async (bytes: Buffer): Promise<void> => {
    const message = await receive(bytes);
    if (!message) throw unreadable();
    this.#inner?.onmessage?.(message);
  };

  #boundedStream(response: Response, method: string | undefined, exchange: Exchange | undefined): Response {
    const isAnswer = method === "POST" && exchange;
    const seen = eventLimit(eventLimits, (limit) => this.#eventTooLarge(limit, exchange));
    // It has ended when its large events were handed on as well.
    return watched(withoutLargeEvents(watched(response, { seen }), largeBytes, this.#receive), {
      ended: isAnswer ? () => setTimeout(() => this.#brokeOff(exchange), drainGraceMs) : undefined,
    });
  }

  /** Ends the request that the stream answers, or the connection if the stream belongs to none: both would be resumed. */
  #eventTooLarge(limit: string, exchange: Exchange | undefined): NetworkFailure {
    const failure = tooLarge(limit, { isGone: !exchange });
    if (exchange) this.#fail(exchange, ErrorCode.ConnectionClosed, failure.message, failure);
    else {
      this.#lastFailure = failure;
      this.#lose(failure);
    }
    return failure;
  }

  async #ask(url: string | URL, init: RequestInit, exchange: Exchange | undefined): Promise<Response> {
    const limit = exchange?.abort.signal ?? (init.method === "POST" ? AbortSignal.timeout(noticeMs) : undefined);
    const signal = AbortSignal.any([init.signal, limit].filter((each) => each instanceof AbortSignal));
    try {
      // Calls have a time of their own, and a stream may be silent for long; Bun would end it after five minutes.
      const ask = this.#endpoint.access?.fetch ?? fetch;
      const response = await ask(url, { ...init, signal, timeout: false } as RequestInit);
      const failure = this.#refusalOf(response, init.method, exchange);
      if (!failure) return response;
      if (failure.status === 400 && exchange && this.#session !== undefined) {
        return await this.#refused(response, exchange, failure);
      }
      await response.body?.cancel();
      throw failure;
    } catch (error) {
      if (signal.aborted) throw error;
      this.#lastFailure = error instanceof NetworkFailure ? error : noAnswer(error, this.#endpoint.url);
      throw this.#lastFailure;
    }
  }

  /** Servers say 400 of a session that they do not know, and of one request alone: how they take another one tells. */
  async #refused(response: Response, exchange: Exchange, failure: NetworkFailure): Promise<Response> {
    const answer = await answerIn(response, exchange.id);
    this.#knowsSession ??= this.#ping().finally(() => {
      this.#knowsSession = undefined;
    });
    // Who answers it by its id has read it, and may have done it.
    if (!(await this.#knowsSession)) throw sessionEnded(400, { isUnsent: answer === undefined });
    if (answer === undefined) throw failure;
    return new Response(answer, { headers: { "content-type": "application/json" } });
  }

  async #ping(): Promise<boolean> {
    try {
      await this.#sendAs(undefined, { jsonrpc: "2.0", id: pingId, method: "ping" });
      return true;
    } catch (error) {
      const { status } = this.#failureOf(error);
      return status !== 400 && status !== 404;
    }
  }

  get #session(): string | undefined {
    return this.#inner instanceof StreamableHTTPClientTransport ? this.#inner.sessionId : undefined;
  }

  #refusalOf(response: Response, method = "GET", exchange: Exchange | undefined): NetworkFailure | undefined {
    const { hasToken } = this.#endpoint;
    const isStreamable = this.#inner instanceof StreamableHTTPClientTransport;
    const hasSession = this.#session !== undefined;
    return refusalOf(response, { method, isStreamable, hasSession, hasToken, expectsAnswer: exchange !== undefined });
  }

  /** The SDK would let the caller wait for an answer whose stream has ended. */
  #brokeOff(exchange: Exchange): void {
    const isResumed = exchange.isResumable && exchange.failedResumptions < maxResumptions;
    if (!isResumed) this.#fail(exchange, ErrorCode.ConnectionClosed, "its answer was cut off", brokeOff);
  }

  #fail(exchange: Exchange, code: number, message: string, data: unknown): void {
    if (this.#open.get(exchange.id) !== exchange) return;
    this.#end(exchange.id);
    this.onmessage?.({ jsonrpc: "2.0", id: exchange.id, error: { code, message, data } });
  }
}

/** One request that waits for its answer. */
interface Exchange {
  id: RequestId;
  abort: AbortController;
  /** The server numbers its events: the SDK asks for the rest when the stream breaks. */
  isResumable: boolean;
  /** How often that was in vain. */
  failedResumptions: number;
  /** Resolves when it is known whether the server takes it. */
  received: PromiseWithResolvers<void>;
}

function newExchange(id: RequestId): Exchange {
  const received = Promise.withResolvers<void>();
  return { id, abort: new AbortController(), isResumable: false, failedResumptions: 0, received };
}

/** Resolves when of each it is known whether the server takes it, or when the time is over. */
async function allReceived(exchanges: Iterable<Exchange>, withinMs: number): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, withinMs);
  await Promise.race([Promise.all([...exchanges].map(({ received }) => received.promise)), late.promise]);
  clearTimeout(timer);
}

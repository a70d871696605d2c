/** MCP over HTTP: the SDK's transports, with exact failures and a check for incomplete answers. */

import { AsyncLocalStorage } from "node:async_hooks";
import { ReadableStream } from "node:stream/web";
import {
  type FetchLike,
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  type RequestId,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
} from "@modelcontextprotocol/client";
import { type Chunks, limited } from "../../base/bounded-body.ts";
import { withoutMark } from "../../base/byte-order-mark.ts";
import { collectSoon } from "../../base/collect-soon.ts";
import { markExact, restoreExact } from "../../base/exact-json.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { atMost } from "../../base/time-limit.ts";
import { megabyte, megabytes } from "../../base/units.ts";
import type { Era } from "../connection/server-client.ts";
import { withPlainLists } from "../decoding/decode.ts";
import { receive } from "../decoding/receive.ts";
import {
  broken,
  brokeOff,
  NetworkFailure,
  noAnswer,
  notMcp,
  refusal,
  sessionEnded,
  tooLarge,
  unreadable,
} from "../failures/network-failure.ts";
import { httpNoticeMs, maxErrorBytes, maxEventLines, maxInlineBytes, maxMessageBytes } from "../limits.ts";
import type { Endpoint } from "./endpoint.ts";
import { dataOf, smallEvents } from "./event-stream.ts";
import {
  answerOfProtocol,
  errorText,
  failureOf,
  isEventStream,
  mediaTypeOf,
  ownError,
  retryAfterOf,
} from "./http-response.ts";
import {
  answerOf,
  errorIn,
  isLoose,
  mayMeanNoSession,
  messagesIn,
  type OddEvent,
  oddEvent,
  type SaidError,
} from "./said-error.ts";
import { SessionCheck } from "./session-check.ts";

/** The code of answers that this transport makes itself. JSON-RPC leaves it to implementations. */
const connectionLost = -32_000;

/** The exchange to which a `fetch` call of the SDK belongs. */
const exchanges = new AsyncLocalStorage<Exchange | undefined>();

/** Larger bodies of responses cause a garbage collection, because a server could send many of them. */
const collectedBodyBytes = 32 * megabyte;

/** Time for the request that ends the session. */
const httpGoodbyeMs = 1_000;

/** Wait, after a session has ended, to learn which of its other requests were refused. */
const httpVerdictMs = 1_000;

/** Time that an answer may need through the parsers after its stream has ended. */
const httpDrainMs = 100;

/** Failed attempts to resume a stream, after which its answer counts as cut off. The SDK's default. */
const maxResumptions = 2;

export class HttpTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Why the connection was lost. */
  failure: NetworkFailure | undefined;
  readonly #endpoint: Endpoint;
  readonly #kind: "auto" | "http" | "sse";
  readonly #open = new Map<RequestId, Exchange>();
  #inner: StreamableHTTPClientTransport | SSEClientTransport | undefined;
  /** The error of the last `fetch`: EventSource turns it into text. */
  #lastFailure: NetworkFailure | undefined;
  #closing: Promise<void> | undefined;
  readonly #sessionCheck: SessionCheck;

  constructor(endpoint: Endpoint, kind: "auto" | "http" | "sse") {
    this.#endpoint = endpoint;
    this.#kind = kind;
    this.#sessionCheck = new SessionCheck(endpoint, () => this.#streamable);
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

  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    // A cancelled request need not be sent to the end.
    if ("method" in message && message.method === "notifications/cancelled") {
      this.#end(message.params?.["requestId"] as RequestId);
    }
    const exchange = isJSONRPCRequest(message) ? this.#begin(message) : undefined;
    // In the newer era, a request is cancelled by closing its stream.
    if (exchange) options.requestSignal?.addEventListener("abort", () => this.#end(exchange.id), { once: true });
    try {
      await this.#sendAs(exchange, message, options);
    } catch (error) {
      // The caller has cancelled, and the connection still works.
      if (exchange?.abort.signal.aborted) throw error;
      const failure = this.#failureOf(error);
      if (this.#isOlderServer(message, failure)) return this.#fallBack(message, failure);
      if (exchange) this.#open.delete(exchange.id);
      if (failure.isGone) this.#lose(failure);
      throw failure;
    }
  }

  get hasPerRequestStream(): boolean {
    return this.#inner instanceof StreamableHTTPClientTransport;
  }

  setProtocolVersion(version: string): void {
    this.#inner?.setProtocolVersion(version);
  }

  /** Ends pending requests, then the session, which may take a second. Can be called repeatedly. */
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
      await atMost(
        httpGoodbyeMs,
        inner.terminateSession().catch(() => {}),
      );
    }
    await inner?.close();
  }

  /** After the session has ended, waits to learn which other requests the server has refused as well. */
  async #verdicts(): Promise<void> {
    await atMost(httpVerdictMs, Promise.all([...this.#open.values()].map(({ received }) => received.promise)));
    // Until the callers have their results.
    await new Promise((resolve) => setImmediate(resolve));
  }

  #begin({ id, method, params }: JSONRPCRequest): Exchange {
    const received = Promise.withResolvers<void>();
    const era = params?._meta?.[PROTOCOL_VERSION_META_KEY] === undefined ? ("2025" as const) : ("2026" as const);
    const exchange = {
      id,
      method,
      era,
      abort: new AbortController(),
      isResumable: false,
      failedResumptions: 0,
      received,
    };
    this.#open.set(id, exchange);
    return exchange;
  }

  #end(id: RequestId): void {
    this.#open.get(id)?.abort.abort();
    this.#open.delete(id);
  }

  async #sendAs(
    exchange: Exchange | undefined,
    message: JSONRPCMessage,
    options: TransportSendOptions = {},
  ): Promise<void> {
    const onresumptiontoken = () => {
      if (exchange) exchange.isResumable = true;
    };
    const inner = this.#inner;
    if (!inner) throw new Error("not started");
    await exchanges.run(exchange, () =>
      inner instanceof SSEClientTransport
        ? inner.send(message)
        : inner.send(message, { ...options, onresumptiontoken } as StreamableSendOptions),
    );
  }

  /** Recognises a server that supports only the older transport, as the MCP specification describes. */
  #isOlderServer(message: JSONRPCMessage, { status }: NetworkFailure): boolean {
    const isUntried = this.#kind === "auto" && this.#inner instanceof StreamableHTTPClientTransport;
    return isUntried && isInitializeRequest(message) && [400, 404, 405].includes(status ?? 0);
  }

  async #fallBack(message: JSONRPCMessage, first: NetworkFailure): Promise<void> {
    try {
      await this.#inner?.close();
      await this.#startSse();
    } catch (error) {
      // The failure of the usual transport says more than the failure of SSE.
      throw error instanceof NetworkFailure && error.code === "AUTH_REQUIRED" ? error : first;
    }
    await this.#sendAs(undefined, message);
  }

  async #startSse(): Promise<void> {
    // It may have been closed between the two attempts.
    if (this.#closing) throw broken("its connection was closed");
    const { url, headers } = this.#endpoint;
    const sse = new SSEClientTransport(url, { fetch: this.#fetch, requestInit: { headers } });
    this.#inner = sse;
    sse.onerror = (error) => this.#report(error);
    try {
      await sse.start();
    } catch (error) {
      // Otherwise it would reconnect.
      await sse.close();
      throw this.#lastFailure ?? this.#failureOf(error);
    }
    this.#listen(sse);
    sse.onerror = (error) => {
      // A new stream would be a new session, which is not initialized.
      if (error instanceof SseError) this.#lose(broken("its event stream broke"));
      else this.#report(error);
    };
  }

  #listen<T extends Transport>(inner: T): T {
    inner.onmessage = (message) => {
      if (!("method" in message) && message.id !== undefined) this.#open.delete(message.id);
      restoreExact(message);
      this.onmessage?.(withPlainLists(message));
    };
    inner.onerror = (error) => this.#report(error);
    return inner;
  }

  /** Errors of the SDK contain URLs and response bodies, so only our own texts are reported. */
  #report(error: unknown): void {
    this.onerror?.(this.#failureOf(error));
  }

  #failureOf(error: unknown): NetworkFailure {
    return failureOf(error, this.#endpoint);
  }

  #lose(failure: NetworkFailure): void {
    if (this.#closing || this.failure) return;
    this.failure = failure;
    // EventSource schedules its next attempt after it reports the error.
    queueMicrotask(() => void this.close());
  }

  readonly #fetch: FetchLike = async (url, init = {}) => {
    const exchange = exchanges.getStore();
    try {
      const response = await this.#ask(url, init, exchange);
      return isEventStream(response)
        ? this.#boundedStream(response, init.method, exchange)
        : await this.#smallBody(response, exchange);
    } catch (error) {
      if (init.method === "GET" && exchange && ++exchange.failedResumptions === maxResumptions)
        this.#brokeOff(exchange);
      throw error;
    } finally {
      exchange?.received.resolve();
    }
  };

  /** Handles large messages here, and tells the SDK that the request was accepted without an answer. */
  async #smallBody(response: Response, exchange: Exchange | undefined): Promise<Response> {
    // The body of a redirect or refusal is not needed, but the SDK may read it for its error.
    const maxBytes = response.ok ? maxMessageBytes : maxErrorBytes;
    const refuse = () => tooLarge(megabytes(maxMessageBytes));
    const bounded = withBody(response, (chunks) => limited(chunks, maxBytes, refuse));
    if (!response.ok) return bounded;
    const bytes = withoutMark(Buffer.from(await bounded.arrayBuffer()));
    const { headers, status } = response;
    const value = exchange && bytes.length <= maxInlineBytes ? parsedJson(bytes.toString()) : undefined;
    if (bytes.length <= maxInlineBytes && !isLoose(value)) {
      const error = errorIn(value);
      const answer = error && exchange ? await this.#answerFor(error, exchange) : bytes;
      return new Response(answer.length > 0 ? markExact(answer.toString()) : null, { headers, status });
    }
    await this.#receive(bytes);
    return new Response(null, { headers, status: 202 });
  }

  /** Throws if the bytes are no messages. */
  readonly #receive = async (bytes: Buffer): Promise<void> => {
    for (const each of bytes[0] === openList
      ? messagesIn(bytes.toString()).map((text) => Buffer.from(text))
      : [bytes]) {
      const message = await receive(each);
      if (!message) throw unreadable();
      this.#inner?.onmessage?.(message);
    }
  };

  /** The answer to a request whose response says an error. Throws if the error means that the session has ended. */
  async #answerFor(error: SaidError, { id }: Exchange): Promise<string> {
    if (mayMeanNoSession(error) && (await this.#sessionCheck.isLost(200))) throw sessionEnded(200, { isUnsent: true });
    return answerOf(error, id);
  }

  /** The events in the form that the SDK reads. */
  async *#usualEvents(events: Chunks, exchange: Exchange | undefined): Chunks {
    for await (const bytes of events) {
      const event = Buffer.from(bytes);
      const odd = oddEvent(event, dataOf);
      if (!odd || (!exchange && "error" in odd)) yield bytes;
      else
        for (const text of await this.#messagesOf(odd, exchange))
          yield Buffer.from(`${idLine(event)}data: ${text.replaceAll(/[\r\n]+/g, " ")}\n\n`);
    }
  }

  async #messagesOf(odd: OddEvent, exchange: Exchange | undefined): Promise<string[]> {
    if ("messages" in odd) return odd.messages;
    try {
      return exchange ? [await this.#answerFor(odd.error, exchange)] : [];
    } catch (error) {
      const failure = this.#failureOf(error);
      this.#fail(exchange!, connectionLost, failure.message, failure);
      this.#lose(failure);
      return [];
    }
  }

  #boundedStream(response: Response, method: string | undefined, exchange: Exchange | undefined): Response {
    const options = {
      largeBytes: maxInlineBytes,
      take: this.#receive,
      maxBytes: maxMessageBytes,
      maxLines: maxEventLines,
      tooLarge: (limit: string) => this.#eventTooLarge(limit, exchange),
    };
    const ended = () => {
      if (method === "POST" && exchange) setTimeout(() => this.#brokeOff(exchange), httpDrainMs);
    };
    return withBody(response, (chunks) => untilEnd(this.#usualEvents(smallEvents(chunks, options), exchange), ended));
  }

  /** Fails the stream's request, or the connection if there is no request. The SDK would resume both. */
  #eventTooLarge(limit: string, exchange: Exchange | undefined): NetworkFailure {
    const failure = tooLarge(limit, { isGone: !exchange });
    if (exchange) this.#fail(exchange, connectionLost, failure.message, failure);
    else {
      this.#lastFailure = failure;
      this.#lose(failure);
    }
    return failure;
  }

  async #ask(url: string | URL, init: RequestInit, exchange: Exchange | undefined): Promise<Response> {
    const limit = exchange?.abort.signal ?? (init.method === "POST" ? AbortSignal.timeout(httpNoticeMs) : undefined);
    const signal = AbortSignal.any([init.signal, limit].filter((each) => each instanceof AbortSignal));
    try {
      // Calls have their own timeout, and a stream may be silent for long. Bun would end it after five minutes.
      const ask = this.#endpoint.access?.fetch ?? fetch;
      const response = await ask(url, { ...init, signal, timeout: false } as RequestInit);
      const failure = this.#refusalOf(response, init.method, exchange);
      if (!failure) return response;
      const answer = exchange && (await answerOfProtocol(response, exchange));
      if (answer !== undefined) return new Response(answer, { headers: { "content-type": "application/json" } });
      if (exchange && this.#session !== undefined && maySayNoSession.has(response.status)) {
        return await this.#refused(response, exchange, failure);
      }
      const own = exchange && (await ownError(response, exchange));
      if (own !== undefined) return new Response(own, { headers: { "content-type": "application/json" } });
      await response.body?.cancel();
      throw failure;
    } catch (error) {
      if (signal.aborted) throw error;
      this.#lastFailure = error instanceof NetworkFailure ? error : noAnswer(error, this.#endpoint.url);
      throw this.#lastFailure;
    }
  }

  /** Such a status may concern the session or only this request. A ping finds out. */
  async #refused(response: Response, { id }: Exchange, failure: NetworkFailure): Promise<Response> {
    const { status } = response;
    const text = await errorText(response);
    const value = parsedJson(text);
    const error = errorIn(value);
    // An answer with this id shows that the server has read the request.
    const isAnswer = isObject(value) && value["id"] === id;
    const mayBeLost = status < 500 || /\bsession/i.test(text);
    if (mayBeLost && (await this.#sessionCheck.isLost(status))) {
      throw sessionEnded(status, {
        isUnsent: status < 500 && (!isAnswer || (error !== undefined && mayMeanNoSession(error))),
      });
    }
    if (!isAnswer || (status !== 400 && status < 500)) throw failure;
    return new Response(text, { headers: { "content-type": "application/json" } });
  }

  get #session(): string | undefined {
    return this.#streamable?.sessionId;
  }

  get #streamable(): StreamableHTTPClientTransport | undefined {
    return this.#inner instanceof StreamableHTTPClientTransport ? this.#inner : undefined;
  }

  /** Undefined for success and redirects. The SDK decides whether to follow a redirect. */
  #refusalOf(response: Response, method = "GET", exchange: Exchange | undefined): NetworkFailure | undefined {
    const { status } = response;
    const isStreamable = this.#inner instanceof StreamableHTTPClientTransport;
    // Servers may offer no stream, and may not support DELETE.
    if (method === "DELETE" || (status === 405 && method === "GET" && isStreamable)) return undefined;
    if (status >= 400) {
      const { hasToken } = this.#endpoint;
      const hasSession = this.#session !== undefined;
      return refusal(status, { hasToken, hasSession, retryAfterMs: retryAfterOf(response) });
    }
    if (status >= 300 || isEventStream(response)) return undefined;
    // The older transport answers only on its stream, the newer one also with JSON.
    const expectsStream = method === "GET" && !isStreamable;
    const expectsAnswer = method === "POST" && isStreamable && exchange !== undefined && status !== 202;
    const isMcp = !expectsStream && (!expectsAnswer || mediaTypeOf(response) === "application/json");
    return isMcp ? undefined : notMcp(response.headers.get("content-type"));
  }

  /** If a stream ends without the answer, the SDK would wait for it. */
  #brokeOff(exchange: Exchange): void {
    const isResumed = exchange.isResumable && exchange.failedResumptions < maxResumptions;
    if (!isResumed) this.#fail(exchange, connectionLost, "its answer was cut off", brokeOff);
  }

  #fail(exchange: Exchange, code: number, message: string, data: unknown): void {
    if (this.#open.get(exchange.id) !== exchange) return;
    this.#end(exchange.id);
    this.onmessage?.({ jsonrpc: "2.0", id: exchange.id, error: { code, message, data } });
  }
}

/** Statuses that servers have for unknown sessions beside 404, which always means that. */
const maySayNoSession: ReadonlySet<number> = new Set([400, 406, 409, 410, 412, 422, 440, 500]);

const openList = 0x5b;

/** The line with the id of an event, by which its stream can be resumed. */
function idLine(event: Buffer): string {
  const [line] = /^id:.*$/m.exec(event.toString()) ?? [];
  return line === undefined ? "" : `${line.trim()}\n`;
}

/** Calls `ended` when the stream has ended or failed, but not when its reader cancels it. */
async function* untilEnd(chunks: Chunks, ended: () => void): Chunks {
  try {
    yield* chunks;
  } catch (error) {
    ended();
    throw error;
  }
  ended();
}

type StreamableSendOptions = Parameters<StreamableHTTPClientTransport["send"]>[1];

/** A request that waits for its answer. */
interface Exchange {
  id: RequestId;
  method: string;
  era: Era;
  abort: AbortController;
  /** The server numbers its events, so the SDK asks for the rest if the stream breaks. */
  isResumable: boolean;
  /** The number of failed attempts to do so. */
  failedResumptions: number;
  /** Resolves when it is known whether the server accepts the request. */
  received: PromiseWithResolvers<void>;
}

/** The same response with another body, made from its chunks. They are not decompressed faster than they are read. */
function withBody(response: Response, change: (chunks: Chunks) => Chunks): Response {
  const { body, status, headers } = response;
  return body ? new Response(ReadableStream.from(change(collected(body))), { status, headers }) : response;
}

async function* collected(chunks: Chunks): Chunks {
  let size = 0;
  try {
    for await (const chunk of chunks) {
      size += chunk.length;
      yield chunk;
    }
  } finally {
    if (size > collectedBodyBytes) collectSoon(size);
  }
}

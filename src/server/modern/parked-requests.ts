/**
 * Multi round-trip requests (MCP 2026-07-28, basic/patterns/mrtr). A request whose work needs an answer of the host ends with
 * `input_required`. The work stays parked in memory until the host sends the request again with the answers, and continues there.
 */
import {
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequest,
  type Notification,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { onAbort } from "../../clients/abort.ts";
import type { JsonObject } from "../../json-object.ts";
import { Semaphore } from "../../semaphore.ts";
import { TimeLimit } from "../../time-limit.ts";
import { capabilitiesOf } from "./envelope.ts";

export interface ParkedRequestsOptions {
  /** Time in milliseconds for the host to come back with the answers. */
  answerMs: number;
  /** Maximum number of requests that run concurrently. Others wait; parked ones do not count. */
  maxRunning: number;
  /** Maximum number of open requests, including parked ones. */
  maxOpen: number;
  /** Aborted when claudikins ends. */
  closing: AbortSignal;
}

/** A request as the handlers of the SDK get it: without the metadata of the revision, which is in the context. */
interface Asked {
  method: string;
  params?: JsonObject | undefined;
}

/** What the sealed `requestState` says. */
interface State {
  id: string;
  round: number;
}

/** The open requests of all hosts at one address. */
export class ParkedRequests {
  readonly #options: ParkedRequestsOptions;
  readonly #open = new Map<string, OpenRequest>();
  readonly #places: Semaphore;
  /** The key exists only in this process, and so do the requests. */
  readonly #codec;

  constructor(options: ParkedRequestsOptions) {
    this.#options = options;
    this.#places = new Semaphore(options.maxRunning);
    const key = crypto.getRandomValues(new Uint8Array(32));
    this.#codec = createRequestStateCodec<State>({ key, ttlSeconds: Math.ceil(options.answerMs / 1_000) });
  }

  /** Requests that a host waits for. */
  get running(): number {
    return [...this.#open.values()].filter(({ isParked }) => !isParked).length;
  }

  /** Open requests, including parked ones. */
  get size(): number {
    return this.#open.size;
  }

  /**
   * Answers one round of a request: begins the work, or continues the work that the request's state names. Returns the result of
   * the work, or the questions that the host must answer first. Throws a ProtocolError if the state cannot be used.
   */
  async round(asked: Asked, context: ServerContext, work: (open: OpenRequest) => Promise<object>): Promise<Result> {
    if ((await this.#places.acquire(context.mcpReq.signal)) === false) throw new Error("The request was cancelled");
    try {
      const state: unknown = context.mcpReq.requestState();
      const open = state === undefined ? this.#begin(asked, context, work) : await this.#parked(state, asked, context);
      return ((await this.#take(open, context)) ?? (await this.#park(open, context))) as Result;
    } finally {
      this.#places.release();
    }
  }

  /** Undefined if the host must answer questions. */
  async #take(open: OpenRequest, context: ServerContext): Promise<object | undefined> {
    let isOver = true;
    try {
      const result = await open.take(context);
      isOver = result !== undefined;
      return result;
    } finally {
      if (isOver) this.#open.delete(open.id);
    }
  }

  async #park(open: OpenRequest, context: ServerContext): Promise<object> {
    const inputRequests = open.park(this.#options.answerMs, () => this.#open.delete(open.id));
    const requestState = await this.#codec.mint({ id: open.id, round: open.round }, context);
    return { resultType: "input_required", inputRequests, requestState };
  }

  #begin(asked: Asked, context: ServerContext, work: (open: OpenRequest) => Promise<object>): OpenRequest {
    if (this.#open.size >= this.#options.maxOpen) {
      const oldest = [...this.#open.values()].find(({ isParked }) => isParked);
      if (!oldest)
        throw new ProtocolError(ProtocolErrorCode.InternalError, "Too many requests are open: try again later");
      oldest.cancel();
      this.#open.delete(oldest.id);
    }
    const open = new OpenRequest(asked, context, work, this.#options.closing);
    this.#open.set(open.id, open);
    return open;
  }

  async #parked(sealed: unknown, asked: Asked, context: ServerContext): Promise<OpenRequest> {
    const state = await Promise.resolve(sealed)
      .then((text) => this.#codec.verify(String(text), context))
      .catch(() => undefined);
    if (!state) throw unusable("it is not from this process, or it has expired");
    const open = this.#open.get(state.id);
    if (!open) throw unusable("the request that asked has ended");
    if (!open.isFor(asked)) throw unusable("it belongs to another request");
    if (!open.isParked || state.round !== open.round) throw unusable("its questions were answered already");
    return open;
  }
}

function unusable(why: string): ProtocolError {
  const message = `This requestState cannot be used: ${why}. To start again, send the request without it.`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, { reason: "invalid_request_state" });
}

/** The answer to a question whose request has ended before the host answered. */
export const requestEnded = Symbol("the request has ended");

interface Question {
  request: InputRequest;
  answer: (answer: unknown) => void;
}

/** Questions that come within this time after the first one are asked together, so that the host makes one round trip for them. */
const gatherMs = 100;

/** One request of a host, over all its rounds. */
export class OpenRequest {
  readonly id = crypto.randomUUID();
  /** The number of times that the request was parked. */
  round = 0;
  /** What the host supports, as its last round said. */
  capabilities: ClientCapabilities = {};
  /** Aborted when the host cancels a round or does not come back, and when claudikins ends. */
  readonly signal: AbortSignal;
  readonly #asked: Asked;
  readonly #work: Promise<object>;
  readonly #cancelled = new AbortController();
  readonly #asking = new Map<string, Question>();
  #lastQuestion = 0;
  /** The round that the host waits for. Undefined while the request is parked. */
  #context: ServerContext | undefined;
  #inputNeeded: (() => void) | undefined;
  #gathering: NodeJS.Timeout | undefined;
  #late: TimeLimit | undefined;
  #hasEnded = false;

  constructor(
    asked: Asked,
    context: ServerContext,
    work: (open: OpenRequest) => Promise<object>,
    closing: AbortSignal,
  ) {
    this.signal = AbortSignal.any([this.#cancelled.signal, closing]);
    this.#asked = { method: asked.method, params: withoutMeta(asked.params) };
    this.#enter(context);
    this.#work = work(this).finally(() => this.#end());
    // While the request is parked, nobody waits for the result.
    this.#work.catch(() => {});
  }

  get isParked(): boolean {
    return this.#context === undefined;
  }

  /** Questions that wait for an answer. */
  get questions(): number {
    return this.#asking.size;
  }

  isFor({ method, params }: Asked): boolean {
    return method === this.#asked.method && Bun.deepEquals(withoutMeta(params), this.#asked.params);
  }

  cancel(): void {
    this.#late?.end();
    this.#cancelled.abort();
  }

  /** Sends a notification for the current round. It is dropped while the request is parked. */
  notify(notification: Notification): void {
    void this.#context?.mcpReq.notify(notification).catch(() => {});
  }

  /** The token of the current round, if the host wants to see progress. */
  get progressToken(): string | number | undefined {
    return this.#context?.mcpReq._meta?.progressToken;
  }

  /**
   * Asks the host, under `name` if no other question has it. Resolves with its answer as it came, or with `requestEnded`. Rejects when
   * `signal` is aborted.
   */
  ask(request: InputRequest, signal: AbortSignal, name?: string): Promise<unknown> {
    if (this.#hasEnded) return Promise.resolve(requestEnded);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const key = this.#freeKey(name, request.method.split("/")[0]);
    this.#asking.set(key, { request, answer: resolve });
    const stop = onAbort(signal, () => reject(new Error("the question was withdrawn")));
    this.#gather();
    return promise.finally(() => {
      stop();
      this.#asking.delete(key);
    });
  }

  /** Continues with the answers of this round. Resolves with the work's result, or with undefined when the host must answer questions. */
  async take(context: ServerContext): Promise<object | undefined> {
    this.#late?.end();
    this.#enter(context);
    this.#answer(context.mcpReq.inputResponses ?? {});
    const needed = Promise.withResolvers<undefined>();
    this.#inputNeeded = () => needed.resolve(undefined);
    if (this.#asking.size > 0) this.#gather();
    const stop = onAbort(context.mcpReq.signal, () => this.cancel());
    try {
      return await Promise.race([this.#work, needed.promise]);
    } finally {
      stop();
      this.#context = this.#inputNeeded = undefined;
    }
  }

  /** Waits for the host's next round. If it does not come in time, the work is cancelled. Returns the questions. */
  park(answerMs: number, onLate: () => void): Record<string, InputRequest> {
    this.round += 1;
    const late = new TimeLimit(answerMs, () => {
      this.cancel();
      onLate();
    });
    this.#late = late;
    // Its timer would keep the process alive.
    onAbort(this.signal, () => late.end());
    return Object.fromEntries([...this.#asking].map(([key, { request }]) => [key, request]));
  }

  #enter(context: ServerContext): void {
    this.#context = context;
    this.capabilities = capabilitiesOf(context);
  }

  #freeKey(name: string | undefined, kind: string | undefined): string {
    let key = name;
    while (key === undefined || this.#asking.has(key)) {
      this.#lastQuestion += 1;
      key = `${kind}-${this.#lastQuestion}`;
    }
    return key;
  }

  /** Answers that nobody waits for are ignored. */
  #answer(answers: Record<string, unknown>): void {
    for (const [key, { answer }] of this.#asking) {
      if (Object.hasOwn(answers, key)) {
        this.#asking.delete(key);
        answer(answers[key]);
      }
    }
  }

  #gather(): void {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      if (this.#asking.size > 0) this.#inputNeeded?.();
    }, gatherMs);
  }

  #end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#gathering);
    for (const { answer } of this.#asking.values()) answer(requestEnded);
    this.#asking.clear();
  }
}

function withoutMeta({ _meta: _, ...params }: JsonObject = {}): JsonObject {
  return params;
}

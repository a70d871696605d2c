/**
 * One request of a host, from its first round until its work has ended. Its work may ask the host: the answers come with the next round
 * of the request, or to the task that it has become.
 */
import type { ClientCapabilities, InputRequest, Notification, ServerContext } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../base/json-object.ts";
import { TimeLimit } from "../../base/time-limit.ts";
import type { FollowedExecution } from "../../programs/execution/running-execution.ts";
import { onAbort } from "../../servers/abort.ts";
import { ownKeys } from "../../servers/connection/responder.ts";
import type { ReceivedRequest } from "../host-request.ts";
import { noteSender, type Sender } from "../legacy/legacy-host.ts";
import { capabilitiesOf } from "./envelope.ts";

/** Stands for the answer to a question if the request has ended before the host answered. */
export const requestEnded = Symbol("the request has ended");

/** Questions that come within this time after the first one are asked together, so that the host makes one round trip for them. */
const questionGatherMs = 100;

/** Names of questions that one request remembers. Further questions get random keys. */
const maxQuestionNames = 1_000;

interface HostQuestion {
  request: InputRequest;
  answer: (answer: unknown) => void;
  /** Whether the host has been shown the question. Before, no answer can be meant for it. */
  isShown: boolean;
}

/** The result of the work; or the host must answer questions; or it takes long, and the host knows tasks. */
export type Turn = object | "asks" | "long";

export class OpenRequest {
  readonly id = crypto.randomUUID();
  /** The request and its context as they were in the first round. */
  readonly received: ReceivedRequest;
  readonly firstContext: ServerContext;
  /** Names the last time that the request was parked. Only the seal of that round's `requestState` contains it. */
  round: string | undefined;
  /** What the host supports, as its last round said. */
  capabilities: ClientCapabilities = {};
  /** Aborted when the host cancels a round or does not come back, and when claudikins ends. */
  readonly signal: AbortSignal;
  /** Resolves with the result. */
  readonly work: Promise<object>;
  /** Known only to the host, once the request is a task. */
  readonly secret: string = crypto.randomUUID();
  /** The execution that the work runs or waits for. */
  execution: FollowedExecution | undefined;
  /** What the work does now. */
  statusMessage: string | undefined;
  readonly #cancelled = new AbortController();
  readonly #asking = new Map<string, HostQuestion>();
  readonly #long = Promise.withResolvers<"long">();
  /** Names that were keys of questions. They are never used again, so that no answer finds another question. */
  readonly #usedNames = new Set<string>();
  /** The round that the host waits for. Undefined while the request is parked. */
  #context: ServerContext | undefined;
  #inputNeeded: (() => void) | undefined;
  #onChange: (() => void) | undefined;
  #gathering: NodeJS.Timeout | undefined;
  #late: TimeLimit | undefined;
  #hasEnded = false;

  constructor(
    received: ReceivedRequest,
    context: ServerContext,
    work: (open: OpenRequest) => Promise<object>,
    closing: AbortSignal,
  ) {
    this.signal = AbortSignal.any([this.#cancelled.signal, closing]);
    this.received = received;
    this.firstContext = context;
    this.#enter(context);
    this.work = work(this).finally(() => this.#end());
    // While the request is parked, the promise has no listener.
    this.work.catch(() => {});
  }

  get isParked(): boolean {
    return this.#context === undefined;
  }

  /** Questions that wait for an answer. */
  get questions(): number {
    return this.#asking.size;
  }

  /** Returns these questions for the host, which may answer them from now on. */
  show(): Record<string, InputRequest> {
    for (const question of this.#asking.values()) question.isShown = true;
    return Object.fromEntries([...this.#asking].map(([key, { request }]) => [key, request]));
  }

  /** Makes a task of the request, if its host knows tasks. */
  takesLong(): void {
    this.#long.resolve("long");
  }

  /** The request goes on as a task. `onChange` is called when questions have come or were answered. */
  becomeTask(onChange: () => void): void {
    this.#onChange = onChange;
    this.#context = undefined;
  }

  isFor({ method, params }: ReceivedRequest): boolean {
    return method === this.received.method && Bun.deepEquals(withoutMeta(params), withoutMeta(this.received.params));
  }

  cancel(): void {
    this.#late?.end();
    this.#cancelled.abort();
  }

  /** Sends a notification for the current round. It is dropped while the request is parked. Resolves when it is written. */
  async notify(notification: Notification): Promise<void> {
    await this.#context?.mcpReq.notify(notification).catch(() => {});
  }

  /** The token of the current round, if the host wants to see progress. */
  get progressToken(): string | number | undefined {
    return this.#context?.mcpReq._meta?.progressToken;
  }

  /**
   * Asks the host, under a random key. A `name` that a server has chosen is the key if no question of this request had it before.
   * Resolves with the host's answer as it came, or with `requestEnded`. Rejects when `signal` is aborted.
   */
  ask(request: InputRequest, signal: AbortSignal, name?: string): Promise<unknown> {
    if (this.#hasEnded) return Promise.resolve(requestEnded);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const key = this.#takeName(name) ?? `${ownKeys}${crypto.randomUUID()}`;
    this.#asking.set(key, { request, answer: resolve, isShown: false });
    this.#onChange?.();
    const stop = onAbort(signal, () => reject(new Error("the question was withdrawn")));
    this.#gather();
    return promise.finally(() => {
      stop();
      if (this.#asking.delete(key)) this.#onChange?.();
    });
  }

  /** Continues with the answers of this round. */
  async take(context: ServerContext, mayBeLong: boolean): Promise<Turn> {
    this.#late?.end();
    this.#enter(context);
    this.answer(context.mcpReq.inputResponses ?? {}, senderOf(context));
    const needed = Promise.withResolvers<"asks">();
    this.#inputNeeded = () => needed.resolve("asks");
    if (this.#asking.size > 0) this.#gather();
    const stop = onAbort(context.mcpReq.signal, () => this.cancel());
    try {
      return await Promise.race([this.work, needed.promise, ...(mayBeLong ? [this.#long.promise] : [])]);
    } finally {
      stop();
      this.#context = this.#inputNeeded = undefined;
    }
  }

  /** Waits for the host's next round. If it does not come in time, the work is cancelled. Returns the questions. */
  park(answerMs: number, onLate: () => void): Record<string, InputRequest> {
    this.round = crypto.randomUUID();
    const late = new TimeLimit(answerMs, () => {
      this.cancel();
      onLate();
    });
    this.#late = late;
    // Its timer would keep the process alive.
    onAbort(this.signal, () => late.end());
    return this.show();
  }

  #enter(context: ServerContext): void {
    this.#context = context;
    this.capabilities = capabilitiesOf(context);
  }

  /** Ignores answers to questions that have ended, or that the host has not been shown. */
  answer(answers: Record<string, unknown>, sender?: Sender): void {
    for (const [key, { answer, isShown }] of this.#asking) {
      if (!isShown || !Object.hasOwn(answers, key)) continue;
      this.#asking.delete(key);
      noteSender(answers[key], sender);
      answer(answers[key]);
      this.#onChange?.();
    }
  }

  /** Returns the name if it may be a key. Each name is one once. */
  #takeName(name: string | undefined): string | undefined {
    if (name === undefined || this.#usedNames.has(name) || this.#usedNames.size >= maxQuestionNames) return undefined;
    this.#usedNames.add(name);
    return name;
  }

  #gather(): void {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      if (this.#asking.size > 0) this.#inputNeeded?.();
    }, questionGatherMs);
  }

  #end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#gathering);
    for (const { answer } of this.#asking.values()) answer(requestEnded);
    this.#asking.clear();
  }
}

/** Whose token a round came with. Undefined over stdio. */
export function senderOf({ http }: ServerContext): Sender | undefined {
  return http?.authInfo?.extra?.["sender"] as Sender | undefined;
}

function withoutMeta({ _meta: _, ...params }: JsonObject = {}): JsonObject {
  return params;
}

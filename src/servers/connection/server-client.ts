/** The SDK's client of one server, in either era of the protocol. Results and errors stay as the server sent them. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  CLIENT_CAPABILITIES_META_KEY,
  Client,
  type ClientCapabilities,
  type InputRequiredResult,
  isInputRequiredResult,
  type JSONRPCErrorResponse,
  type JSONRPCResponse,
  type JSONRPCResultResponse,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  type RequestOptions,
  type Result,
  SdkError,
  SdkErrorCode,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import { messageOf } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { version } from "../../base/version.ts";
import { oneLine } from "../../base/visible-text.ts";
import type { Cancellation } from "../abort.ts";
import type { PendingRequests } from "./pending-requests.ts";
import { resultOfTask, type TaskServer } from "./server-task.ts";
import { withTasks } from "./tasks-extension.ts";

/** Characters of a server's own version. */
const maxVersionChars = 100;

/** Time for an answer to `server/discover`. A process that says nothing is of the older era. */
const discoverMs = 5_000;

/** A server that asks more often for one request does not end. */
const maxInputRounds = 10;

/** The delay before a request is sent again for a server that asks nothing but to come back. */
const requestAgainMs = 250;

/** A generation of the protocol: up to the revision 2025-11-25 with sessions, and from 2026-07-28 without. */
export type Era = "2025" | "2026";

/** The first request: `initialize` or `server/discover`. With "newer first", the SDK sends `initialize` after a refusal. */
export type OpeningRequest = "older" | "newer" | "newer first";

const modes = { older: "legacy", newer: { pin: "2026-07-28" }, "newer first": "auto" } as const;

/** A server, as it described itself at the start of a connection. */
export interface ServerIdentity {
  /** The revision of the protocol that both sides speak: "2025-11-25". */
  protocol: string;
  /** The server's own version, on one line. */
  version?: string;
}

interface ClientRequest {
  method: string;
  params?: Record<string, unknown> | undefined;
}

/** Answers a question that came inside a result, under `key`. `origin` is the request that the result belongs to. */
type Answerer = (
  question: ClientRequest,
  asked: { id: RequestId; key: string; signal: AbortSignal; origin: AbortSignal | undefined },
) => Promise<Result>;

interface ClientRequestOptions extends Pick<RequestOptions, "timeout"> {
  cancellation: Cancellation;
  /** The signal of the agent's request that this is done for. */
  origin?: AbortSignal | undefined;
  /** Called when the server has answered with a task, and with each state of it. */
  onTask?: ((message: string | undefined) => void) | undefined;
}

/** Accepts any object: servers send odd results, and the caller knows how to read them. */
const anyResult: z.ZodType<Record<string, unknown>> = z.any();

/** A result, or the `data` of an error, that the SDK would check or change. */
class Untouched {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** The result of a request that goes on as a task. */
class CreatedTask {
  readonly task: JsonObject;

  constructor(task: JsonObject) {
    this.task = task;
  }
}

/** Passes the checks of every method's result in the revision 2026-07-28. */
const emptyResult = {
  resultType: "complete",
  ttlMs: 0,
  cacheScope: "private",
  completion: { values: [] },
  ...Object.fromEntries(
    ["content", "contents", "messages", "prompts", "resources", "resourceTemplates", "tools"].map((key) => [key, []]),
  ),
};

export class ServerClient extends Client {
  /** For servers of 2026-07-28, each request says which log messages to send. */
  logLevel: string | undefined;
  /** Input schemas of the tools that want arguments as HTTP headers too, by name. */
  readonly markedTools = new Map<string, JsonObject>();
  /** Answers the questions of servers of 2026-07-28. */
  answerer: Answerer | undefined;
  readonly #pending: PendingRequests;

  /** `pending` sends the requests of the older era. */
  constructor(capabilities: ClientCapabilities, pending: PendingRequests, beginning: OpeningRequest = "older") {
    const versionNegotiation = { mode: modes[beginning], probe: { timeoutMs: discoverMs } };
    super({ name: "claudikins", version }, { capabilities, versionNegotiation });
    this.#pending = pending;
  }

  get era(): Era {
    return this.getProtocolEra() === "modern" ? "2026" : "2025";
  }

  /** Undefined before the connection is open. */
  get identity(): ServerIdentity | undefined {
    const protocol = this.getNegotiatedProtocolVersion();
    const version = oneLine(this.getServerVersion()?.version ?? "", maxVersionChars);
    return protocol === undefined ? undefined : { protocol, ...(version === "" ? {} : { version }) };
  }

  /**
   * Resolves with the result as it is. Rejects with ProtocolError if the server answers with an error. A question in a result is
   * answered here, and the request is sent again with the answer. The SDK would not say which request a question belongs to.
   * A task is followed until it has ended.
   */
  ask(request: ClientRequest, options: ClientRequestOptions): Promise<JsonObject> {
    if (this.era === "2026") return this.#askNewer(request, options);
    // The result is always complete.
    return this.#pending.send(request.method, request.params ?? {}, options.cancellation);
  }

  async #askNewer(request: ClientRequest, { origin, onTask, timeout, cancellation }: ClientRequestOptions) {
    const options: RequestOptions = { signal: cancellation.signal, ...(timeout === undefined ? {} : { timeout }) };
    let asked = request;
    for (let round = 1; ; round++) {
      const result = await this.#once(asked, options);
      if (result instanceof CreatedTask) {
        if (request.method !== "tools/call")
          throw new SdkError(SdkErrorCode.UnsupportedResultType, "only a call may become a task");
        return await this.#followed(result.task, options, { origin, onTask });
      }
      if (!isInputRequiredResult(result)) return result;
      if (round > maxInputRounds)
        throw new SdkError(SdkErrorCode.InputRequiredRoundsExceeded, "the server asks without end");
      const params = { ...request.params, ...(await this.#answered(result, options.signal, origin)) };
      asked = { ...request, params };
    }
  }

  #send(request: ClientRequest, options: RequestOptions & { allowInputRequired: true }) {
    const { method, params = {} } = request;
    const name = String(params["name"]);
    const inputSchema = method === "tools/call" ? this.markedTools.get(name) : undefined;
    if (!inputSchema) return this.request({ method, params }, anyResult, options);
    const toolDefinition = { name, inputSchema: { ...inputSchema, type: "object" as const } };
    return this.callTool({ ...params, name }, { ...options, toolDefinition });
  }

  async #once(request: ClientRequest, options: RequestOptions) {
    try {
      const result = await this.#send(request, { ...options, allowInputRequired: true });
      const { untouched } = result;
      if (!(untouched instanceof Untouched)) return result;
      const { resultType, ...own } = untouched.value as Record<string, unknown>;
      return resultType === "task" ? new CreatedTask(own) : own;
    } catch (error) {
      throw unwrapped(error);
    }
  }

  async #followed(
    task: JsonObject,
    { timeout, signal = new AbortController().signal }: RequestOptions,
    { origin, onTask }: Pick<ClientRequestOptions, "origin" | "onTask">,
  ): Promise<JsonObject> {
    const server: TaskServer = {
      send: async (method, params, signal) => {
        const result = await this.#once({ method, params }, { signal, ...(timeout === undefined ? {} : { timeout }) });
        return result instanceof CreatedTask ? {} : result;
      },
      answer: (key, question, signal) => this.#answer(question as unknown as ClientRequest, { key, signal, origin }),
      onState: (message) => onTask?.(message),
    };
    return await resultOfTask(task, server, signal);
  }

  /** Rejects with ProtocolError if the question cannot be answered. The connection stays usable. */
  async #answer(question: ClientRequest, asked: Omit<Parameters<Answerer>[1], "id">): Promise<Result> {
    try {
      if (!this.answerer) throw new Error("nobody answers questions");
      return await this.answerer(question, { ...asked, id: randomUUID() });
    } catch (error) {
      const { code } = error as { code?: unknown };
      const known = Number.isSafeInteger(code) ? Number(code) : ProtocolErrorCode.InternalError;
      throw new ProtocolError(known, messageOf(error));
    }
  }

  /** The answers to all questions of a result. If one cannot be answered, the others are withdrawn. Rejects with ProtocolError. */
  async #answered(
    { inputRequests = {}, requestState }: InputRequiredResult,
    signal: AbortSignal | undefined,
    origin: AbortSignal | undefined,
  ): Promise<Record<string, unknown>> {
    const state = requestState === undefined ? {} : { requestState };
    const questions = Object.entries(inputRequests);
    if (questions.length === 0) {
      await sleep(requestAgainMs, undefined, signal ? { signal } : {});
      return state;
    }
    const failed = new AbortController();
    const over = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
    const answer = async (key: string, question: ClientRequest) =>
      [key, await this.#answer(question, { key, signal: over, origin })] as const;
    try {
      const answers = await Promise.all(questions.map(([key, each]) => answer(key, each as ClientRequest)));
      return { ...state, inputResponses: Object.fromEntries(answers) };
    } catch (error) {
      failed.abort();
      throw error;
    }
  }

  /** The SDK would check the whole result, which takes long if it is large, and refuses the parts that stay JSON text. */
  protected override _onresponse(response: JSONRPCResponse | JSONRPCErrorResponse): void {
    if ("error" in response) super._onresponse(wrapped(response) as JSONRPCResponse);
    else super._onresponse(this.era === "2026" && isComplete(response) ? untouched(response) : response);
  }

  protected override _outboundMetaEnvelope(): Readonly<Record<string, unknown>> | undefined {
    const envelope = super._outboundMetaEnvelope();
    if (!envelope) return undefined;
    const capabilities = Object(envelope[CLIENT_CAPABILITIES_META_KEY]) as ClientCapabilities;
    return {
      ...envelope,
      [CLIENT_CAPABILITIES_META_KEY]: withTasks(capabilities),
      ...(this.logLevel ? { [LOG_LEVEL_META_KEY]: this.logLevel } : {}),
    };
  }
}

/** Whether the result needs no more of the SDK. A result without a type counts as complete (basic/index, ResultType). */
function isComplete({ result }: JSONRPCResultResponse): boolean {
  return ["complete", "task"].includes(String(result["resultType"] ?? "complete"));
}

function untouched({ result, ...response }: JSONRPCResultResponse): JSONRPCResultResponse {
  return { ...response, result: { ...emptyResult, untouched: new Untouched(result) } };
}

function wrapped({ error, ...response }: JSONRPCErrorResponse): JSONRPCErrorResponse {
  return { ...response, error: { ...error, data: new Untouched(error.data) } };
}

function unwrapped(error: unknown): unknown {
  if (!(error instanceof ProtocolError && error.data instanceof Untouched)) return error;
  return new ProtocolError(error.code, error.message, error.data.value);
}

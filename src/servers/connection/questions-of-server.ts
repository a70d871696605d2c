/** Handles the requests of one connected server: passes them on to the responder if it supports them, and refuses others. */

import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  type ClientCapabilities,
  type ElicitRequest,
  ProtocolErrorCode as ErrorCode,
  type RequestId,
  type Result,
} from "@modelcontextprotocol/client";
import {
  CreateMessageResultSchema,
  CreateMessageResultWithToolsSchema,
  ElicitRequestSchema,
  ElicitResultSchema,
  ListRootsResultSchema,
} from "@modelcontextprotocol/core";
import type { z } from "zod";
import { messageOf } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { personMs } from "../../base/limits.ts";
import type { Log } from "../../base/log.ts";
import { type Clock, TimeLimit } from "../../base/time-limit.ts";
import { visibleText } from "../../base/visible-text.ts";
import type { Caller } from "../../policy/flow/session-reads.ts";
import { isWithin } from "../lists/list-bounds.ts";
import { lookAlikeNote, pageAddress } from "../network/page-address.ts";
import { samplingSchema } from "./definition-schema.ts";
import { formAnswerSchema, formRequestSchema, plainForm } from "./elicitation-form.ts";
import { hasForms, pageIdOf, type QuestionContext, type Responder, serverKey } from "./responder.ts";
import type { ServerClient } from "./server-client.ts";

/** Open requests of one server. */
const maxOpenServerRequests = 16;

/** Time for an answer that needs no person. */
const serverRequestMs = 30_000;

/** Values in a request of a server. */
const maxServerRequestValues = 10_000;

/** Levels of a request of a server. */
const maxServerRequestDepth = 100;

/** Characters of the responder's error text. */
const maxResponderErrorChars = 500;

/** Maximum characters of all keys and texts of a request. Sampling may contain images; a form that long is never read. */
const maxChars: ReadonlyMap<string, number> = new Map([
  ["sampling/createMessage", 16_777_216],
  ["elicitation/create", 131_072],
]);

type Params = Record<string, unknown>;

/** The end of the wait for an answer, and the requests of the agent that wait. */
type Waiting = Omit<QuestionContext, "server">;

/** One running call. */
interface Call {
  /** Paused while the server waits for a person. */
  clocks: readonly Clock[];
  /** The signal of the agent's request that the call is made for. */
  origin: AbortSignal | undefined;
  /** The agent that has made it. Undefined for the agent of the connection. */
  caller: Caller | undefined;
}

interface Open {
  /** The server's own id, which it may use for several requests at once. */
  id: RequestId;
  abort: AbortController;
  /** The calls that were running when the request came. The request ends with the last of them. */
  calls: Set<Call>;
}

export class QuestionsOfServer {
  /** The capabilities that are announced to the server. */
  readonly capabilities: ClientCapabilities;
  readonly #server: string;
  readonly #responder: Responder | undefined;
  readonly #log: Log;
  readonly #open = new Set<Open>();
  readonly #calls = new Set<Call>();
  #holding = 0;

  constructor(
    server: string,
    responder: Responder | undefined,
    log: Log,
    extensions: ClientCapabilities["extensions"],
  ) {
    this.#server = server;
    this.#responder = responder;
    this.#log = log;
    this.capabilities = { ...capabilitiesOf(responder), ...(extensions ? { extensions } : {}) };
  }

  /** Call this before the client connects. */
  attach(client: ServerClient): void {
    client.fallbackRequestHandler = (request, { mcpReq: { id, signal } }) => this.#handle(request, { id, signal });
    client.answerer = (question, asked) => this.#handle(question, asked);
    // The SDK's own handler would leave the server without an answer.
    client.setNotificationHandler("notifications/cancelled", ({ params }) => {
      for (const { id, abort } of this.#open) if (id === params.requestId) abort.abort();
    });
    client.setNotificationHandler("notifications/elicitation/complete", ({ params }) => {
      if (this.capabilities.elicitation?.url) this.#responder?.elicited?.(pageIdOf(this.#server, params.elicitationId));
    });
  }

  get isCalled(): boolean {
    return this.#calls.size > 0;
  }

  /** Pauses the call's clocks while the server waits for a person. Call the returned function when the call has ended. */
  calling(method: string, call: Call): () => void {
    // While it lists something, a server does not work for a call.
    if (method.endsWith("/list")) return () => {};
    this.#calls.add(call);
    if (this.#holding > 0) for (const clock of call.clocks) clock.hold();
    return () => {
      this.#calls.delete(call);
      if (this.#holding > 0) for (const clock of call.clocks) clock.release();
      for (const { calls, abort } of this.#open) {
        if (calls.delete(call) && calls.size === 0) abort.abort();
      }
    };
  }

  async #handle(
    { method, params = {} }: { method: string; params?: Params | undefined },
    { id, key, signal, origin }: { id: RequestId; key?: string; signal: AbortSignal; origin?: AbortSignal | undefined },
  ): Promise<Result> {
    const answer = this.#answers.get(method);
    if (!answer) throw new RequestRefusal(ErrorCode.MethodNotFound, noSuchMethod(method));
    try {
      this.#check(method, params);
      return await this.#limited(id, method !== "roots/list", (open) =>
        answer(params, {
          name: usableName(key),
          signal: AbortSignal.any([open, signal]),
          ...this.#askersOf(origin),
        }),
      );
    } catch (error) {
      this.#log.warn(`${this.#server}: its ${method} failed: ${messageOf(error)}`);
      throw error;
    }
  }

  #check(method: string, params: Params): void {
    if (this.#open.size >= maxOpenServerRequests) {
      throw new RequestRefusal(
        ErrorCode.InvalidRequest,
        `claudikins: this server already has ${maxOpenServerRequests} open requests`,
      );
    }
    const chars = maxChars.get(method) ?? 10_000;
    const isShort = isWithin(params, { values: maxServerRequestValues, chars, depth: maxServerRequestDepth });
    if (!isShort)
      throw new RequestRefusal(ErrorCode.InvalidParams, `claudikins: this ${method} is too large to pass on`);
  }

  /** Ends the request when its time is over, when it is cancelled, and with the calls for which a person is asked. */
  async #limited<T>(id: RequestId, isForPerson: boolean, answer: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = new AbortController();
    const late = new TimeLimit(isForPerson ? personMs : serverRequestMs, () => abort.abort());
    const open = { id, abort, calls: new Set(isForPerson ? this.#calls : []) };
    this.#open.add(open);
    if (isForPerson) this.#hold();
    try {
      return await answer(abort.signal);
    } finally {
      late.end();
      this.#open.delete(open);
      if (isForPerson) this.#release();
    }
  }

  /** Whom the server works for. A server of the older era does not say which of its running calls a question is for. */
  #askersOf(origin: AbortSignal | undefined): Pick<QuestionContext, "origins" | "callers"> {
    const calls = [...this.#calls].filter((call) => origin === undefined || call.origin === origin);
    const origins = origin ? [origin] : calls.flatMap((call) => call.origin ?? []);
    return { origins, callers: calls.flatMap(({ caller }) => caller ?? []) };
  }

  readonly #answers = new Map<string, (params: Params, waiting: Waiting) => Promise<Result>>([
    ["sampling/createMessage", (params, waiting) => this.#sample(params, waiting)],
    ["elicitation/create", (params, waiting) => this.#elicit(params, waiting)],
    ["roots/list", (_, waiting) => this.#listRoots(waiting)],
  ]);

  async #sample(params: Params, waiting: Waiting): Promise<Result> {
    const { sampling } = this.capabilities;
    if (!sampling) throw refused("sampling");
    const { tools, toolChoice } = checkedRequest(samplingSchema, "sampling/createMessage", params).params;
    const usesTools = tools !== undefined || toolChoice !== undefined;
    if (usesTools && !sampling.tools) throw refused("sampling with tools", ErrorCode.InvalidParams);
    // To the agent, all servers are one: context that it adds would come from other servers, too.
    const { includeContext: _, ...own } = params;
    const named = this.#named(own) as Parameters<NonNullable<Responder["sample"]>>[0];
    const answer = await this.#ask(waiting, (asked) => this.#responder!.sample!(named, asked));
    return checkedAnswer(
      usesTools ? CreateMessageResultWithToolsSchema : CreateMessageResultSchema,
      "sampling",
      answer,
    );
  }

  async #elicit(asked: Params, waiting: Waiting): Promise<Result> {
    const { elicitation } = this.capabilities;
    if (!elicitation) throw refused("elicitation");
    // The newer era has no ids: the server learns of the visit when its request is repeated.
    const isPage = asked["mode"] === "url";
    const params = isPage ? { elicitationId: randomUUID(), ...asked } : asked;
    if (isPage && !elicitation.url) throw refused("URL elicitation", ErrorCode.InvalidParams);
    const requestSchema = isPage ? ElicitRequestSchema : formRequestSchema;
    const request = checkedRequest<{ params: Params & { message: string } }>(
      requestSchema,
      "elicitation/create",
      params,
    ).params;
    if (!isPage && !elicitation.form) throw refused("form elicitation", ErrorCode.InvalidParams);
    const { note, ...address } = isPage ? this.#addressOf(request["elicitationId"], params["url"]) : {};
    const message = `[${this.#server}] ${visibleText(request.message)}${note ?? ""}`;
    const forwarded = { ...this.#named(params), mode: isPage ? "url" : "form", message, ...address };
    const send = (more: object) =>
      this.#ask(waiting, (asked) =>
        this.#responder!.elicit!({ ...forwarded, ...more } as ElicitRequest["params"], asked),
      );
    if (isPage) return checkedAnswer(ElicitResultSchema, "elicitation", await send({}));
    const form = { type: "object", properties: {}, ...(request["requestedSchema"] as JsonObject) };
    const plain = plainForm(form);
    const answer = await send({ requestedSchema: form }).catch((error) => {
      const isRefused = error instanceof RequestRefusal && error.code === ErrorCode.InvalidParams;
      if (!isRefused || isDeepStrictEqual(plain, form)) throw error;
      return send({ requestedSchema: plain });
    });
    return withDefaults(checkedAnswer(formAnswerSchema, "elicitation", answer), plain);
  }

  async #listRoots(waiting: Waiting): Promise<Result> {
    if (!this.capabilities.roots) throw refused("roots");
    const answer = await this.#ask(waiting, (asked) => this.#responder!.listRoots!(asked));
    return checkedAnswer(ListRootsResultSchema, "roots", answer);
  }

  #addressOf(elicitationId: unknown, url: unknown): { url: string; elicitationId: string; note: string | undefined } {
    const page = pageAddress(url);
    if (page.problem !== undefined) throw new RequestRefusal(ErrorCode.InvalidParams, `claudikins: ${page.problem}`);
    return {
      url: page.href,
      elicitationId: pageIdOf(this.#server, elicitationId),
      note: lookAlikeNote(page.host),
    };
  }

  /** Tokens, tasks and keys of the protocol concern only the server and claudikins: to the agent, they would mean its own. */
  #named({ task: _, ...params }: Params): Params {
    const meta = Object.entries(Object(params["_meta"])).filter(([key]) => !isReservedKey(key));
    return { ...params, _meta: { ...Object.fromEntries(meta), [serverKey]: this.#server } };
  }

  async #ask<T>(waiting: Waiting, ask: (asked: QuestionContext) => Promise<T>): Promise<T> {
    try {
      return await ask({ server: this.#server, ...waiting });
    } catch (error) {
      if (waiting.signal.aborted)
        throw new RequestRefusal(ErrorCode.InternalError, "claudikins: this request was cancelled");
      const code = (error as { code?: unknown }).code;
      const words = messageOf(error).replace(/^(?:MCP error -?\d+: )+/, "");
      throw new RequestRefusal(
        Number.isSafeInteger(code) ? Number(code) : ErrorCode.InternalError,
        words.slice(0, maxResponderErrorChars),
      );
    }
  }

  #hold(): void {
    this.#holding += 1;
    if (this.#holding === 1) for (const clock of this.#clocks()) clock.hold();
  }

  #release(): void {
    this.#holding -= 1;
    if (this.#holding === 0) for (const clock of this.#clocks()) clock.release();
  }

  #clocks(): Clock[] {
    return [...this.#calls].flatMap(({ clocks }) => clocks);
  }
}

/** Whether a key of `_meta` has a meaning in the protocol (MCP basic/index, "_meta") or for claudikins. */
function isReservedKey(key: string): boolean {
  return key === "progressToken" || /^(?:claudikins|[^./]+\.(?:modelcontextprotocol|mcp)(?:\.[^/]*)?)\//.test(key);
}

/** Hosts see this name, so it must be plain. It must not look like one of our keys. */
function usableName(name: string | undefined): string | undefined {
  return name !== undefined && /^(?!claudikins)[\w.-]{1,64}$/i.test(name) ? name : undefined;
}

/** The error for an unknown method. It also identifies a program that echoes its input. */
export function noSuchMethod(method: string): string {
  return `claudikins does not support the method "${method.slice(0, 100)}"`;
}

/** An error whose code and message are sent to the server. */
class RequestRefusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

function refused(what: string, code: number = ErrorCode.MethodNotFound): RequestRefusal {
  return new RequestRefusal(code, `claudikins: the host does not support ${what}`);
}

/** The capabilities for which the responder has a method. claudikins fills in defaults of forms. */
function capabilitiesOf(responder: Responder | undefined): ClientCapabilities {
  const { sampling, elicitation, roots } = responder?.capabilities ?? {};
  const capabilities: ClientCapabilities = {};
  if (sampling && responder?.sample) {
    const { context: _, ...rest } = sampling;
    capabilities.sampling = rest;
  }
  if (elicitation && responder?.elicit) {
    capabilities.elicitation = {
      ...(hasForms(responder) ? { form: { applyDefaults: true } } : {}),
      ...(elicitation.url ? { url: elicitation.url } : {}),
    };
  }
  if (roots && responder?.listRoots) capabilities.roots = roots;
  return capabilities;
}

function checked<T>(schema: z.ZodType<T>, value: unknown, code: number, problem: string): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const { path = [], message = "unexpected shape" } = error.issues[0] ?? {};
  throw new RequestRefusal(
    code,
    `claudikins: ${problem}: ${path.join(".") || "it"}: ${message}`.slice(0, maxResponderErrorChars),
  );
}

function checkedRequest<T>(schema: z.ZodType<T>, method: string, params: object): T {
  return checked(schema, { method, params }, ErrorCode.InvalidParams, `invalid ${method}`);
}

function checkedAnswer<T>(schema: z.ZodType<T>, what: string, answer: unknown): T {
  return checked(schema, answer, ErrorCode.InternalError, `the host's ${what} answer is invalid`);
}

/** Values that the user left out get the form's defaults (SEP-1034). */
function withDefaults(answer: z.infer<typeof formAnswerSchema>, { properties }: JsonObject): Result {
  if (answer.action !== "accept") return answer;
  const { content = {} } = answer;
  const defaults = Object.entries(Object(properties)).flatMap(([name, property]) =>
    isObject(property) && property["default"] !== undefined && !Object.hasOwn(content, name)
      ? [[name, property["default"]] as const]
      : [],
  );
  // The user's values come first and in their order, as they would without claudikins.
  return { ...answer, content: { ...content, ...Object.fromEntries(defaults) } };
}

/** A model behind an endpoint that is compatible with OpenAI's chat completions. Requests are repeated if that may help. */
import { setTimeout as wait } from "node:timers/promises";
import OpenAI from "openai";
import type { ChatCompletion, ChatCompletionCreateParamsNonStreaming } from "openai/resources/chat/completions";
import { boundedText } from "../base/bounded-body.ts";
import { durationText } from "../base/duration.ts";
import { ClaudikinsError } from "../base/errors.ts";
import { parsedJson } from "../base/json-object.ts";
import type { Log } from "../base/log.ts";
import { estimateTokens } from "../base/token-estimate.ts";
import { megabyte, megabytes } from "../base/units.ts";
import { version } from "../base/version.ts";
import type { Environment } from "../config/environment.ts";
import type { AnswerFormat, Llm } from "../config/llm.ts";
import { hasReference } from "../config/secrets/references.ts";
import { noAnswer } from "../servers/failures/network-failure.ts";
import { type Redact, redactorOf } from "../servers/values/secrets.ts";
import { inWords, type Model, type ModelAnswer, type ModelRequest } from "./model.ts";

/** Extra tokens for thinking, which endpoints count as part of the answer. */
const thinkingTokens = 1_024;

/** Maximum number of tries for one request, including the first. */
const maxRequestTries = 4;

/** If the endpoint asks for a longer wait, the request fails. */
const maxEndpointPauseMs = 20_000;

/** A response of a model's endpoint. */
const maxCompletionBytes = 16 * megabyte;

interface OpenAiOptions {
  log: Log;
  /** Wait after the first temporary failure. It doubles with each further failure. */
  firstPauseMs?: number;
}

/** The features that an endpoint has refused. They are not requested again by this process. */
interface Learned {
  format: AnswerFormat;
  /** The endpoint has accepted a schema before, so a refusal is the fault of the refused schema. */
  knowsSchemas: boolean;
  limit: "max_tokens" | "max_completion_tokens";
  temperature: boolean;
  effort: boolean;
}

const learned = new Map<string, Learned>();

/** The model of the config, with the values of references in its settings. Throws NEEDS_SECRET and the errors of `openAiModel`. */
export async function modelOf(llm: Llm, env: Environment, options: OpenAiOptions): Promise<Model> {
  if (!hasReference(llm)) return openAiModel(llm, options);
  const { withReadValues } = await import("../servers/values/read-values.ts");
  return openAiModel(await withReadValues(llm, place(llm), { env }), options);
}

/** Throws NEEDS_VARIABLE, and CONFIG_INVALID for an invalid address. */
export function openAiModel(llm: Llm, { log, firstPauseMs = 500 }: OpenAiOptions): Model {
  checkLlm(llm);
  const name = `${llm.name}/${llm.model}`;
  const client = clientOf(llm);
  const redact = redactorOf({ url: llm.baseUrl, headers: headersOf(llm), variables: llm.variables });
  return {
    name,
    /** Repeats the request with more tokens if the answer is empty or cut off. */
    async ask(request, signal) {
      const first = await complete(request, signal);
      if (!isLacking(first)) return answerOf(request, [first], llm);
      const second = await complete({ ...request, maxTokens: 4 * (request.maxTokens + thinkingTokens) }, signal);
      if (!isLacking(second)) return answerOf(request, [first, second], llm);
      const what = textOf(second) === "" ? "an empty answer" : "an incomplete answer";
      throw new ClaudikinsError("MODEL_ANSWER_INVALID", `${place(llm)} gave ${what}`, {
        hint: 'Try another model: "llm.model" in the config, or --model.',
      });
    },
  };

  /** Repeats the request until it is answered or another try cannot help. Leaves out refused features. */
  async function complete(request: ModelRequest, signal: AbortSignal): Promise<ChatCompletion> {
    const key = `${llm.baseUrl} ${llm.model}`;
    const known = learned.get(key) ?? beginning(llm);
    let dialect = known;
    for (let tries = 1; ; ) {
      const startedAt = performance.now();
      const sent = await send(request, dialect, signal);
      const isAnswer = "choices" in sent;
      log.debug(`${name} ${isAnswer ? "answered" : "failed"} after ${Math.round(performance.now() - startedAt)} ms`);
      if (isAnswer) {
        const usesSchema = dialect.format === "schema";
        const isOdd = known.knowsSchemas && !usesSchema;
        learned.set(key, isOdd ? { ...dialect, format: "schema" } : { ...dialect, knowsSchemas: usesSchema });
        return sent;
      }
      const { error, isPassing, refused, retryAfterMs } = sent;
      if (refused !== undefined) {
        const simpler = without(refused, dialect);
        if (!simpler) throw error;
        dialect = simpler;
        continue;
      }
      const pauseMs = retryAfterMs ?? firstPauseMs * 2 ** (tries - 1) * (0.8 + 0.4 * Math.random());
      if (!isPassing || tries === maxRequestTries) throw error;
      if (pauseMs > maxEndpointPauseMs) throw leftAlone(error, pauseMs);
      tries += 1;
      await wait(pauseMs, undefined, { signal }).catch(() => {
        throw cancelled();
      });
    }
  }

  async function send(
    request: ModelRequest,
    dialect: Learned,
    signal: AbortSignal,
  ): Promise<ChatCompletion | EndpointFailure> {
    const timeout = AbortSignal.timeout(llm.timeoutMs);
    try {
      signal.throwIfAborted();
      const options = { signal: AbortSignal.any([signal, timeout]) };
      const completion = await client.chat.completions.create(bodyOf(request, dialect, llm), options);
      return isCompletion(completion) ? completion : oddAnswer(llm, "the response is not a chat completion");
    } catch (thrown) {
      if (signal.aborted) throw cancelled();
      return timeout.aborted ? timedOut(llm) : failureOf(thrown, llm, redact);
    }
  }
}

/** Throws NEEDS_VARIABLE, and CONFIG_INVALID if the address is not a URL after variables are filled in. */
function checkLlm(llm: Llm): void {
  if (llm.needs.length > 0) {
    const names = llm.needs.join(", ");
    throw new ClaudikinsError("NEEDS_VARIABLE", `${place(llm)} needs ${names} in the environment`, {
      hint: `Set ${names} before starting claudikins.`,
    });
  }
  if (/^https?:$/.test(URL.canParse(llm.baseUrl) ? new URL(llm.baseUrl).protocol : "")) return;
  throw new ClaudikinsError("CONFIG_INVALID", '"llm.baseUrl" in the config must start with http:// or https://');
}

/** Requests go through our own `fetch`, because the library adds headers about environment variables and the platform. */
function clientOf(llm: Llm): OpenAI {
  const headers = headersOf(llm);
  const send = async (url: string | URL | Request, init?: RequestInit) => {
    const response = await fetch(url, { ...init, headers, redirect: "manual" });
    const text = await boundedText(response, maxCompletionBytes, () => tooLarge(llm));
    return readAgain(response, text);
  };
  return new OpenAI({
    baseURL: llm.baseUrl,
    apiKey: llm.apiKey ?? "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: "off",
    fetch: send,
  });
}

/** A new response with a body that was already read. Gemini puts errors into a list, where the library does not find them. */
function readAgain({ ok, status, headers: sent }: Response, text: string): Response {
  const headers = new Headers(sent);
  for (const name of ["content-encoding", "content-length"]) headers.delete(name);
  const list = ok ? undefined : parsedJson(text);
  const plain = Array.isArray(list) && list.length > 0 ? JSON.stringify(list[0]) : text;
  return new Response(plain || null, { status, headers });
}

function tooLarge(llm: Llm): ClaudikinsError {
  const what = `it answered with more than ${megabytes(maxCompletionBytes)}`;
  return unavailable(llm, what, 'Check that "llm.baseUrl" is the address of a chat completions endpoint.');
}

function headersOf({ apiKey, headers }: Llm): Record<string, string> {
  const own: Record<string, string> = {
    "content-type": "application/json",
    accept: "application/json",
    "user-agent": `claudikins/${version}`,
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  };
  for (const [name, value] of Object.entries(headers)) own[name.toLowerCase()] = value;
  return own;
}

/** Throws MODEL_REFUSED. */
function answerOf({ system, prompt }: ModelRequest, completions: readonly ChatCompletion[], llm: Llm): ModelAnswer {
  const last = completions.at(-1)!;
  const { finish_reason: reason, message } = last.choices[0]!;
  if (message.refusal || reason === "content_filter") {
    throw new ClaudikinsError("MODEL_REFUSED", `${place(llm)} refused to answer`, {
      hint: "Word the task differently, or call the tool yourself: claudikins call --help",
    });
  }
  const isEstimate = completions.some(({ usage }) => !usage || !Number.isFinite(usage.prompt_tokens));
  const tokens = { prompt: 0, completion: 0 };
  for (const each of completions) {
    tokens.prompt += isEstimate ? Math.round(estimateTokens(`${system}\n${prompt}`)) : each.usage!.prompt_tokens;
    tokens.completion += isEstimate ? Math.round(estimateTokens(textOf(each))) : each.usage!.completion_tokens || 0;
  }
  return { text: textOf(last), tokens, isEstimate };
}

function beginning({ format, effort, hasCompletionLimit }: Llm): Learned {
  return {
    format,
    knowsSchemas: false,
    limit: hasCompletionLimit ? "max_completion_tokens" : "max_tokens",
    temperature: effort === undefined,
    effort: effort !== undefined,
  };
}

function bodyOf(request: ModelRequest, dialect: Learned, llm: Llm): ChatCompletionCreateParamsNonStreaming {
  const { format, limit } = dialect;
  const { schema, isStrict: strict = false, schemaName: name, maxTokens } = request;
  const system = format === "schema" && strict ? request.system : inWords(request);
  const json_schema = { name, schema: schema as Record<string, unknown>, strict };
  const formats = {
    schema: { response_format: { type: "json_schema", json_schema } },
    json: { response_format: { type: "json_object" } },
    words: {},
  } as const;
  return {
    model: llm.model,
    messages: [
      { role: "system", content: system },
      { role: "user", content: request.prompt },
    ],
    [limit]: maxTokens + thinkingTokens,
    ...(dialect.temperature ? { temperature: 0 } : {}),
    ...(dialect.effort ? { reasoning_effort: llm.effort ?? null } : {}),
    ...formats[format],
  };
}

/** The features without the refused one. If the endpoint does not name it, the format of the answer is relaxed. */
function without(refused: string, dialect: Learned): Learned | undefined {
  const other = dialect.limit === "max_tokens" ? "max_completion_tokens" : "max_tokens";
  if (/reasoning/i.test(refused) && dialect.effort) return { ...dialect, effort: false };
  if (/temperature/i.test(refused) && dialect.temperature) return { ...dialect, temperature: false };
  if (new RegExp(`\\b${dialect.limit}\\b`).test(refused) && dialect.limit === "max_tokens")
    return { ...dialect, limit: other };
  if (dialect.format === "schema") return { ...dialect, format: "json" };
  if (dialect.format === "json") return { ...dialect, format: "words" };
  if (dialect.effort || dialect.temperature) return { ...dialect, effort: false, temperature: false };
  return undefined;
}

/** Whether the endpoint's answer is a completion. Some endpoints only claim to be compatible. */
function isCompletion(completion: ChatCompletion): boolean {
  return typeof completion === "object" && completion?.choices?.[0]?.message !== undefined;
}

function textOf({ choices }: ChatCompletion): string {
  return choices[0]?.message.content?.trim() ?? "";
}

function isLacking(completion: ChatCompletion): boolean {
  const { finish_reason: reason, message } = completion.choices[0]!;
  if (message.refusal || reason === "content_filter") return false;
  return reason === "length" || textOf(completion) === "";
}

function leftAlone({ message }: ClaudikinsError, pauseMs: number): ClaudikinsError {
  const seconds = Math.ceil(pauseMs / 1_000);
  return new ClaudikinsError("MODEL_UNAVAILABLE", `${message}, and it asks to wait ${seconds} s`, {
    hint: "Wait that long, or use another model: --model.",
  });
}

const cancelled = () => new ClaudikinsError("CANCELLED", "The request to the model was cancelled");

/** Describes failures of a model's endpoint without secrets, and tells whether to try again. */
interface EndpointFailure {
  error: ClaudikinsError;
  /** Whether another try may succeed. */
  isPassing: boolean;
  /** How long the endpoint asks to wait. */
  retryAfterMs?: number | undefined;
  /** The part of the request that the endpoint refused, if it says so. */
  refused?: string | undefined;
}

type ApiError = InstanceType<typeof OpenAI.APIError>;

const lasting = (error: ClaudikinsError): EndpointFailure => ({ error, isPassing: false });

/** The failure for an error that the client has thrown. */
export function failureOf(thrown: unknown, llm: Llm, redact: Redact): EndpointFailure {
  if (!(thrown instanceof OpenAI.APIError)) return oddAnswer(llm, "its answer is not JSON");
  if (thrown.cause instanceof ClaudikinsError) return lasting(thrown.cause);
  if (thrown.status !== undefined) return statusFailure(thrown, llm, redact);
  const { message, hint } = noAnswer(thrown.cause, new URL(llm.baseUrl));
  return { error: unavailable(llm, message, hint.replaceAll('"url"', '"llm.baseUrl"')), isPassing: true };
}

/** The failure if the endpoint answers, but not as a chat completions endpoint does. */
function oddAnswer(llm: Llm, what: string): EndpointFailure {
  return lasting(unavailable(llm, what, 'Correct "llm.baseUrl": most likely its path.'));
}

export function timedOut(llm: Llm): EndpointFailure {
  return lasting(
    unavailable(llm, `no answer within ${durationText(llm.timeoutMs)}`, 'Try again, or raise "llm.timeoutMs".'),
  );
}

/** The failure for an error status. It includes one sentence of the answer, without secrets. */
function statusFailure(thrown: ApiError, llm: Llm, redact: Redact): EndpointFailure {
  const { status = 0, code } = thrown;
  const said = sentenceOf(thrown.error, redact);
  const because = said === "" ? "" : `: ${said}`;
  const refusal = (what: string, hint: string) => lasting(unavailable(llm, `${what} (${status})${because}`, hint));
  const isUnknown = status === 401 || hasReason(thrown.error, "API_KEY_INVALID");
  if (isUnknown || status === 403) {
    const message = `${place(llm)} ${isUnknown ? "does not accept the key" : "refuses access with this key"} (${status})${because}`;
    return lasting(new ClaudikinsError("AUTH_REQUIRED", message, { hint: keyHint(llm) }));
  }
  if (status === 402 || code === "insufficient_quota") {
    return refusal("no credit is left", "Check the account that the key belongs to.");
  }
  if (status === 404) {
    return refusal(
      `there is no model ${llm.model}, or the address is wrong`,
      'Check which models it has, and correct "llm.model" or "llm.baseUrl" in the config.',
    );
  }
  if (status === 408 || status === 409 || status === 429 || status >= 500) {
    const what = status === 429 ? "too many requests" : "it reports a server error";
    return {
      error: unavailable(llm, `${what} (${status})${because}`, "Try again later."),
      isPassing: true,
      ...pauseOf(thrown),
    };
  }
  if (status >= 300 && status < 400) {
    return refusal(
      "it redirects to another address, and the key is not sent there",
      'Set the final address in "llm.baseUrl".',
    );
  }
  const error = unavailable(llm, `it refused the request (${status})${because}`, 'See "llm" in the config.');
  if (status !== 400 && status !== 422) return lasting(error);
  return { error, isPassing: false, refused: [thrown.param, code, said].filter(Boolean).join(" ") };
}

export function unavailable(llm: Llm, what: string, hint: string): ClaudikinsError {
  return new ClaudikinsError("MODEL_UNAVAILABLE", `${place(llm)} cannot be used: ${what}`, { hint });
}

export const place = ({ name, model }: Llm) => `The model ${name}/${model}`;

/** Names the variable or config key that has the API key. */
function keyHint({ variable, apiKey }: Llm): string {
  if (variable !== undefined) return `Set ${variable} to a valid key.`;
  return apiKey === undefined
    ? 'Set a key in the config: "apiKey": "${VARIABLE}" in "llm".'
    : 'Correct "llm.apiKey" in the config.';
}

/** Whether the body has this reason. Gemini answers an invalid key with status 400 and a reason. */
function hasReason(body: unknown, wanted: string): boolean {
  const { details } = Object(body) as { details?: unknown };
  return Array.isArray(details) && details.some((each) => Object(each).reason === wanted);
}

/** The first line of the error message; empty if there is none. */
function sentenceOf(body: unknown, redact: Redact): string {
  const said = body !== null && typeof body === "object" ? (body as { message?: unknown }).message : body;
  if (typeof said !== "string") return "";
  const [line = ""] = redact(said)
    .replace(/[\p{Cc}\p{Cf}]+/gu, "\n")
    .trim()
    .split("\n");
  // Endpoints repeat the key, with some of its characters as stars.
  const safe = line.replace(/\b(?:sk|key|AIza|csk|gsk)[-_\w*.]{6,}/g, "***");
  return safe.length > 200 ? `${safe.slice(0, 199)}…` : safe;
}

function pauseOf({ headers }: ApiError): Pick<EndpointFailure, "retryAfterMs"> {
  const exact = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (exact >= 0) return { retryAfterMs: exact };
  const text = headers?.get("retry-after")?.trim() ?? "";
  const ms = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? {} : { retryAfterMs: Math.max(0, ms) };
}

/** Describes failures of a model's endpoint without secrets, and tells whether to try again. */

import OpenAI from "openai";
import { durationText } from "../base/duration.ts";
import { ClaudikinsError } from "../base/errors.ts";
import type { Llm } from "../config/llm.ts";
import { noAnswer } from "../servers/failures/network-failure.ts";
import type { Redact } from "../servers/values/secrets.ts";

export interface EndpointFailure {
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

/** The failure for what the client has thrown. */
export function failureOf(thrown: unknown, llm: Llm, redact: Redact): EndpointFailure {
  if (!(thrown instanceof OpenAI.APIError)) return oddAnswer(llm, "its answer is not JSON");
  if (thrown.cause instanceof ClaudikinsError) return lasting(thrown.cause);
  if (thrown.status !== undefined) return statusFailure(thrown, llm, redact);
  const { message, hint } = noAnswer(thrown.cause, new URL(llm.baseUrl));
  return { error: unavailable(llm, message, hint.replaceAll('"url"', '"llm.baseUrl"')), isPassing: true };
}

/** The failure if the endpoint answers, but not as a chat completions endpoint does. */
export function oddAnswer(llm: Llm, what: string): EndpointFailure {
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

/** Tells which variable or config key has the API key. */
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
  // Endpoints repeat the key, partly as stars.
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

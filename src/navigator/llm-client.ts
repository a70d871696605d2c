/** Makes the OpenAI client for one endpoint. It sends only what the config says. */
import OpenAI from "openai";
import { boundedText } from "../clients/response-body.ts";
import { maxCompletionBytes, megabytes } from "../clients/size-limits.ts";
import type { Llm } from "../config/llm.ts";
import { ClaudikinsError } from "../errors.ts";
import { parsedJson } from "../json-object.ts";
import { version } from "../version.ts";
import { place, unavailable } from "./endpoint-failure.ts";

/** Throws NEEDS_VARIABLE, and CONFIG_INVALID if the address is not a URL after variables are filled in. */
export function checkLlm(llm: Llm): void {
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
export function clientOf(llm: Llm): OpenAI {
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

export function headersOf({ apiKey, headers }: Llm): Record<string, string> {
  const own: Record<string, string> = {
    "content-type": "application/json",
    accept: "application/json",
    "user-agent": `claudikins/${version}`,
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  };
  for (const [name, value] of Object.entries(headers)) own[name.toLowerCase()] = value;
  return own;
}

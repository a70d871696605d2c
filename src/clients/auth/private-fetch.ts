/** Requests to authorization servers, with limits on time and size. Secrets are sent only over TLS, or to this machine. */

import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { isLoopback } from "../../loopback.ts";
import { unlessAborted } from "../abort.ts";
import { NetworkFailure, noAnswer } from "../network-failure.ts";
import { boundedText } from "../response-body.ts";
import { maxMetadataBytes, megabytes } from "../size-limits.ts";
import { checkReach } from "./reach.ts";
import { cancelled, notOAuth, Refused, shortLine, unavailable } from "./words.ts";

const requestMs = 10_000;

/** `server` is the URL of the MCP server. The SDK follows redirects only within an origin. */
export function privateFetch(server: URL, signal: AbortSignal): FetchLike {
  return async (to, init = {}) => {
    const url = new URL(to);
    const method = init.method ?? "GET";
    checkAddress(url, method, server);
    const { status, headers, text } = await answer(url, init, server, signal);
    const isRedirect = status >= 300 && status < 400;
    if (method !== "GET" && !isRedirect) {
      const error = errorOf(text);
      // Some servers refuse with a status of success.
      if (status >= 400 || error.error !== undefined) throw refusal(status, error, init);
    }
    return new Response([204, 205, 304].includes(status) ? null : text, { status, headers });
  };
}

/** `fetch` would send userinfo as a password. Without TLS, only this machine and the server's own metadata are allowed. */
function checkAddress(url: URL, method: string, server: URL): void {
  if (url.username !== "" || url.password !== "") {
    throw notOAuth(`the address of its authorization server contains credentials (${url.origin})`);
  }
  const isOwn = url.origin === server.origin && method === "GET";
  if (
    url.protocol === "https:" ||
    isOwn ||
    (url.protocol === "http:" && isLoopback(url.hostname) && isLoopback(server.hostname))
  )
    return;
  throw new NetworkFailure(`its authorization server does not use TLS (${url.origin})`, {
    code: "PROTOCOL_ERROR",
    hint: "Ask its operator for an https:// address: signing in without TLS is unsafe.",
  });
}

async function answer(url: URL, init: RequestInit, server: URL, signal: AbortSignal) {
  const limit = AbortSignal.timeout(requestMs);
  const both = AbortSignal.any([limit, signal]);
  try {
    await unlessAborted(checkReach(url, server), both, "the sign-in");
    const response = await fetch(url, { ...init, redirect: "manual", signal: both });
    return {
      status: response.status,
      headers: plainHeaders(response),
      text: await boundedText(response, maxMetadataBytes, tooLarge),
    };
  } catch (error) {
    if (error instanceof NetworkFailure) throw error;
    if (signal.aborted) throw cancelled();
    if (limit.aborted) {
      throw unavailable(`its authorization server at ${url.origin} did not answer within ${requestMs / 1_000} s`);
    }
    throw unavailable(`its authorization server cannot be reached: ${noAnswer(error, url).message}`);
  }
}

/** Only the necessary headers. The body is already decompressed. */
function plainHeaders({ headers }: Response): Record<string, string> {
  const kept = ["content-type", "location"].flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  return Object.fromEntries(kept);
}

function tooLarge(): NetworkFailure {
  return notOAuth(`its authorization server sent more than ${megabytes(maxMetadataBytes)}`);
}

function errorOf(text: string): { error?: string | undefined; description?: string | undefined } {
  try {
    const { error, error_description: description } = JSON.parse(text);
    return {
      error: typeof error === "string" ? error : undefined,
      description: typeof description === "string" ? description : undefined,
    };
  } catch {
    return {};
  }
}

function refusal(status: number, { error, description }: ReturnType<typeof errorOf>, init: RequestInit): Refused {
  const words = [error, description].filter(Boolean).join(": ");
  return new Refused(status, error, words === "" ? `it returned ${status}` : shortLine(words, secretsOf(init)));
}

/** Sent values that must be masked if they come back in a response. */
function secretsOf({ body, headers }: RequestInit): string[] {
  const sent = body instanceof URLSearchParams ? [...body] : [];
  const secret = sent.filter(([name]) => !["grant_type", "client_id", "scope", "resource"].includes(name));
  const credentials = new Headers(headers).get("authorization")?.replace(/^\w+ /, "");
  const pair = credentials === undefined ? [] : Buffer.from(credentials, "base64").toString().split(":").slice(1);
  return [...secret.map(([, value]) => value), ...pair, ...(credentials === undefined ? [] : [credentials])];
}

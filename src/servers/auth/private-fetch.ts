/** Requests to authorization servers, with limits on time and size. Secrets are sent only over TLS, or to this machine. */

import type { FetchLike } from "@modelcontextprotocol/client";
import { boundedText } from "../../base/bounded-body.ts";
import { durationText } from "../../base/duration.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { isLoopback } from "../../base/loopback.ts";
import { megabyte, megabytes } from "../../base/units.ts";
import { unlessAborted } from "../abort.ts";
import { NetworkFailure, noAnswer } from "../failures/network-failure.ts";
import { checkReach } from "./reach.ts";
import { AuthorizationRefused, cancelled, notOAuth, shortLine, unavailable, withoutTls } from "./words.ts";

/** A response of an authorization server: metadata, registrations and tokens. */
const maxMetadataBytes = megabyte;

/** Time of one request to an authorization server. */
const authRequestMs = 10_000;

/** The headers of the server's entry. They are sent only to the server's own origin. */
export type OwnHeaders = Record<string, string> | (() => Promise<Record<string, string>>);

/** `server` is the URL of the MCP server. The SDK follows redirects only within an origin. */
export function privateFetch(server: URL, signal: AbortSignal, own: OwnHeaders = {}): FetchLike {
  return async (to, init = {}) => {
    const url = new URL(to);
    const method = init.method ?? "GET";
    checkAddress(url, method, server);
    const isOfServer = url.origin === server.origin;
    const sent = isOfServer ? withOwn(init, typeof own === "function" ? await own() : own) : init;
    const { status, headers, text } = await answer(url, sent, server, signal);
    if (status >= 500 || (status === 429 && method !== "GET")) {
      const isMetadata = url.pathname.startsWith("/.well-known/oauth-protected-resource");
      const what = isMetadata ? "its sign-in metadata request" : "its authorization server";
      throw unavailable(`${what} failed (${status})`);
    }
    const isRedirect = status >= 300 && status < 400;
    if (method !== "GET" && !isRedirect) checkAccepted(status, text, init);
    return new Response([204, 205, 304].includes(status) ? null : withoutBlanks(text), { status, headers });
  };
}

/** The headers of the request itself come first. An authorization of the entry is not meant for the authorization server. */
function withOwn(init: RequestInit, own: Record<string, string>): RequestInit {
  const headers = new Headers(own);
  headers.delete("authorization");
  new Headers(init.headers).forEach((value, name) => {
    headers.set(name, value);
  });
  return { ...init, headers };
}

/** Authorization servers write null or an empty text for what they do not have. The SDK would refuse the whole answer. */
function withoutBlanks(text: string): string {
  const value = parsedJson(text);
  if (!isObject(value)) return text;
  const entries = Object.entries(value);
  const kept = entries.filter(([, each]) => each !== null && each !== "");
  return kept.length === entries.length ? text : JSON.stringify(Object.fromEntries(kept));
}

/** `fetch` would send userinfo as a password. Without TLS, only this machine and the server's own metadata are allowed. */
function checkAddress(url: URL, method: string, server: URL): void {
  if (url.username !== "" || url.password !== "") {
    throw notOAuth(`the address of its authorization server contains credentials (${url.origin})`);
  }
  const isOwn = url.origin === server.origin && method === "GET";
  const isLocal = url.protocol === "http:" && isLoopback(url.hostname) && isLoopback(server.hostname);
  if (url.protocol === "https:" || isOwn || isLocal) return;
  throw withoutTls(url);
}

async function answer(url: URL, init: RequestInit, server: URL, signal: AbortSignal) {
  const limit = AbortSignal.timeout(authRequestMs);
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
      throw unavailable(
        `its authorization server at ${url.origin} did not answer within ${durationText(authRequestMs)}`,
      );
    }
    throw unavailable(`its authorization server cannot be reached: ${noAnswer(error, url).message}`);
  }
}

/** Throws AuthorizationRefused for an error of RFC 6749. Some servers send it with a status of success. */
function checkAccepted(status: number, text: string, init: RequestInit): void {
  const { error, error_description: description } = Object(parsedJson(text)) as Record<string, unknown>;
  const code = typeof error === "string" && error !== "" ? error : undefined;
  if (status < 400 && code === undefined) return;
  const words = [code, description].filter((each) => typeof each === "string" && each !== "").join(": ");
  throw new AuthorizationRefused(code, words === "" ? `it returned ${status}` : shortLine(words, secretsOf(init)));
}

/** Only the necessary headers. The body is already decompressed. */
function plainHeaders({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => ["content-type", "location"].includes(name)));
}

const tooLarge = () => notOAuth(`its authorization server sent more than ${megabytes(maxMetadataBytes)}`);

/** Parameters whose values may come back in an error. */
const notSecret = [
  "grant_type",
  "client_id",
  "scope",
  "resource",
  "audience",
  "subject_token_type",
  "requested_token_type",
];

/** Sent values that must be masked if they come back in a response. */
function secretsOf({ body, headers }: RequestInit): string[] {
  const sent = body instanceof URLSearchParams ? [...body] : [];
  const secret = sent.filter(([name]) => !notSecret.includes(name));
  const credentials = new Headers(headers).get("authorization")?.replace(/^\w+ /, "");
  const pair = credentials === undefined ? [] : Buffer.from(credentials, "base64").toString().split(":").slice(1);
  return [...secret.map(([, value]) => value), ...pair, ...(credentials === undefined ? [] : [credentials])];
}

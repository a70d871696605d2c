/** Reads the daemon's HTTP requests, and makes its responses. */

import { ClaudikinsError } from "../errors.ts";
import { parsedJson } from "../json-object.ts";
import type { BindingValue } from "../sandbox/contract.ts";
import { type CallRequest, httpStatusOf, type ProblemCode } from "./protocol.ts";
import { isGiven } from "./written-call.ts";

/** Undefined if the body is empty. Throws USAGE. */
export async function bodyOf(request: Request): Promise<unknown> {
  const text = await request.text();
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    throw new ClaudikinsError("USAGE", "The body is not JSON");
  }
}

/** The properties that are strings. */
function optional(values: Record<string, unknown>): Record<string, string> {
  const texts = Object.entries(values).filter(([, value]) => typeof value === "string" && value !== "");
  return Object.fromEntries(texts) as Record<string, string>;
}

/** Whether the request wants to become a WebSocket to a server. */
export function isServerSocket({ method, url, headers }: Request): boolean {
  return method === "GET" && new URL(url).pathname === "/servers" && headers.has("upgrade");
}

/** A call by a generated file. Throws USAGE. */
export function callOf(body: unknown): CallRequest {
  const { server, tool, args = {}, given, via, cwd, session } = (body ?? {}) as Partial<CallRequest>;
  const areWords = given === undefined || (Array.isArray(given) && given.every(isGiven));
  const isWhole = typeof server === "string" && server !== "" && typeof tool === "string" && areWords;
  if (isWhole && args !== null && typeof args === "object" && !Array.isArray(args)) {
    return { server, tool, args, via, ...(given ? { given } : {}), ...optional({ cwd, session }) };
  }
  throw new ClaudikinsError("USAGE", 'Expected a call: {"server": "…", "tool": "…", "args": {…}}');
}

/** The response to a failure. */
export function problem(code: ProblemCode, error: string, suggestion: string | undefined): Response {
  const body = { error, code, ...(suggestion === undefined ? {} : { suggestion }) };
  return Response.json(body, { status: httpStatusOf(code) });
}

/** The response to a call by a generated file. */
export function valueAnswer(value: BindingValue): Response {
  return new Response(`{"value":${jsonOf(value)}}`, { headers: { "content-type": "application/json" } });
}

/** The value as JSON text, which most results already are. */
function jsonOf(value: BindingValue): string {
  if ("json" in value) return value.json;
  if ("blocks" in value) return value.blocks;
  if ("text" in value) return JSON.stringify(value.text);
  return parsedJson(value.jsonOrText) !== undefined ? value.jsonOrText : JSON.stringify(value.jsonOrText);
}

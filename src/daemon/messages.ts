/** Reads the daemon's HTTP requests, and makes its responses. */
import { ClaudikinsError, toClaudikinsError } from "../errors.ts";
import { type CallOptions, call, type ToolCall } from "../execution/call.ts";
import type { Given } from "../execution/call-arguments.ts";
import { isObject, parsedJson } from "../json-object.ts";
import type { BindingValue } from "../sandbox/contract.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import { type CallRequest, httpStatusOf, jsonLines, type ProblemCode, type WrittenCall } from "./protocol.ts";

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
  if (isWhole && isObject(args)) {
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

/** Whether the call is written as on a command line. */
export function isWrittenCall(body: unknown): body is { target: unknown } {
  return isObject(body) && "target" in body;
}

interface Answer {
  response: Response;
  /** Resolves when the call is done, which may be after the response has begun. */
  ended: Promise<void>;
}

/** Throws errors of `call`. If the response has begun, the error is its last line instead. */
export async function answerWritten(wanted: WrittenCall, toolbox: Toolbox, signal: AbortSignal): Promise<Answer> {
  if (!wanted.progress) {
    return { response: Response.json(await call(wanted, toolbox, { signal })), ended: Promise.resolve() };
  }
  const { readable, writable } = new TransformStream<string, string>();
  const writer = writable.getWriter();
  // A caller that has gone reads nothing, which is not an error.
  const write = (line: object) => void writer.write(`${JSON.stringify(line)}\n`).catch(() => {});
  const work = lastAnswer(wanted, toolbox, { signal, onProgress: (progress) => write({ progress }) });
  const ended = work.then((answer) => {
    write(answer);
    void writer.close().catch(() => {});
  });
  const response = new Response(readable.pipeThrough(new TextEncoderStream()), {
    headers: { "content-type": jsonLines },
  });
  return { response, ended };
}

async function lastAnswer(wanted: ToolCall, toolbox: Toolbox, options: CallOptions): Promise<object> {
  try {
    return await call(wanted, toolbox, options);
  } catch (thrown) {
    const { message: error, code, hint } = toClaudikinsError(thrown);
    return { error, code, ...(hint === undefined ? {} : { suggestion: hint }) };
  }
}

/** Throws USAGE. */
export function writtenCallOf(body: object): WrittenCall {
  const { target, tool, given, timeoutMs, via, progress, cwd, session } = body as Record<keyof WrittenCall, unknown>;
  const isWhole =
    isText(target) &&
    [tool, via, cwd, session].every(isTextOrNothing) &&
    Array.isArray(given) &&
    given.every(isGiven) &&
    (timeoutMs === undefined || typeof timeoutMs === "number");
  if (!isWhole) throw new ClaudikinsError("USAGE", 'Expected a written call: {"target": "…", "given": […]}');
  return { ...(body as WrittenCall), progress: progress === true };
}

function isGiven(value: unknown): value is Given {
  if (!isObject(value)) return false;
  const { word, key, text, object } = value;
  if (!isText(word)) return false;
  if (object !== undefined) return isObject(object);
  return isText(key) && ("json" in value || isText(text));
}

function isTextOrNothing(value: unknown): boolean {
  return value === undefined || isText(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

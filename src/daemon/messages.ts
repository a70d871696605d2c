/** The daemon's requests, and its HTTP responses. */
import { z } from "zod";
import { ClaudikinsError, toClaudikinsError } from "../errors.ts";
import { type CallOptions, call } from "../execution/call.ts";
import type { Given } from "../execution/call-arguments.ts";
import { isObject, type JsonObject, parsedJson } from "../json-object.ts";
import type { BindingValue } from "../sandbox/contract.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import { httpStatusOf, jsonLines, type ProblemCode, shellSession } from "./protocol.ts";

const text = z.string();
const object = z.custom<JsonObject>(isObject);
/** Words of a command line. */
const given: z.ZodType<Given[]> = z.array(
  z.union([
    z.object({ word: text, object }),
    z.object({ word: text, key: text, text }),
    z.object({ word: text, key: text, json: z.unknown() }),
  ]),
);

const caller = {
  /** The working directory of servers that name none. Default: the folder of the config file. */
  cwd: text.min(1).optional(),
  /** The caller's session. Servers that are not shared are started once for each session. */
  session: text.optional().transform((session) => session || shellSession),
};

const callRequest = z.object({
  server: text.min(1),
  tool: text,
  args: object.default({}),
  /** Instead of `args`. */
  given: given.optional(),
  via: z.unknown().optional(),
  ...caller,
});

/** See `execution/call.ts`. */
const writtenCall = z.object({
  target: text,
  tool: text.optional(),
  given,
  timeoutMs: z.number().optional(),
  via: text.optional(),
  progress: z.boolean().optional(),
  ...caller,
});

const openRequest = z.object({
  /** The caller's version. An older daemon ends to make room for a newer one. */
  version: text,
  server: text,
  /** The mark of the server's entry in the caller's config, see `entryMark`. */
  entry: text,
  /** The working directory of a server that names none, and the environment of its process. */
  cwd: text,
  env: z.custom<Record<string, string>>(isObject),
  /** The caller's capabilities, as in MCP's `initialize`. */
  capabilities: z.custom<object>(isObject),
  /** The caller's session. Servers that are not shared are started once for each session. */
  session: text,
  /** The session ends with the caller's process. */
  isShort: z.boolean().default(false),
  /** Use the server only if it is already running. */
  startsNothing: z.boolean().default(false),
});

export type CallRequest = z.infer<typeof callRequest>;
export type WrittenCall = z.infer<typeof writtenCall>;
export type OpenRequest = z.infer<typeof openRequest>;

/** Undefined if the body is empty. Throws USAGE. */
export async function bodyOf(request: Request): Promise<unknown> {
  const body = await request.text();
  const value = parsedJson(body);
  if (value === undefined && body !== "") throw new ClaudikinsError("USAGE", "The body is not JSON");
  return value;
}

/** A call by a generated file, or one as it is written on a command line. Throws USAGE. */
export function callIn(body: unknown): CallRequest | WrittenCall {
  const isWritten = isObject(body) && "target" in body;
  const { success, data } = (isWritten ? writtenCall : callRequest).safeParse(body);
  if (success) return data;
  const form = isWritten
    ? 'a written call: {"target": "…", "given": […]}'
    : 'a call: {"server": "…", "tool": "…", "args": {…}}';
  throw new ClaudikinsError("USAGE", `Expected ${form}`);
}

/** The first message of a socket to a server, or undefined if it is another one. */
export function openingIn(message: unknown): OpenRequest | undefined {
  return z.object({ open: openRequest }).safeParse(message).data?.open;
}

/** The response to a failure. */
export function problem(code: ProblemCode, error: string, suggestion: string | undefined): Response {
  return Response.json({ error, code, suggestion }, { status: httpStatusOf(code) });
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

async function lastAnswer(wanted: WrittenCall, toolbox: Toolbox, options: CallOptions): Promise<object> {
  try {
    return await call(wanted, toolbox, options);
  } catch (thrown) {
    const { message: error, code, hint: suggestion } = toClaudikinsError(thrown);
    return { error, code, suggestion };
  }
}

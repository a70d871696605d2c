/** A call as it is written on a command line: reads the request, and writes the answer. */
import { ClaudikinsError, toClaudikinsError } from "../errors.ts";
import { type CallOptions, call, type ToolCall } from "../execution/call.ts";
import type { Given } from "../execution/call-arguments.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import { jsonLines, type WrittenCall } from "./protocol.ts";

export function isWrittenCall(body: unknown): body is { target: unknown } {
  return body !== null && typeof body === "object" && "target" in body;
}

export interface Answer {
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

export function isGiven(value: unknown): value is Given {
  if (value === null || typeof value !== "object") return false;
  const { word, key, text, object } = value as Record<string, unknown>;
  if (!isText(word)) return false;
  if (object !== undefined) return object !== null && typeof object === "object" && !Array.isArray(object);
  return isText(key) && ("json" in value || isText(text));
}

function isTextOrNothing(value: unknown): boolean {
  return value === undefined || isText(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** The daemon's requests and answers. */
import { z } from "zod";
import { ClaudikinsError } from "../base/errors.ts";
import { parsedExact } from "../base/exact-json.ts";
import { isObject, type JsonObject, parsedJson } from "../base/json-object.ts";
import { tooHeavy } from "../base/json-weight.ts";
import { traceIn } from "../base/trace-context.ts";
import type { ArgumentWord } from "../programs/argument-words.ts";
import type { ExecuteRequest } from "../programs/execute.ts";
import { isId } from "../programs/trace/id.ts";
import type { BindingValue } from "../sandbox/contract.ts";
import { httpStatusOf, type ProblemCode, shellSession } from "./protocol.ts";

/**
 * A request of our own command line to the daemon. It may be larger than others, because its arguments are copied less often and belong to
 * the same user.
 */
const ownMessage = { keys: 100_000, values: 1_000_000, levels: 500, digits: 1_000 };

const text = z.string();
const object = z.custom<JsonObject>(isObject);
/** Words of a command line. */
const given: z.ZodType<ArgumentWord[]> = z.array(
  z.union([
    z.object({ word: text, object }),
    z.object({ word: text, key: text, text }),
    z.object({ word: text, key: text, json: z.unknown() }),
  ]),
);

const caller = {
  /** The door of the config behind which the caller is. */
  door: text.min(1).optional(),
  /** The working directory of servers that name none. Default: the folder of the config file. */
  cwd: text.min(1).optional(),
  /** The caller's session. Servers that are not shared are started once for each session. */
  session: text.optional().transform((session) => session || shellSession),
  /** The caller's environment, for servers that start now. Default: the last caller's, or else the daemon's. */
  env: z.custom<Record<string, string>>(isObject).optional(),
  /** The trace of the caller. */
  trace: z.unknown().optional().transform(traceIn),
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

/** See `programs/call.ts`. */
const writtenCall = z.object({
  target: text,
  tool: text.optional(),
  given,
  timeoutMs: z.number().optional(),
  via: text.optional(),
  ...caller,
});

const openRequest = z.object({
  /** The caller's version. An older daemon ends to make room for a newer one. */
  version: text,
  server: text,
  /** The mark of the server's entry in the caller's config, see `entryMark`. */
  entry: text,
  /** The door, if the server has separate processes for it. */
  door: text.optional(),
  /** The working directory of a server that names none, and the environment of its process. */
  cwd: text,
  env: z.custom<Record<string, string>>(isObject),
  /** The caller's capabilities, as in MCP's `initialize`. */
  capabilities: z.custom<object>(isObject),
  /** The caller's session. Servers that are not shared are started once for each session. */
  session: text,
  /** The session ends with the caller's process. */
  endsWithCaller: z.boolean().default(false),
  /** Use the server only if it is already running. */
  startsNothing: z.boolean().default(false),
});

/** A program, in the background or for a caller that waits for its outcome. */
const executionRequest = z.object({
  /** The id of the execution, by which the caller can cancel it. */
  id: text.refine(isId).optional(),
  source: text.optional(),
  /** Instead of `source`: the name of a saved program, and its input. */
  program: text.optional(),
  input: object.default({}),
  /** Instead of `source`: the id of an execution whose code is run again. */
  again: text.refine(isId).optional(),
  /** The execution whose code was opened in the editor of the page, and became `source`. The program begins with its labels. */
  codeOf: text.refine(isId).optional(),
  /** Whether the program was written on the page. */
  isFromPage: z.boolean().default(false),
  dryRun: z.boolean().default(false),
  limits: z.custom<ExecuteRequest["limits"]>(isObject).optional(),
  check: z.enum(["error", "warn", "off"]).optional(),
  ...caller,
});

/** Throws USAGE. */
export function executionIn(body: unknown): z.infer<typeof executionRequest> {
  const { success, data } = executionRequest.safeParse(body);
  const given = [data?.source, data?.program, data?.again].filter((each) => each !== undefined);
  if (success && given.length === 1) return data;
  const forms = '{"source": "…"}, {"program": "…", "input": {…}} or {"again": "ID"}';
  throw new ClaudikinsError("USAGE", `Expected an execution: ${forms}`);
}

/** The id in a request to cancel an execution. */
export function cancelledIn(body: unknown): string {
  return z.object({ id: text }).safeParse(body).data?.id ?? "";
}

const restartRequest = z.object({ server: text.min(1), ...caller });

/** Throws USAGE. */
export function restartIn(body: unknown): z.infer<typeof restartRequest> {
  const { success, data } = restartRequest.safeParse(body);
  if (success) return data;
  throw new ClaudikinsError("USAGE", 'Expected a server: {"server": "…"}');
}

/** The ids in a request to continue executions. */
export function adoptionIn(body: unknown): string[] {
  return z.object({ executions: z.array(text) }).safeParse(body).data?.executions ?? [];
}

export type DaemonCallRequest = z.infer<typeof callRequest>;
export type WrittenCall = z.infer<typeof writtenCall>;
export type OpenServerRequest = z.infer<typeof openRequest>;

/** Undefined if the body is empty. Throws USAGE. */
export function bodyIn(body: string): unknown {
  const problem = tooHeavy(Buffer.from(body), ownMessage);
  if (problem !== undefined) throw new ClaudikinsError("USAGE", problem);
  const value = parsedExact(body);
  if (value === undefined && body !== "") throw new ClaudikinsError("USAGE", "The body is not JSON");
  return value;
}

/** A call by a generated file, or one as it is written on a command line. Throws USAGE. */
export function callIn(body: unknown): DaemonCallRequest | WrittenCall {
  const isWritten = isObject(body) && "target" in body;
  const { success, data } = (isWritten ? writtenCall : callRequest).safeParse(body);
  if (success) return data;
  const form = isWritten
    ? 'a written call: {"target": "…", "given": […]}'
    : 'a call: {"server": "…", "tool": "…", "args": {…}}';
  throw new ClaudikinsError("USAGE", `Expected ${form}`);
}

/** The request in the first message of a connection to a server. Undefined if the message is not such a request. */
export function openingIn(message: unknown): OpenServerRequest | undefined {
  return z.object({ open: openRequest }).safeParse(message).data?.open;
}

/** The answer to a request. */
export interface DaemonAnswer {
  status: number;
  json: string;
}

export function answerOf(value: object): DaemonAnswer {
  return { status: 200, json: JSON.stringify(value) };
}

/** The answer to a request that has failed. */
export function problem(code: ProblemCode, error: string, suggestion: string | undefined): DaemonAnswer {
  return { status: httpStatusOf(code), json: JSON.stringify({ error, code, suggestion }) };
}

/** The answer to a call by a generated file. */
export function valueAnswer(value: BindingValue): DaemonAnswer {
  return { status: 200, json: `{"value":${jsonOf(value)}}` };
}

/** The value as JSON text, which most results already are. */
function jsonOf(value: BindingValue): string {
  if ("json" in value) return value.json;
  if ("blocks" in value) return value.blocks;
  if ("text" in value) return JSON.stringify(value.text);
  return parsedJson(value.jsonOrText) !== undefined ? value.jsonOrText : JSON.stringify(value.jsonOrText);
}

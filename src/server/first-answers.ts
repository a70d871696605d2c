/**
 * Answers an agent's first requests before the SDK is loaded, which takes longer than the rest of a start. Everything else is left
 * to the SDK's server, which learns what was answered.
 */

import { PassThrough, type Readable, type Writable } from "node:stream";
import { isObject } from "../json-object.ts";
import { type Surface, toolsFor } from "./surface.ts";

/** The protocol versions of the SDK; a test compares them. The first one is offered to an agent that asks for another. */
export const protocolVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

export interface Known extends Surface {
  serverInfo: object;
  capabilities: object;
}

export interface Begun {
  /** The stream that the SDK's transport reads instead of stdin: everything that was not answered here. */
  input: Readable;
  /** The id of the `initialize` request. The SDK's server will answer it again, and that answer must not be sent. */
  initializeId: string | number | undefined;
  /** The tools that the agent was given, if it has asked for them. */
  listed: Surface["tools"] | undefined;
}

/** Delay after the last answer before the SDK is loaded, so that the first call does not wait for it. */
const idleMs = 50;

/** Longer lines are left to the SDK's server. */
const maxLineBytes = 65_536;

const newline = 0x0a;

/**
 * Answers `initialize`, `ping` and `tools/list`. Resolves on another message, after a moment without any, or when `over` aborts.
 */
export async function answerFirst(stdin: Readable, stdout: Writable, known: Known, over: AbortSignal): Promise<Begun> {
  const ended = Promise.withResolvers<void>();
  const end = () => ended.resolve();
  const kept: Buffer[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let initializeId: string | number | undefined;
  let theirs: object | undefined;
  let listed: Surface["tools"] | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Answers one message. Returns whether it could. */
  const take = (line: Buffer): boolean => {
    const message = requestIn(line);
    if (message?.method === "notifications/initialized" && initializeId !== undefined) return kept.push(line) > 0;
    const result = message?.id === undefined ? undefined : resultOf(message, known, theirs);
    if (result === undefined) return false;
    stdout.write(`${JSON.stringify({ result, jsonrpc: "2.0", id: message!.id })}\n`);
    if (message!.method === "initialize") {
      initializeId = message!.id;
      theirs = message!.params["capabilities"] as object;
      kept.push(line);
    }
    if (message!.method === "tools/list") listed = toolsFor(known, theirs);
    clearTimeout(timer);
    timer = setTimeout(end, idleMs);
    return true;
  };
  const onData = (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let at = rest.indexOf(newline); at !== -1; at = rest.indexOf(newline)) {
      if (!take(rest.subarray(0, at + 1))) return stop();
      rest = rest.subarray(at + 1);
    }
    if (rest.length > maxLineBytes) stop();
  };
  const stop = () => {
    stdin.off("data", onData);
    stdin.pause();
    end();
  };
  stdin.on("data", onData);
  over.addEventListener("abort", end, { once: true });
  if (over.aborted) end();
  await ended.promise;
  clearTimeout(timer);
  over.removeEventListener("abort", end);
  stop();
  const input = new PassThrough();
  for (const line of [...kept, rest]) if (line.length > 0) input.write(line);
  stdin.pipe(input);
  return { input, initializeId, listed };
}

interface Request {
  id?: string | number;
  method: string;
  params: Record<string, unknown>;
}

/** Undefined if the line is not one plain request. */
function requestIn(line: Buffer): Request | undefined {
  try {
    const message: unknown = JSON.parse(line.toString("utf8"));
    if (!isObject(message) || message["jsonrpc"] !== "2.0") return undefined;
    const { id, method, params = {} } = message;
    if (typeof method !== "string" || !isObject(params) || "result" in message || "error" in message) return undefined;
    if (id === undefined) return { method, params };
    return typeof id === "string" || Number.isSafeInteger(id)
      ? { id: id as string | number, method, params }
      : undefined;
  } catch {
    return undefined;
  }
}

/** `host` has the agent's capabilities once it is initialized. */
function resultOf({ method, params }: Request, known: Known, host: object | undefined): object | undefined {
  // Other parameters may ask for progress or a task, which the SDK's server handles.
  if (method !== "initialize" && Object.keys(params).length > 0) return undefined;
  const { serverInfo, capabilities, instructions } = known;
  switch (method) {
    case "initialize": {
      const { protocolVersion: asked, capabilities: theirs, clientInfo } = params;
      if (host || typeof asked !== "string" || !isObject(theirs) || !isClient(clientInfo)) return undefined;
      const protocolVersion = protocolVersions.includes(asked) ? asked : protocolVersions[0];
      return { protocolVersion, capabilities, serverInfo, instructions };
    }
    case "ping":
      return {};
    case "tools/list":
      return host ? { tools: toolsFor(known, host) } : undefined;
    default:
      return undefined;
  }
}

const isClient = (info: unknown) =>
  isObject(info) && typeof info["name"] === "string" && typeof info["version"] === "string";

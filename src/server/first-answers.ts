/**
 * A host's first questions, answered before the SDK is loaded, which takes longer than all the rest of a start. What comes
 * after them, and all that is not plainly one of them, is left to the SDK's server, which is told of what was said.
 */

import { PassThrough, type Readable, type Writable } from "node:stream";
import { isObject } from "../json-object.ts";
import { type Surface, toolsFor } from "./surface.ts";

/** As the SDK has them; a test compares. The first one is proposed to a host that asks for another. */
export const protocolVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

export interface Known extends Surface {
  serverInfo: object;
  capabilities: object;
}

export interface Begun {
  /** What the SDK's transport reads in the place of stdin: nothing of it is lost, and what was answered is not in it. */
  input: Readable;
  /** The id of the request that the host has its answer to, and that the SDK's server will answer again. */
  initializeId: string | number | undefined;
  /** The tools that the host has, where it has asked for them. */
  listed: Surface["tools"] | undefined;
}

/** After the last answer the SDK is loaded, so that the first call does not wait for it. */
const idleMs = 50;

/** Longer lines are none of the first questions. */
const maxLineBytes = 65_536;

const newline = 0x0a;

/** Answers `initialize`, `ping` and `tools/list`. Resolves when something else has come, or nothing for a moment, or at `over`. */
export async function answerFirst(stdin: Readable, stdout: Writable, known: Known, over: AbortSignal): Promise<Begun> {
  const ended = Promise.withResolvers<void>();
  const end = () => ended.resolve();
  const kept: Buffer[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let initializeId: string | number | undefined;
  let theirs: object | undefined;
  let listed: Surface["tools"] | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Whether that was one of ours. */
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

/** Undefined for whatever is not plainly one. */
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

/** `host` is what the host has said that it can do, once it is initialized. */
function resultOf({ method, params }: Request, known: Known, host: object | undefined): object | undefined {
  // With more than that, somebody may be waiting for progress, or for a task.
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

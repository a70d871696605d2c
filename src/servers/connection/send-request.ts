/** Sends one request to a connected server, and turns failures into errors. */

import { ProtocolErrorCode as McpCode, ProtocolError, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { durationText } from "../../base/duration.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { maxTimerMs, TimeLimit } from "../../base/time-limit.ts";
import type { ServerConfig } from "../../config/load.ts";
import type { Call } from "../../policy/call.ts";
import { Cancellation, onAbort } from "../abort.ts";
import { brokeOff, NetworkFailure } from "../failures/network-failure.ts";
import { ConnectionLost } from "../failures/server-failure.ts";
import { lastWords, otherVersion, unreachable, wordsOf } from "../failures/start-failure.ts";
import { pageAddress } from "../network/page-address.ts";
import { NotWritten } from "../process/outgoing-lines.ts";
import { jsonValue, objectsOf } from "../result.ts";
import type { Channel } from "./channel.ts";
import type { QuestionsOfServer } from "./questions-of-server.ts";
import type { ServerClient } from "./server-client.ts";
import type { ServerProgress } from "./server-progress.ts";

/** Characters of the address of a page in a hint. Longer addresses are left out. */
const maxHintUrlChars = 2_000;

export interface Request {
  method: string;
  params: Record<string, unknown>;
}

/** Sends a request of a call, and resolves with the result unchanged. `what` is its name in error messages, such as `demo.get_order`. */
export type Send = (request: Request, what: string, call: Call) => Promise<Record<string, unknown>>;

/** A connected server, and the state of its requests. */
interface ConnectedServer {
  server: ServerConfig;
  client: ServerClient;
  channel: Channel;
  requests: QuestionsOfServer;
  progress: ServerProgress;
  closing: AbortSignal;
}

/** Their servers are always asked for progress, because it restarts the time limit. */
const lasting: ReadonlySet<string> = new Set(["tools/call", "resources/read", "prompts/get"]);

/** See `Connection.request`. */
export async function sendRequest(
  peer: ConnectedServer,
  request: Request,
  what: string,
  call: Call,
): Promise<Record<string, unknown>> {
  const { signal, clock, origin = signal, caller, onProgress, onBecameTask } = call;
  // Without the time in which the server waits for a person.
  const { timeoutMs = peer.server.callTimeoutMs } = call;
  // By the caller, or when the time is over.
  const cancellation = new Cancellation();
  const stopListening = onAbort(signal, () => cancellation.cancel("the caller stopped waiting"));
  // Replaces the SDK's timeout, which cannot be paused.
  let late: SdkError | undefined;
  const limit = new TimeLimit(timeoutMs, () => {
    late = new SdkError(SdkErrorCode.RequestTimeout, "its time is over");
    cancellation.cancel(late);
  });
  const ended = peer.requests.calling(request.method, { clocks: clock ? [limit, clock] : [limit], origin, caller });
  let states = 0;
  /** A task may take any time, as long as its server says that it works. */
  const onTask = (message: string | undefined) => {
    limit.restart();
    onBecameTask?.();
    if (message === undefined) return;
    states += 1;
    onProgress?.({ progress: states, message });
  };
  const listening = peer.progress.listen((progress) => {
    limit.restart();
    if (progress) onProgress?.(progress);
  });
  // The connection closes a little later than the process ends. Nothing is written meanwhile.
  const hasEnded = peer.server.url === undefined && peer.channel.ended() !== "";
  const sent = !hasEnded && peer.client.transport !== undefined;
  try {
    if (!sent) throw new Error("not connected");
    const asked = onProgress || lasting.has(request.method) ? withToken(request, listening.progressToken) : request;
    return await peer.client.ask(asked, { timeout: maxTimerMs, cancellation, origin, onTask });
  } catch (cause) {
    if (signal?.aborted) throw new ClaudikinsError("CANCELLED", `${what} was cancelled`, { cause });
    if (peer.closing.aborted) {
      throw new ClaudikinsError("CANCELLED", `${what} was cancelled: claudikins is closing`, { cause });
    }
    throw late !== undefined
      ? timeoutError(peer.server, what, timeoutMs, cause)
      : requestError(peer, request, what, cause, sent);
  } finally {
    stopListening();
    ended();
    limit.end();
    listening.end();
  }
}

function withToken({ method, params }: Request, progressToken: number): Request {
  return { method, params: { ...params, _meta: { ...Object(params["_meta"]), progressToken } } };
}

function timeoutError({ name }: ServerConfig, what: string, timeoutMs: number, cause: unknown): ClaudikinsError {
  return new ClaudikinsError("CALL_TIMEOUT", `${what} did not answer within ${durationText(timeoutMs)}`, {
    cause,
    hint: `Raise "callTimeoutMs" of "${name}" in the config, or ask for less in one call.`,
  });
}

function requestError(
  { server, channel }: ConnectedServer,
  { method }: Request,
  what: string,
  cause: unknown,
  sent: boolean,
): ClaudikinsError {
  if (cause instanceof ClaudikinsError) return cause;
  const failure = failureIn(cause) ?? channel.failure();
  if (failure) {
    const { code, message, hint, isGone } = failure;
    // Status 403 concerns this request, not the sign-in.
    if (failure.stands && failure.status !== 403) return unreachable(server, failure);
    const isUnsent = !sent || failureIn(cause)?.isUnsent === true;
    const why = isGone ? ` is gone: ${message}` : `: ${message}`;
    const text = `${what}: server "${server.name}"${why}`;
    if (!isGone || code !== "SERVER_UNAVAILABLE") return new ClaudikinsError(code, text, { hint });
    return new ConnectionLost(text, { hint, why: why.trim(), sent: !isUnsent });
  }
  const unusable = cause instanceof SdkError ? unusableAnswers.get(cause.code) : undefined;
  if (unusable !== undefined) return new ClaudikinsError("PROTOCOL_ERROR", `${what}: ${unusable}`, { cause });
  if (!(cause instanceof ProtocolError) || cause.data === brokeOff) {
    const how = channel.ended() || wordsOf(cause);
    if (server.url === undefined) {
      const why = `is gone: ${how}`;
      const message = `${what}: server "${server.name}" ${why}${lastWords(channel)}`;
      const hint = "Call again to restart it.";
      const wasSeen = sent && !(cause instanceof NotWritten) && channel.wasUnseen?.() !== true;
      return new ConnectionLost(message, { cause, hint, why, sent: wasSeen, said: channel.lastWords().at(-1) });
    }
    return new ClaudikinsError("SERVER_UNAVAILABLE", `${what}: server "${server.name}": ${how}`, {
      cause,
      hint: "Try again, or check its logs.",
    });
  }
  return answeredError(method, what, cause);
}

/** Answers that the SDK refuses. The connection stays. */
const unusableAnswers: ReadonlyMap<string, string> = new Map([
  [SdkErrorCode.InputRequiredRoundsExceeded, "the server asked again after ten answers"],
  [SdkErrorCode.InvalidResult, "the server's answer is not a result of the protocol"],
  [SdkErrorCode.UnsupportedResultType, "the server's answer is of a kind that claudikins does not know"],
]);

/** The transport's failure, which may be inside an error answer that the transport made. */
function failureIn(cause: unknown): NetworkFailure | undefined {
  const inner = cause instanceof ProtocolError ? cause.data : cause;
  return inner instanceof NetworkFailure ? inner : undefined;
}

function answeredError(method: string, what: string, cause: ProtocolError): ClaudikinsError {
  const code = answeredErrorCode(method, cause.code);
  if (cause.code === McpCode.ParseError) {
    return new ClaudikinsError(code, `${what}: ${wordsOf(cause)}`, { cause, hint: otherVersion });
  }
  const own = method.endsWith("/list") ? "the server returned an error: " : "";
  const hint = (cause.code === McpCode.UrlElicitationRequired && pagesHint(cause)) || answeredHint(method);
  return new ClaudikinsError(code, `${what}: ${own}${wordsOf(cause)}`, { cause, hint, data: dataOf(cause) });
}

/** As results: numbers that JavaScript cannot hold are texts. */
function dataOf({ data }: ProtocolError): string | undefined {
  const json = JSON.stringify(data);
  return json && jsonValue(json).json;
}

/** Errors of tools need no hint: the tool's own text is best. */
function answeredHint(method: string): string | undefined {
  if (method === "tools/call") return undefined;
  if (method.endsWith("/list")) return "Check the server's logs or its documentation.";
  return `Call ${method.split("/")[0]}.list() on the server to see what exists.`;
}

/** The pages that a person must open in a browser before the call can succeed. */
function pagesHint({ data }: ProtocolError): string | undefined {
  const { elicitations } = (data ?? {}) as { elicitations?: unknown };
  const urls = objectsOf(elicitations).flatMap(({ url }) => pageAddress(url).href ?? []);
  const short = urls.filter((url) => url.length < maxHintUrlChars);
  return short.length === 0 ? undefined : `Ask a person to open ${short.slice(0, 3).join(" and ")}, then call again.`;
}

function answeredErrorCode(method: string, code: number) {
  if (method !== "tools/call" || code === McpCode.ParseError) return "PROTOCOL_ERROR";
  return code === McpCode.InvalidParams ? "INVALID_ARGUMENTS" : "TOOL_FAILED";
}

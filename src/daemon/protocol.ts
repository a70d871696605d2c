/**
 * The daemon's protocol: JSON over HTTP, on a socket that only its user can reach. Responses have a content-length, except
 * those with progress.
 *
 * - `POST /call` with a `CallRequest` calls a tool: `{"value"}`, the value that code in the sandbox would get. `via` is the
 *   mark of the text from which the caller learned about it, see `registry/hooks.ts`.
 * - `POST /call` with a `WrittenCall` calls a tool as it is written on a command line: `{"server", "tool", "result"}`, with the
 *   tool's original name and the server's result. With `progress`, the response is one JSON text per line: `{"progress"}` for
 *   each progress notification of the server, and last the usual response.
 * - `GET /status` returns `Status`.
 * - `GET /servers`, upgraded to a WebSocket, connects to one held server. The first message is `{"open": OpenRequest}`. The
 *   daemon answers `{"opened": {"pid"}}`, or `{"refused": …}` with an error, and then nothing was done. All further messages are
 *   MCP, one per text. The daemon's last message is `{"end": PortEnd}`.
 * - `POST /stop` with `{"now"?: true}` returns `{"calls"}`, the number of running calls. The daemon takes no more calls and ends
 *   when they are done. With `now`, it aborts them.
 *
 * An error is `{"error", "code", "suggestion"?}`, with a code of `errors.ts` and a fitting HTTP status. Two codes say that
 * nothing was done, and that the caller must ask or start the next daemon: LEAVING (this daemon is ending) and OUTDATED (the
 * header `claudikins-version` names a newer version, so this daemon ends now). Two codes refuse to open a server: UNLIKE (the
 * daemon's config has another entry of this name) and UNHELD (the server is not running, and must not be started).
 */
import type { Environment } from "../config/environment.ts";
import type { ErrorCode } from "../errors.ts";
import type { ToolCall } from "../execution/call.ts";
import type { Given } from "../execution/call-arguments.ts";
import type { HeldFacts } from "./held/held-servers.ts";

export interface CallRequest {
  server: string;
  tool: string;
  args: Record<string, unknown>;
  /** Words of a command line, instead of `args`. */
  given?: Given[];
  via?: unknown;
  /** The working directory of servers that name none. Default: the folder of the config file. */
  cwd?: string;
  /** The caller's session. Servers that are not shared are started once for each session. */
  session?: string;
}

/** See `execution/call.ts` for the call, and `CallRequest` for the rest. */
export interface WrittenCall extends ToolCall {
  progress?: boolean;
  cwd?: string;
  session?: string;
}

/** The session of calls that name none: all shells share it. */
export const shellSession = "shell";

/** The session that the environment of a shell names, or the one that all shells share. */
export function shellSessionOf(env: Environment): string {
  return env["CLAUDIKINS_SESSION"] || shellSession;
}

export interface OpenRequest {
  /** The caller's version. An older daemon ends to make room for a newer one. */
  version: string;
  server: string;
  /** The mark of the server's entry in the caller's config, see `entryMark`. */
  entry: string;
  /** The working directory of a server that names none, and the environment of its process. */
  cwd: string;
  env: Record<string, string>;
  /** The caller's capabilities, as in MCP's `initialize`. */
  capabilities: object;
  /** The caller's session. Servers that are not shared are started once for each session. */
  session: string;
  /** The session ends with the caller's process. */
  isShort: boolean;
  /** Use the server only if it is already running. */
  startsNothing: boolean;
}

/** The content type of answers with progress. */
export const jsonLines = "application/jsonl";

export interface Status {
  pid: number;
  version: string;
  /** The config file; null for the demo. */
  config: string | null;
  /** Milliseconds since 1970. */
  startedAt: number;
  calls: { running: number; done: number };
  /** The state of each server in words, by name. */
  servers: Record<string, string>;
  /** The running processes. */
  held: HeldFacts[];
}

export type ProblemCode = ErrorCode | "LEAVING" | "OUTDATED" | "UNLIKE" | "UNHELD";

/** Whether the daemon is ending and has done nothing, so that the next daemon must be asked. */
export function isLeaving(code: unknown): boolean {
  return code === "LEAVING" || code === "OUTDATED";
}

/** The HTTP status that is closest to the code. */
export function httpStatusOf(code: ProblemCode): number {
  const statuses: Partial<Record<ProblemCode, number>> = {
    USAGE: 400,
    INVALID_ARGUMENTS: 400,
    AUTH_REQUIRED: 401,
    POLICY_DENIED: 403,
    SERVER_NOT_FOUND: 404,
    TOOL_NOT_FOUND: 404,
    OUTDATED: 409,
    TOOL_FAILED: 422,
    SERVER_UNAVAILABLE: 502,
    PROTOCOL_ERROR: 502,
    LEAVING: 503,
    UNLIKE: 409,
    UNHELD: 404,
    CALL_TIMEOUT: 504,
  };
  return statuses[code] ?? 500;
}

/** Whether `version` is older than `than`. Only the numbers count. */
export function isOlder(version: string, than: string): boolean {
  const numbers = (text: string) => (/^\d+(?:\.\d+)*/.exec(text)?.[0] ?? "0").split(".").map(Number);
  const [mine, other] = [numbers(version), numbers(than)];
  for (let place = 0; place < Math.max(mine.length, other.length); place++) {
    const difference = (mine[place] ?? 0) - (other[place] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/**
 * What a daemon is asked and answers: JSON over HTTP, on a socket that only its user can reach. Answers have a
 * content-length, unless they were asked to come with progress.
 *
 * - `POST /call` with a `CallRequest` calls a tool: `{"value"}`, as code in the sandbox gets it. `via` is
 *   where its caller has read of it, as a mark of `registry/hooks.ts`.
 * - `POST /call` with a `WrittenCall` calls a tool as it is written on a command line: `{"server", "tool", "result"}`, its own
 *   name and the result as it came. With `progress` the answer is JSON in lines: `{"progress"}`, in words, as often as the
 *   server says how far it is, and last what it would have been without.
 * - `GET /status` → `Status`.
 * - `GET /servers`, upgraded to a WebSocket, is the way to one server, held for all who want it. The first message is
 *   `{"open": OpenRequest}`, answered with `{"opened": {"pid"}}`, or with `{"refused": …}` as below: then nothing was done. What
 *   follows in both directions are the messages of MCP, one text each; the daemon's last is `{"end": PortEnd}`.
 * - `POST /stop` with `{"now"?: true}` → `{"calls"}`, how many are running: it takes no more, and ends when these are done;
 *   with `now` they are broken off.
 *
 * What goes wrong is `{"error", "code", "suggestion"?}`, with the codes of `errors.ts` and a status that fits. Two codes
 * say that nothing was done, and that the next daemon is to be asked, or started: LEAVING (it is ending), and OUTDATED
 * (the header `claudikins-version` names a newer version than its own; it is ending now). Two more are answers to an
 * opening: UNLIKE (the daemon has another entry of this name), and UNHELD (it does not run, and is not to be started).
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
  /** In the place of `args`: words of a command line. */
  given?: Given[];
  via?: unknown;
  /** The working directory of servers that name none; without it the config file's folder. */
  cwd?: string;
  /** Whose call it is: a server that is not shared is one for each. */
  session?: string;
}

/** See `execution/call.ts`, and for the rest `CallRequest`. */
export interface WrittenCall extends ToolCall {
  progress?: boolean;
  cwd?: string;
  session?: string;
}

/** Of calls that name none: those of all shells. */
export const shellSession = "shell";

/** Of a command of a shell: the one that its environment names, or that of all shells. */
export function shellSessionOf(env: Environment): string {
  return env["CLAUDIKINS_SESSION"] || shellSession;
}

export interface OpenRequest {
  /** Of whoever asks; an older daemon makes room for a newer one. */
  version: string;
  server: string;
  /** What the asker has for the server in its config, as `entryMark` marks it. */
  entry: string;
  /** The working directory of a server that names none, and what it is started with. */
  cwd: string;
  env: Record<string, string>;
  /** What the asker says it can do, as in MCP's `initialize`. */
  capabilities: object;
  /** Whose use it is: a server that is not shared is one for each. */
  session: string;
  /** The session is this one process, and ends with it. */
  isShort: boolean;
  /** Only where it runs already. */
  startsNothing: boolean;
}

/** The content type of an answer that comes with progress. */
export const jsonLines = "application/jsonl";

export interface Status {
  pid: number;
  version: string;
  /** The config file; null for the demo. */
  config: string | null;
  /** Milliseconds since 1970. */
  startedAt: number;
  calls: { running: number; done: number };
  /** By name, how each of them is, in words. */
  servers: Record<string, string>;
  /** Programs that it has started. */
  held: HeldFacts[];
}

export type ProblemCode = ErrorCode | "LEAVING" | "OUTDATED" | "UNLIKE" | "UNHELD";

/** HTTP's words for a failure; the code says it exactly. */
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

/** Whether the first of two versions comes before the second; what follows the three numbers does not count. */
export function isOlder(version: string, than: string): boolean {
  const numbers = (text: string) => (/^\d+(?:\.\d+)*/.exec(text)?.[0] ?? "0").split(".").map(Number);
  const [mine, other] = [numbers(version), numbers(than)];
  for (let place = 0; place < Math.max(mine.length, other.length); place++) {
    const difference = (mine[place] ?? 0) - (other[place] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

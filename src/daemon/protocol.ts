/**
 * The daemon's protocol: JSON over HTTP, on a socket or pipe that only its user can reach. Each connection carries one request, whose body
 * and answer have a content-length. Processes of other versions of claudikins use it too: a running agent, generated files, and executables
 * that an upgrade has kept. The requests are defined in `messages.ts`.
 *
 * - `POST /call` with a `DaemonCallRequest` calls a tool: `{"value"}`, the value that code in the sandbox would get. `via` is the
 *   mark of the text from which the caller learned about it, see `tools/registry/hooks.ts`. `env` is the caller's environment, for servers
 *   that start now.
 * - `POST /call` with a `WrittenCall` calls a tool as it is written on a command line: `{"server", "tool", "result"}`, with the
 *   tool's original name and the server's result.
 * - `GET /status` returns `Status`.
 * - `GET /servers` with the header `upgrade: claudikins-messages` connects to one shared server. From the answer on, both sides send JSON
 *   texts, one per line. The first is `{"open": OpenServerRequest}`. The daemon answers `{"opened": {"pid"}}`, or `{"refused": …}` with an error,
 *   and then nothing was done. All further texts are messages of MCP. The daemon's last one is `{"end": PortEnd}`.
 * - `POST /executions` with `{"source", "limits"?, "check"?}` runs a program in the background: `{"id"}`, once it is stored. In place of `source`,
 *   `program` and `input` name a saved program, and `again` an execution whose code is run again. With `dryRun`, it is a dry run. `isFromPage` says that it
 *   was written on the page, and `codeOf` names the execution whose code was opened there.
 * - `POST /restart` with `{"server"}` ends the processes of a server and starts it again: `{"ended", "tools"}`, both numbers.
 * - `POST /relist` with `{"server"}` makes all users of the server's processes list its tools again, as after a change that it has announced: `{"told"}`,
 *   the number of processes. Definitions may have been accepted since.
 * - `POST /run` with `{"id"?, "source", "limits"?, "check"?}` runs a program while the caller waits: `{"outcome", "value"?, "folders"}`, the stored
 *   form of the outcome and the folders of the config. A caller that is gone cancels it. EXECUTION_WAITS says that it waits for a decision elsewhere.
 * - `POST /cancel` with `{"id"}` cancels such a program, whose caller still gets the outcome: `{"cancelled": boolean}`.
 * - `POST /adopt` with `{"executions"?: ids}` continues executions that no process runs: the given ones, and all whose ids callers have. It
 *   returns the ids of executions that run here now: `{"executions"}`.
 * - `POST /ui` with `{"file"?: true}` opens the page of `claudikins ui` on a port of this machine: `{"port", "path", "token", "file"?}`. The
 *   token works once. The file leads a browser to the page, and exists until the token was used or is no longer valid.
 * - `POST /stop` with `{"now"?: true}` returns `{"calls"}`, the number of running calls. The daemon takes no more calls and ends
 *   when they are done. With `now`, it aborts them.
 *
 * An error is `{"error", "code", "suggestion"?}`, with a code of `errors.ts` and a fitting HTTP status. Two codes say that
 * nothing was done, and that the caller must ask or start the next daemon: LEAVING (this daemon is ending) and OUTDATED (the
 * header `claudikins-version` names a newer version, so this daemon ends now). Two codes refuse to open a server: UNLIKE (the
 * daemon's config has another entry of this name) and UNHELD (the server is not running, and must not be started).
 */

import type { ErrorCode } from "../base/errors.ts";
import { sha256 } from "../base/sha256.ts";
import type { Environment } from "../config/environment.ts";
import type { ServerConfig } from "../config/load.ts";
import type { SharedFacts } from "./shared/shared-servers.ts";

/** The session of calls that name none: all shells share it. */
export const shellSession = "shell";

/** The session that the environment of a shell names, or the one that all shells share. */
export function shellSessionOf(env: Environment): string {
  return env["CLAUDIKINS_SESSION"] || shellSession;
}

/**
 * A digest of a server's entry. Two processes compare it to find out whether their entries are equal, without revealing secrets. The order
 * of the keys does not matter.
 */
export function entryMark({ policy: _, view: __, own: ___, edits: ____, door: _____, ...entry }: ServerConfig): string {
  const sorted = Object.entries(entry)
    .filter(([, value]) => value !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return sha256(JSON.stringify(sorted));
}

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
  /** Why servers cannot be called now, by name, with the words for the page, and the `entryMark` of the entry that failed. */
  problems: Record<string, { problem: string; onPage?: string | undefined; entry: string }>;
  /** The running processes. */
  held: SharedFacts[];
  /** Whether the page of `claudikins ui` is open. The daemon does not end meanwhile. */
  page: boolean;
  /** The memory of its process, without the processes of servers. Missing from daemons of earlier versions. */
  memoryBytes?: number;
}

export type ProblemCode = ErrorCode | "LEAVING" | "OUTDATED" | "UNLIKE" | "UNHELD";

/** The message of both codes with which a daemon reports that it is ending. */
export const leavingText = "This daemon is shutting down: nothing was done";

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
    SANDBOX_UNAVAILABLE: 502,
    PROTOCOL_ERROR: 502,
    LEAVING: 503,
    UNLIKE: 409,
    UNHELD: 404,
    CALL_TIMEOUT: 504,
  };
  return statuses[code] ?? 500;
}

/**
 * What a daemon is asked and answers: JSON over HTTP, on a socket that only its user can reach. Answers have a
 * content-length.
 *
 * - `POST /call` with `{"server", "tool", "args"?, "via"?}` calls a tool: `{"value"}`, as code in the sandbox gets it. `via` is
 *   where its caller has read of it, as a mark of `registry/hooks.ts`.
 * - `GET /status` → `Status`.
 * - `POST /stop` with `{"now"?: true}` → `{"calls"}`, how many are running: it takes no more, and ends when these are done;
 *   with `now` they are broken off.
 *
 * What goes wrong is `{"error", "code", "suggestion"?}`, with the codes of `errors.ts` and a status that fits. Two codes
 * say that nothing was done, and that the next daemon is to be asked, or started: LEAVING (it is ending), and OUTDATED
 * (the header `claudikins-version` names a newer version than its own; it is ending now).
 */
import type { ErrorCode } from "../errors.ts";

export interface CallRequest {
  server: string;
  tool: string;
  args: Record<string, unknown>;
  via?: unknown;
}

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
}

export type ProblemCode = ErrorCode | "LEAVING" | "OUTDATED";

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

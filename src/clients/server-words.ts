/** What a server said or did, as it stands in our errors. */
import type { ServerConfig } from "../config/load.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import type { NetworkFailure } from "./network-failure.ts";
import { ServerBusy } from "./server-busy.ts";
import { SignedOut } from "./signed-out.ts";
import type { Line } from "./transport.ts";

export const otherVersion = "Try another version of the server or of claudikins.";

/** A server's SDK and ours each put their own words before the server's. */
export function wordsOf(cause: unknown): string {
  return messageOf(cause).replace(/^(?:MCP error -?\d+: )+/, "");
}

/** The last lines of the server's stderr, under the message. */
export function lastWords(line: Line): string {
  const lines = line.lastWords();
  return lines.length > 0 ? `\n${lines.map((each) => `  | ${each}`).join("\n")}` : "";
}

export function unreachable(server: ServerConfig, failure: NetworkFailure): ClaudikinsError {
  const { code, message, hint, retryAfterMs, stands } = failure;
  const text = `Server "${server.name}" cannot be used: ${message}`;
  if (stands) return new SignedOut(text, { hint, why: message, stands });
  if (retryAfterMs !== undefined) return new ServerBusy(text, { hint, retryAfterMs });
  return new ClaudikinsError(code, text, { hint });
}

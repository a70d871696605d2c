/** Why a server did not start, or cannot be reached. */
import { ErrorCode as McpCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { ServerConfig } from "../config/load.ts";
import { ClaudikinsError, type ErrorCode, messageOf } from "../errors.ts";
import { NetworkFailure } from "./network-failure.ts";
import { noSuchMethod } from "./server-requests.ts";
import { lastWords, otherVersion, unreachable, wordsOf } from "./server-words.ts";
import type { Line } from "./transport.ts";

export function needsVariable(server: ServerConfig): ClaudikinsError {
  const names = server.needs.join(", ");
  return new ClaudikinsError("NEEDS_VARIABLE", `Server "${server.name}" needs ${names} in the environment`, {
    hint: `Set ${names} before starting claudikins, or add a default to the config: \${${server.needs[0]}:-value}.`,
  });
}

export function cancelledStart(server: ServerConfig, cause: unknown): ClaudikinsError {
  return new ClaudikinsError("CANCELLED", `Server "${server.name}" did not start: claudikins is closing`, { cause });
}

export function startFailure(server: ServerConfig, line: Line, isLate: boolean, cause: unknown): ClaudikinsError {
  if (cause instanceof ClaudikinsError && !isLate) {
    return new ClaudikinsError(cause.code, `Server "${server.name}" did not start: ${cause.message}`, cause);
  }
  const timedOut = isLate || (cause instanceof McpError && isOurTimeout(cause, server.startTimeoutMs));
  const silence = `it did not answer within ${server.startTimeoutMs / 1000} s`;
  if (server.url !== undefined) {
    const failure = cause instanceof NetworkFailure ? cause : line.failure();
    if (failure) return unreachable(server, failure);
    const { code, words } = timedOut ? { code: unavailable, words: silence } : firstAnswer(cause);
    return new ClaudikinsError(code, `Server "${server.name}" cannot be used: ${words}`, {
      hint: timedOut
        ? `Raise "startTimeoutMs" of "${server.name}" in the config, or check its "url".`
        : 'Check "url" and "type" in the config.',
    });
  }
  const ended = line.ended() && `${line.ended()}${line.lastWords().length === 0 ? " without output" : ""}`;
  const { code, words, hint } = timedOut
    ? {
        code: unavailable,
        words: silence,
        hint: `Raise "startTimeoutMs" of "${server.name}" in the config, or run its command by hand.`,
      }
    : ended
      ? { code: unavailable, words: ended, hint: "Run its command from the config by hand to see more." }
      : firstAnswer(cause);
  const text = `Server "${server.name}" did not start: ${words}${lastWords(line)}`;
  return new ClaudikinsError(code, text, { cause, hint });
}

const unavailable = "SERVER_UNAVAILABLE" as const;

/** What was wrong with the answer to `initialize`. */
function firstAnswer(cause: unknown): { code: ErrorCode; words: string; hint: string } {
  const hint = "Run its command by hand to check that it is an MCP server.";
  if (cause instanceof z.core.$ZodError) return { code: "PROTOCOL_ERROR", words: "its first answer is not MCP", hint };
  if (cause instanceof McpError && wordsOf(cause) === noSuchMethod("initialize")) {
    return { code: "PROTOCOL_ERROR", words: "it echoes its input", hint };
  }
  if (cause instanceof McpError) {
    return { code: unavailable, words: `its first answer is an error: ${wordsOf(cause)}`, hint };
  }
  // What the SDK itself objects to is the version.
  return { code: "PROTOCOL_ERROR", words: messageOf(cause).replace(/^Server's /, "its "), hint: otherVersion };
}

/** Servers may answer with the SDK's code for it as well. */
function isOurTimeout({ code, data }: McpError, timeoutMs: number): boolean {
  return code === McpCode.RequestTimeout && (data as { timeout?: unknown } | undefined)?.timeout === timeoutMs;
}

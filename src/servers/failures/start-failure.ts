/** Errors that say why a server did not start, or cannot be reached. */

import { ProtocolError, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { durationText } from "../../base/duration.ts";
import { ClaudikinsError, type ErrorCode, messageOf, systemCodeOf } from "../../base/errors.ts";
import type { Environment } from "../../config/environment.ts";
import { type ServerConfig, unfilledText } from "../../config/load.ts";
import type { EntryMistake } from "../../config/parse.ts";
import type { Channel } from "../connection/channel.ts";
import { noSuchMethod } from "../connection/questions-of-server.ts";
import { mistakenState } from "../state.ts";
import { missingModule } from "./missing-module.ts";
import { NetworkFailure } from "./network-failure.ts";
import { ServerFailure, type ServerFailureDetails, SignedOut } from "./server-failure.ts";

export const otherVersion = "Try another version of the server or of claudikins.";

export function needsVariable(server: ServerConfig): ClaudikinsError {
  const names = server.needs.join(", ");
  return new ClaudikinsError("NEEDS_VARIABLE", `Server "${server.name}" needs ${names} in the environment`, {
    hint: `Set ${names} before starting claudikins, or add a default to the config: \${${server.needs[0]}:-value}.`,
  });
}

/** The error for a server whose entry in the config has mistakes. */
export function hasMistake(name: string, mistake: EntryMistake): ClaudikinsError {
  const { code, why, hint } = mistakenState(mistake, 0);
  return new ClaudikinsError(code, `Server "${name}" ${why}`, { hint });
}

export function cancelledStart(server: ServerConfig, cause: unknown): ClaudikinsError {
  return new ClaudikinsError("CANCELLED", `Server "${server.name}" did not start: claudikins is closing`, { cause });
}

export function unreachable(server: ServerConfig, failure: NetworkFailure): ClaudikinsError {
  const { code, message, hint, onPage, retryAfterMs, stands, isSignInSame } = failure;
  // Without a sign-in of ours, a person must correct the config.
  const lasting = lastingCodes.includes(code);
  if (!stands) return failed(server, code, `cannot be used: ${message}`, { hint, onPage, retryAfterMs, lasting });
  const details = { hint, why: message, stands, isSignInSame };
  return new SignedOut(`Server "${server.name}" cannot be used: ${message}`, details);
}

/** `env` is the environment that the server's process was given a part of. */
export function startFailure(
  server: ServerConfig,
  channel: Channel,
  { isLate, env }: { isLate: boolean; env: Environment },
  cause: unknown,
): ClaudikinsError {
  if (cause instanceof ClaudikinsError && !isLate) {
    // The system refuses to start its program, and would do so again, unless it was short of something.
    const isShort = shortages.includes(systemCodeOf(cause.cause) ?? "");
    const lasting = cause instanceof ServerFailure ? cause.facts.lasting : !isShort;
    const onPage = cause instanceof ServerFailure ? cause.facts.onPage : undefined;
    const details = { cause: cause.cause, hint: cause.hint, onPage, lasting };
    return failed(server, cause.code, `did not start: ${cause.message}`, details);
  }
  const timedOut = isLate || isOfSdk(cause, SdkErrorCode.RequestTimeout);
  const silence = `it did not answer within ${durationText(server.startTimeoutMs)}`;
  if (server.url !== undefined) {
    const failure = networkFailureIn(cause) ?? channel.failure();
    if (failure) return unreachable(server, failure);
    const { code, words } = timedOut ? { code: unavailable, words: silence } : firstAnswer(cause);
    return failed(server, code, `cannot be used: ${words}`, {
      lasting: lastingCodes.includes(code),
      hint: timedOut
        ? `Raise "startTimeoutMs" of "${server.name}" in the config, or check its "url".`
        : 'Check "url" and "type" in the config.',
      onPage: timedOut ? 'Raise "Time to start", or check its address.' : "Check its address.",
    });
  }
  const ended = channel.ended() && `${channel.ended()}${channel.lastWords().length === 0 ? " without output" : ""}`;
  const { code, words, hint, onPage } = timedOut
    ? {
        code: unavailable,
        words: silence,
        hint: `Raise "startTimeoutMs" of "${server.name}" in the config, or run its command by hand.`,
        onPage: 'Raise "Time to start", or look at its log.',
      }
    : ended
      ? {
          code: unavailable,
          words: ended,
          hint: "Run its command from the config by hand to see more.",
          onPage: "Check its command, and look at its log.",
        }
      : { ...firstAnswer(cause), onPage: undefined };
  const lines = channel.lastWords();
  const module = ended ? missingModule(lines, server) : undefined;
  const variable = module ? undefined : missingVariableHint(lines, server, (name) => env[name] !== undefined);
  const unfilled = unfilledText(server);
  const around = [server.box && hiddenFiles, unfilled && `${unfilled}.`];
  const step = module ? module.onPage : variable ? variable.onPage : onPage;
  const details = {
    cause,
    hint: [module?.hint ?? variable?.hint ?? hint, ...around].filter(Boolean).join(" "),
    onPage: step && [step, ...around].filter(Boolean).join(" "),
    lasting: module !== undefined || variable !== undefined || lastingCodes.includes(code),
    missing: module?.path,
    said: module ? undefined : tellingLine(lines),
  };
  return failed(server, code, `did not start: ${module?.why ?? words}`, details, module ? "" : lastWords(channel));
}

const hiddenFiles = 'If its sandbox hides a file that it needs, name the file in "read" of "sandbox".';

/** Codes of the system for too many processes or files, and too little memory. */
const shortages = ["EAGAIN", "EMFILE", "ENFILE", "ENOMEM"];

/** Codes of failures that another attempt meets again. */
const lastingCodes: readonly ErrorCode[] = ["AUTH_REQUIRED", "CONFIG_INVALID", "PROTOCOL_ERROR"];

/** The last line that speaks of a failure, or else the last line. */
function tellingLine(lines: readonly string[]): string | undefined {
  return (
    lines.findLast((line) => /error|fatal|fail|cannot|could not|missing|denied|refused|invalid|not /i.test(line)) ??
    lines.at(-1)
  );
}

/** The SDK wraps failures of its first request in the newer era. */
export function networkFailureIn(cause: unknown): NetworkFailure | undefined {
  const inner = cause instanceof SdkError ? cause.cause : cause;
  return inner instanceof NetworkFailure ? inner : undefined;
}

const unavailable = "SERVER_UNAVAILABLE" as const;

function failed(
  { name }: ServerConfig,
  code: ErrorCode,
  why: string,
  details: Omit<ServerFailureDetails, "why">,
  output = "",
): ServerFailure {
  return new ServerFailure(code, `Server "${name}" ${why}${output}`, { ...details, why });
}

/** The last lines of the server's stderr, to be appended to a message. */
export function lastWords(channel: Channel): string {
  const lines = channel.lastWords();
  return lines.length > 0 ? `\n${lines.map((each) => `  | ${each}`).join("\n")}` : "";
}

/** The server's own message: its SDK may have put a prefix before it. */
export function wordsOf(cause: unknown): string {
  return messageOf(cause).replace(/^(?:MCP error -?\d+: )+/, "");
}

/** What was wrong with the answer to `initialize`. */
function firstAnswer(cause: unknown): { code: ErrorCode; words: string; hint: string } {
  const hint = "Run its command by hand to check that it is an MCP server.";
  if (isOfSdk(cause, SdkErrorCode.InvalidResult))
    return { code: "PROTOCOL_ERROR", words: "its first answer is not MCP", hint };
  if (isEcho(cause)) {
    return { code: "PROTOCOL_ERROR", words: "it echoes its input", hint };
  }
  if (cause instanceof ProtocolError || cause instanceof SdkError) {
    return { code: unavailable, words: `its first answer is an error: ${wordsOf(cause)}`, hint };
  }
  // The SDK's own objection is to the version of the protocol.
  return { code: "PROTOCOL_ERROR", words: messageOf(cause).replace(/^Server's /, "its "), hint: otherVersion };
}

/** Whether the answer to `initialize` is our own answer to the echoed request. */
export function isEcho(cause: unknown): boolean {
  return cause instanceof ProtocolError && wordsOf(cause) === noSuchMethod("initialize");
}

function isOfSdk(cause: unknown, code: SdkErrorCode): boolean {
  return cause instanceof SdkError && cause.code === code;
}

/** What programs say when they do not trust a certificate. */
const untrusted =
  /SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERTIFICATE_VERIFY_FAILED|self[- ]signed certificate|unable to get local issuer certificate/i;

/** What programs say when they cannot open a window. */
const noDisplay = /cannot open display|Missing X server|\$DISPLAY|no DISPLAY environment|without having a XServer/i;

/** A line about a missing variable names it in capitals. */
const missing =
  /\b(?:missing|required|requires?|not set|unset|undefined|not defined|not found|must be|needs?|provide|set)\b/i;
const variable = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g;

/** `lines` are the last ones of the server's output. `has` says whether a variable is set here. Undefined if no variable explains them. */
export function missingVariableHint(
  lines: readonly string[],
  { name, ...server }: ServerConfig,
  has: (variable: string) => boolean,
): { hint: string; onPage?: string } | undefined {
  if (server.url !== undefined) return undefined;
  const text = lines.join("\n");
  if (untrusted.test(text)) {
    const certificates = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"].filter((each) => !has(each));
    if (certificates.length === 0) return undefined;
    const hint = `It does not trust a certificate. If your network has a certificate of its own, set ${certificates.join(" or ")} to its file before starting claudikins.`;
    return { hint };
  }
  if (noDisplay.test(text) && !has("DISPLAY")) {
    return {
      hint: "It opens a window, and DISPLAY is not set where claudikins was started. Start it without a window, or set DISPLAY.",
    };
  }
  const names = lines.flatMap((line) => (missing.test(line) ? (line.match(variable) ?? []) : []));
  const found = [...new Set(names)].find((each) => server.env[each] === undefined);
  if (found === undefined) return undefined;
  return has(found)
    ? {
        hint: `${found} is set, but "${name}" does not get it. Add "inherit": ["${found}"] to its entry in the config.`,
        onPage: `${found} is set, but "${name}" does not get it. Add it to its variables as \${${found}}.`,
      }
    : {
        hint: `It asks for ${found}. Set it in "env" of "${name}" in the config, or set it before starting claudikins and add "inherit": ["${found}"].`,
        onPage: `It asks for ${found}. Add it to its variables.`,
      };
}

/** Texts about sign-ins: the commands, the failures, and messages of authorization servers. */
import { ClaudikinsError } from "../../errors.ts";
import { shellWord } from "../../shell-word.ts";
import { withoutControls } from "../../visible-text.ts";
import { NetworkFailure } from "../network-failure.ts";

/** The command as it is typed in a shell. */
export function loginCommand(server: string): string {
  return `claudikins auth login ${shellWord(server)}`;
}

export function logoutCommand(server: string): string {
  return `claudikins auth logout ${shellWord(server)}`;
}

/** An authorization server refused a request. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly status: number;
  /** The error code of RFC 6749, such as `invalid_grant`. */
  readonly error: string | undefined;

  constructor(status: number, error: string | undefined, message: string) {
    super(message);
    this.status = status;
    this.error = error;
  }
}

/** A message of an authorization server as a short line. Values that were sent to it are masked. */
export function shortLine(text: string, secrets: Iterable<string> = []): string {
  // Spaces stay as they are until secrets are replaced, because a secret may contain several.
  let line = withoutControls(text).trim();
  for (const secret of secrets) {
    const spellings = [secret, encodeURIComponent(secret), new URLSearchParams([["", secret]]).toString().slice(1)];
    for (const spelling of spellings) if (spelling !== "") line = line.replaceAll(spelling, "…");
  }
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}

/** The authorization server has a problem or cannot be reached. The sign-in is kept. */
export function unavailable(message: string): NetworkFailure {
  return new NetworkFailure(message, { hint: "Try again later. Nothing was lost." });
}

/** The authorization server violated OAuth. */
export function notOAuth(message: string): NetworkFailure {
  return new NetworkFailure(message, {
    code: "PROTOCOL_ERROR",
    hint: 'Report this to its operator, or add a token to its "headers" in the config.',
  });
}

/** Nobody waits for the sign-in any more. */
export function cancelled(): ClaudikinsError {
  return new ClaudikinsError("CANCELLED", "the sign-in was cancelled");
}

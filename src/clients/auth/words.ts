/** What is said of sign-ins: the command that repairs them, and what an authorization server said, on one line. */
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

/** An authorization server did not give what it was asked for. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly status: number;
  /** As RFC 6749 names it: `invalid_grant`. */
  readonly error: string | undefined;

  constructor(status: number, error: string | undefined, message: string) {
    super(message);
    this.status = status;
    this.error = error;
  }
}

/** A short line of what somebody else wrote, without what we had sent there. */
export function shortLine(text: string, secrets: Iterable<string> = []): string {
  // Spaces stay as they are until secrets are replaced, because a secret may contain several.
  let line = withoutControls(text).trim();
  for (const secret of secrets) {
    const spellings = [secret, encodeURIComponent(secret), new URLSearchParams([["", secret]]).toString().slice(1)];
    for (const spelling of spellings) if (spelling !== "") line = line.replaceAll(spelling, "…");
  }
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}

/** Its authorization server is in trouble, or cannot be reached: nothing is lost. */
export function unavailable(message: string): NetworkFailure {
  return new NetworkFailure(message, { hint: "Try again later. Nothing was lost." });
}

/** What it sent is not what OAuth says. */
export function notOAuth(message: string): NetworkFailure {
  return new NetworkFailure(message, {
    code: "PROTOCOL_ERROR",
    hint: 'Report this to its operator, or add a token to its "headers" in the config.',
  });
}

/** Whoever waited for it does so no more. */
export function cancelled(): ClaudikinsError {
  return new ClaudikinsError("CANCELLED", "the sign-in was cancelled");
}

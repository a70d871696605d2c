/** Texts about sign-ins: the commands, the failures, and messages of authorization servers. */
import { ClaudikinsError } from "../../base/errors.ts";
import { shellWord } from "../../base/shell-word.ts";
import { oneLine } from "../../base/visible-text.ts";
import { NetworkFailure } from "../failures/network-failure.ts";
import type { CredentialOwner } from "./credentials.ts";

/** The command as it is typed in a shell. */
export function loginCommand(server: string): string {
  return `claudikins auth login ${shellWord(server)}`;
}

/** What a person does to sign in: the command, or for a person's own credentials the page. */
export function signInHint(server: string, owner: CredentialOwner | undefined): string {
  if (!owner) return loginCommand(server);
  const page = owner.pageFor(server);
  return page === undefined
    ? `${owner.name} must call it from an agent at claudikins serve --http first, and sign in there.`
    : `${owner.name} must open ${page} in a browser and sign in, then call again.`;
}

export function logoutCommand(server: string): string {
  return `claudikins auth logout ${shellWord(server)}`;
}

/** An authorization server refused a request. */
export class AuthorizationRefused extends Error {
  override readonly name = "AuthorizationRefused";
  /** The error code of RFC 6749, such as `invalid_grant`. */
  readonly error: string | undefined;

  constructor(error: string | undefined, message: string) {
    super(message);
    this.error = error;
  }
}

/** Whether an error can be passed on. Errors of the SDK contain responses of the authorization server. */
export function isOurs(error: unknown): boolean {
  return error instanceof NetworkFailure || error instanceof ClaudikinsError;
}

/** A message of an authorization server as a short line. Values that were sent to it are masked. */
export function shortLine(text: string, secrets: Iterable<string> = []): string {
  let line = text;
  for (const secret of secrets) {
    const spellings = [secret, encodeURIComponent(secret), new URLSearchParams([["", secret]]).toString().slice(1)];
    for (const spelling of spellings) if (spelling !== "") line = line.replaceAll(spelling, "…");
  }
  return oneLine(line, 200);
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

/** Secrets would be sent without encryption. */
export function withoutTls({ origin }: URL): NetworkFailure {
  return new NetworkFailure(`its authorization server does not use TLS (${origin})`, {
    code: "PROTOCOL_ERROR",
    hint: "Ask its operator for an https:// address: signing in without TLS is unsafe.",
  });
}

/** The caller has given up the sign-in. */
export function cancelled(): ClaudikinsError {
  return new ClaudikinsError("CANCELLED", "the sign-in was cancelled");
}

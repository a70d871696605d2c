/** Failures of connections to servers on the network. Their texts contain no secrets: no path, query, userinfo or header. */
import { waitText } from "../../base/duration.ts";
import { type ErrorCode, systemCodeOf } from "../../base/errors.ts";

/** Has no cause on purpose: errors of `fetch` and the SDK contain URLs and response bodies. */
export class NetworkFailure extends Error {
  override readonly name = "NetworkFailure";
  readonly code: ErrorCode = "SERVER_UNAVAILABLE";
  readonly hint: string;
  /** See FailureFacts. */
  readonly onPage: string | undefined;
  /** The connection cannot be used any more. The next call needs a new one. */
  readonly isGone: boolean = false;
  /** The request was refused unread, so it can be sent again. */
  readonly isUnsent: boolean = false;
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** The server's `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** A person must sign in, or correct the config. */
  readonly needsSignIn: boolean = false;
  /** For a server that requires a sign-in: whether asking it again would fail again. */
  readonly stands: (() => boolean) | undefined;
  /** For such a server: false once the user has signed in. */
  readonly isSignInSame: (() => boolean) | undefined;

  /** The message continues "Server x cannot be used: ". */
  constructor(message: string, details: FailureDetails) {
    super(message);
    this.hint = details.hint;
    Object.assign(this, details);
  }
}

type FailureDetails = { hint: string } & Partial<Omit<NetworkFailure, keyof Error | "hint">>;

const correctUrl = 'Correct "url" in the config';

/** There was no response. `error` was thrown by `fetch`, and its code tells why. */
export function noAnswer(error: unknown, url: URL): NetworkFailure {
  const code = systemCodeOf(error) ?? "";
  const gone = (message: string, hint: string) => new NetworkFailure(message, { hint, isGone: true });
  switch (code) {
    case "ECONNREFUSED":
      return gone(`nothing listens at ${url.origin}`, 'Start it, or correct "url" in the config.');
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "EAI_NONAME":
      return gone(`host ${url.hostname} was not found`, `${correctUrl}, or check this machine's network.`);
    case "EPROTO":
      return gone(`${url.origin} does not speak TLS`, `To connect without TLS, use ${plainScheme(url)} in "url".`);
    case "ECONNRESET":
      // Only this request took too long; the server may work.
      return new NetworkFailure(`${url.origin} closed the connection without an answer`, {
        hint: "Try again, or check its logs.",
      });
    case "ETIMEDOUT":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return gone(`there is no route to ${url.origin} (${code})`, "Check this machine's network, VPN and proxy.");
    case "Malformed_HTTP_Response":
      return gone(`${url.origin} does not speak HTTP`, `${correctUrl}: another program uses its port.`);
    case "ZlibError":
    case "BrotliDecompressionError":
    case "ZstdDecompressionError":
      return new NetworkFailure(`cannot decompress the response of ${url.origin} (${code})`, {
        code: "PROTOCOL_ERROR",
        hint: "Check for a proxy that alters it, or tell the server's operator.",
      });
    default:
      return /CERT|SELF_SIGNED|ISSUER|SIGNATURE|ALTNAME/.test(code)
        ? gone(
            `the certificate of ${url.origin} is not trusted (${code})`,
            "To trust your own authority, set NODE_EXTRA_CA_CERTS to its certificate file.",
          )
        : gone(`cannot connect to ${url.origin}${code === "" ? "" : ` (${code})`}`, `${correctUrl}, or try again.`);
  }
}

const plainScheme = (url: URL) => (url.protocol === "wss:" ? "ws://" : "http://");

interface SentRequest {
  /** Whether credentials were sent. */
  hasToken: boolean;
  /** Whether the request belonged to a session. */
  hasSession?: boolean;
  /** From the `Retry-After` header, in milliseconds. */
  retryAfterMs?: number | undefined;
}

/** The response has an error status. */
export function refusal(status: number, { hasToken, hasSession = false, retryAfterMs }: SentRequest): NetworkFailure {
  const failed = (message: string, hint: string, more: Partial<FailureDetails> = {}) =>
    new NetworkFailure(`${message} (${status})`, { hint, status, ...more });
  if (status === 401 || status === 403) {
    const hint = hasToken
      ? 'Put a valid token with the required rights in "headers" or "url" in the config.'
      : 'Add a token to the config: "headers": { "Authorization": "Bearer ${TOKEN}" }.';
    return failed(status === 401 ? "it needs a sign-in" : "it denied access", hint, { code: "AUTH_REQUIRED" });
  }
  if (status === 404 && hasSession) return sessionEnded(status, { isUnsent: true });
  if (status === 400 && hasSession) return failed("it refused the request", "Check its logs.");
  if (status === 404) return failed("it found nothing at this address", `${correctUrl}, most likely its path.`);
  if (status === 405) {
    return failed("it does not accept MCP at this address", `${correctUrl}; for an older server, set "type": "sse".`);
  }
  if (status === 429 || status === 503) {
    const what = status === 429 ? "it received too many requests" : "it is not accepting requests";
    const when = retryAfterMs === undefined ? "" : `; retry after ${waitText(retryAfterMs)}`;
    const hint = `Wait ${when === "" ? "a moment" : "that long"}${status === 429 ? ", and make fewer calls at once" : ""}.`;
    return new NetworkFailure(`${what} (${status})${when}`, { hint, status, retryAfterMs });
  }
  if (status >= 500)
    return failed("it failed", "Try again later. The fault is in the server or a proxy in front of it.");
  if (status >= 300 && status < 400) {
    return failed(
      "it redirects elsewhere, and claudikins does not follow it there",
      `${correctUrl}: use the final address.`,
    );
  }
  return failed("it refused the request", `${correctUrl}, "headers" or "type".`);
}

/** The server does not know the session any more. */
export function sessionEnded(status: number, { isUnsent }: { isUnsent: boolean }): NetworkFailure {
  const hint = "Call again to open a new one.";
  return new NetworkFailure(`its session has ended (${status})`, { hint, status, isGone: true, isUnsent });
}

/** The response is not MCP. `mediaType` is its content type. */
export function notMcp(mediaType: string | null): NetworkFailure {
  const known = /^[\w.+-]+\/[\w.+-]+/.exec(mediaType ?? "")?.[0];
  const what =
    known === "text/html" ? "a web page" : known === "application/json" ? "invalid JSON" : (known ?? "nothing");
  return new NetworkFailure(`it returned ${what} instead of MCP`, {
    code: "PROTOCOL_ERROR",
    hint: `${correctUrl}, most likely its path.`,
    onPage: "Correct its address, most likely the path.",
  });
}

/** The message cannot be parsed. */
export function unreadable(): NetworkFailure {
  return new NetworkFailure("its answer is not MCP", {
    code: "PROTOCOL_ERROR",
    hint: 'Check that "url" in the config is the address of an MCP server.',
    onPage: "Check that its address is the one of an MCP server.",
  });
}

/** A message exceeded the limit, such as "256 MB". `isGone` says that the connection was lost. */
export function tooLarge(limit: string, { isGone = false } = {}): NetworkFailure {
  return new NetworkFailure(`it sent more than ${limit} in one message`, {
    code: "PROTOCOL_ERROR",
    hint: "Ask for less in one call: claudikins does not read larger messages.",
    isGone,
  });
}

/** Marks an incomplete answer, to tell it apart from errors that servers return. */
export const brokeOff = Symbol("its answer was cut off");

/** An open stream or socket was closed. */
export function broken(what: string): NetworkFailure {
  return new NetworkFailure(what, { hint: "Call again to reconnect.", isGone: true });
}

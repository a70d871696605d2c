/** One sign-in: sends the user to the authorization page, waits for the redirect, and stores the tokens. */

import { waitText } from "../../base/duration.ts";
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import type { Environment } from "../../config/environment.ts";
import type { NetworkServer } from "../../config/load.ts";
import { unlessAborted } from "../../servers/abort.ts";
import type { CredentialStore } from "../../servers/auth/credentials.ts";
import type { DeviceSignIn } from "../../servers/auth/device.ts";
import { beginDeviceSignIn, beginSignIn, lastRedirect, noDeviceCodes } from "../../servers/auth/sign-in.ts";
import { RedirectListener, redirectPage } from "./redirect-listener.ts";

/** Brings the user to the authorization page, such as a terminal. */
export interface Guide {
  /**
   * Sends the user to `to`. Pasted text goes to `paste`, which returns the problem, if any. `ended` is aborted at the end of
   * the sign-in.
   */
  send(attempt: { to: URL; back: URL; paste(text: string): string | undefined; ended: AbortSignal }): void;
  /** Called for a redirect that belongs to another sign-in. This sign-in continues to wait. */
  stray(): void;
}

/** Shows the person the page of a sign-in by device code, and the code to enter there. */
export interface DeviceGuide {
  isRequired: boolean;
  showCode(shown: Pick<DeviceSignIn, "userCode" | "page" | "completePage">): void;
}

export interface SignInOptions {
  guide: Guide;
  /** Time limit for the user. */
  timeoutMs: number;
  /** Given for a sign-in by device code. If that is not offered and not required, the sign-in is done with a redirect. */
  device?: DeviceGuide | undefined;
  /** Return false instead of failing if the server offers no sign-in. */
  ifOffered?: boolean;
  signal: AbortSignal;
  /** The environment of this process, for the secrets of the server's entry. */
  env?: Environment | undefined;
}

/**
 * Asks the user only if needed. Returns false if the server offers no sign-in. Throws AUTH_REQUIRED if the sign-in failed or
 * timed out, CANCELLED, and what `beginSignIn` throws. The listener is always closed.
 */
export async function signIn(
  server: NetworkServer,
  credentials: CredentialStore,
  options: SignInOptions,
): Promise<boolean> {
  const { guide, timeoutMs, ifOffered = false, device, signal, env } = options;
  if (device) {
    const isDone = await signInByCode(server, credentials, device, options);
    if (isDone !== "not offered") return isDone;
    if (device.isRequired) throw noDeviceCodes(server.name);
  }
  const what = `The sign-in to "${server.name}"`;
  await using listener = new RedirectListener(portsFor(server, credentials));
  const beginning = beginSignIn(server, credentials, { redirectUrl: listener.url, signal, env });
  const begun = await unlessAborted(beginning, signal, what).catch((error) => {
    if (!ifOffered || signal.aborted || !(error instanceof ClaudikinsError)) throw error;
    return false as const;
  });
  if (!begun) return begun === undefined;
  const to = begun.authorizationUrl;
  const ended = new AbortController();
  const answer = Promise.withResolvers<void>();
  const timer = setTimeout(() => answer.reject(tooLate(server.name, timeoutMs)), timeoutMs);
  let finished: Promise<void> | undefined;
  /** Undefined for a redirect of another sign-in. Browsers may repeat the request, but a code is valid only once. */
  const take = (redirect: URL): Promise<void> | undefined => {
    if (redirect.searchParams.get("state") !== to.searchParams.get("state")) return undefined;
    finished ??= begun.finish(redirect);
    answer.resolve();
    return finished;
  };
  try {
    listener.onRedirect = (redirect) => {
      const taken = take(redirect);
      if (!taken) guide.stray();
      return pageOf(server.name, taken);
    };
    const paste = (text: string) => takePasted(text, { to, back: listener.url, take });
    guide.send({ to, back: listener.url, paste, ended: ended.signal });
    await unlessAborted(answer.promise, signal, what);
    clearTimeout(timer);
    await unlessAborted(finished ?? Promise.resolve(), signal, what);
    return true;
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
}

async function signInByCode(
  server: NetworkServer,
  credentials: CredentialStore,
  device: DeviceGuide,
  { timeoutMs, ifOffered = false, signal, env }: SignInOptions,
): Promise<boolean | "not offered"> {
  const what = `The sign-in to "${server.name}"`;
  const late = AbortSignal.timeout(timeoutMs);
  const ended = AbortSignal.any([signal, late]);
  const beginning = beginDeviceSignIn(server, credentials, { signal: ended, env });
  const begun = await unlessAborted(beginning, signal, what).catch((error) => {
    if (!ifOffered || signal.aborted || !(error instanceof ClaudikinsError)) throw error;
    return false as const;
  });
  if (typeof begun !== "object") return begun ?? true;
  device.showCode(begun);
  try {
    await unlessAborted(begun.finish(), signal, what);
    return true;
  } catch (error) {
    throw late.aborted && !signal.aborted ? tooLate(server.name, timeoutMs) : error;
  }
}

/** The problem with the pasted text; undefined if it was accepted. */
function takePasted(
  text: string,
  { take, ...attempt }: { to: URL; back: URL; take(redirect: URL): Promise<void> | undefined },
): string | undefined {
  const pasted = redirectIn(text, attempt);
  if ("problem" in pasted) return pasted.problem;
  const taken = take(pasted.redirect);
  if (!taken)
    return "That address belongs to another sign-in. Sign in at the address above, then paste the address that the browser shows at the end.";
  // A failure is reported to the caller that waits for the answer.
  taken.catch(() => {});
  return undefined;
}

/** The fixed port of a manually registered client, or else the last port, which the authorization server knows. */
function portsFor(server: NetworkServer, credentials: CredentialStore): number[] {
  const fixed = server.oauth ? server.oauth.callbackPort : undefined;
  if (fixed !== undefined) return [fixed];
  const last = Number(lastRedirect(server, credentials)?.port ?? 0);
  return last > 0 ? [last, 0] : [0];
}

async function pageOf(name: string, taken: Promise<void> | undefined): Promise<string> {
  const failed = (lines: string[]) => redirectPage({ mark: "failed", title: `Not signed in to ${name}`, lines });
  if (!taken) {
    return failed([
      "This response belongs to another sign-in, perhaps an earlier one.",
      "Close this window and sign in at the address shown in the terminal.",
    ]);
  }
  try {
    await taken;
    const lines = ["You can close this window and return to your terminal or agent."];
    return redirectPage({ mark: "done", title: `Signed in to ${name}`, lines });
  } catch (error) {
    return failed([messageOf(error), "You can close this window. The terminal shows what to do next."]);
  }
}

function tooLate(name: string, timeoutMs: number): ClaudikinsError {
  return new ClaudikinsError("AUTH_REQUIRED", `Nobody signed in to "${name}" within ${waitText(timeoutMs)}`, {
    hint: "Try again, and allow more time with --timeout, for example --timeout 15m.",
  });
}

/** Reads the address that the user copied from the browser after a sign-in. */

/** The redirect, or the problem with a hint for the user. */
type PastedRedirect = { redirect: URL } | { problem: string };

/** `back` is the redirect address, `to` the address where the user signs in. */
export function redirectIn(text: string, { back, to }: { back: URL; to: URL }): PastedRedirect {
  const pasted = text.replace(/^[\s"'`<“‘«]+|[\s"'`>”’»]+$/g, "");
  const problem = (what: string): PastedRedirect => ({
    problem: `${what} Paste the full address that the browser shows after the sign-in; it starts with ${back.href}`,
  });
  const address = addressIn(pasted, back);
  if (!address) {
    return /^[^\s:]{8,}$/.test(pasted)
      ? problem('A code alone is not enough: the "state" next to it ties it to this sign-in.')
      : problem("That is not an address.");
  }
  if (!isSame(address, back)) {
    const isBeginning = address.host === to.host && address.pathname === to.pathname;
    return problem(isBeginning ? "That is the address where the sign-in starts." : "That is a different address.");
  }
  const missing = !address.searchParams.has("code") && !address.searchParams.has("error") ? "code" : "state";
  if (missing === "code" || !address.searchParams.has("state")) {
    return problem(`It has no "${missing}": perhaps only part of it was copied.`);
  }
  return { redirect: new URL(address.search, back) };
}

/** Accepts an address without a scheme, and query parameters alone. */
function addressIn(pasted: string, back: URL): URL | undefined {
  const isParameters = /^\??(?:[\w.-]+=[^&]*&)*(?:code|error|state)=/.test(pasted);
  const address = isParameters
    ? `${back.href}?${pasted.replace(/^\?/, "")}`
    : /^(?:127\.0\.0\.1|localhost):/.test(pasted)
      ? `http://${pasted}`
      : pasted;
  return /^https?:\/\/\S+$/i.test(address) && URL.canParse(address) ? new URL(address) : undefined;
}

/** Browsers may show `localhost` for 127.0.0.1. */
const isSame = (address: URL, back: URL) =>
  address.pathname === back.pathname &&
  address.port === back.port &&
  [back.hostname, "localhost"].includes(address.hostname);

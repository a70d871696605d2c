/** A sign-in by device code (RFC 8628): the person enters a short code on a page, on any machine, and claudikins asks for the tokens meanwhile. */
import { setTimeout as sleep } from "node:timers/promises";
import { oneLine } from "../../base/visible-text.ts";
import { NetworkFailure } from "../failures/network-failure.ts";
import { checkPage, failed, prepared, refusedTokens, remember, type SignInRequest, signedIn } from "./authorize.ts";
import { clientFor } from "./client.ts";
import { deviceAuthorization, type OAuthContext, tokensForDevice } from "./tokens.ts";
import { AuthorizationRefused, cancelled, notOAuth, shortLine } from "./words.ts";

/** Time that a person has to enter a device code, if its authorization server does not say. */
const defaultDeviceCodeMs = 10 * 60_000;

/** Time that a person has at most, whatever the authorization server says. */
const maxDeviceCodeMs = 60 * 60_000;

/** Wait between two questions whether the person has entered a code, if the authorization server does not say, and what each `slow_down` adds (RFC 8628, section 3.5). */
const deviceIntervalMs = 5_000;

/** The shortest wait between two such questions, so that an authorization server is not asked all the time. */
const minDeviceIntervalMs = 200;

/** The longest wait between two such questions, so that the person does not wait for long. */
const maxDeviceIntervalMs = 60_000;

/** Characters of a device code that are shown. Real ones have about eight. */
const maxUserCodeChars = 64;

export interface DeviceSignIn {
  /** The code that the person enters. */
  userCode: string;
  /** Where the person enters the code. */
  page: URL;
  /** The same page with the code already entered. */
  completePage: URL | undefined;
  /** Time until the code ends, in milliseconds. */
  lifeMs: number;
  /** Resolves when the person has agreed and the tokens are stored. Throws NetworkFailure, and CANCELLED if the signal is aborted. */
  finish(): Promise<void>;
}

/** Undefined if the client needs no person. "not offered" if the authorization server does not know device codes. Throws NetworkFailure. */
export async function authorizeDevice(asked: SignInRequest): Promise<DeviceSignIn | "not offered" | undefined> {
  const preparation = await prepared(asked);
  if (!preparation) return undefined;
  const { url, found, record, scopes, fetch } = preparation;
  const endpoint = found.metadata?.device_authorization_endpoint;
  if (endpoint === undefined) return "not offered";
  const client = await clientFor(asked.server, record, found, { redirectUrl: undefined, scopes, fetch });
  await remember(asked, found, client, undefined);
  const context = { ...found, client, fetch };
  const answer = await deviceAuthorization(context, endpoint, scopes).catch(async (error: unknown) => {
    throw await refusedTokens(error, asked);
  });
  const { deviceCode, intervalMs, ...shown } = await readAnswer(answer, url);
  const endsAt = performance.now() + shown.lifeMs;
  return { ...shown, finish: () => polled({ asked, context, scopes, deviceCode, intervalMs, endsAt }) };
}

async function readAnswer(answer: Record<string, unknown>, server: URL) {
  // Google writes an older name of the page.
  const { device_code: deviceCode, user_code: code, verification_uri: page = answer["verification_url"] } = answer;
  const { verification_uri_complete: complete, expires_in: seconds, interval } = answer;
  const userCode = typeof code === "string" ? oneLine(code, maxUserCodeChars) : "";
  if (typeof deviceCode !== "string" || userCode === "" || typeof page !== "string" || !URL.canParse(page)) {
    throw notOAuth("its authorization server returned no valid device code");
  }
  const pages = [page, ...(typeof complete === "string" && URL.canParse(complete) ? [complete] : [])];
  const [plain, completePage] = pages.map((each) => new URL(each)) as [URL, URL | undefined];
  for (const each of [plain, completePage]) if (each) await checkPage(each, server);
  const ms = (value: unknown, usual: number, most: number) =>
    Math.min(Number(value) > 0 ? Number(value) * 1_000 : usual, most);
  return {
    deviceCode,
    userCode,
    page: plain,
    completePage,
    lifeMs: ms(seconds, defaultDeviceCodeMs, maxDeviceCodeMs),
    intervalMs: Math.max(minDeviceIntervalMs, ms(interval, deviceIntervalMs, maxDeviceIntervalMs)),
  };
}

interface Polling {
  asked: SignInRequest;
  context: OAuthContext;
  scopes: string[];
  deviceCode: string;
  intervalMs: number;
  /** By `performance.now()`. */
  endsAt: number;
}

/** RFC 8628, section 3.5. */
async function polled({ asked, context, scopes, deviceCode, endsAt, ...start }: Polling): Promise<void> {
  let { intervalMs } = start;
  while (performance.now() < endsAt) {
    await sleep(intervalMs, undefined, { signal: asked.signal }).catch(() => {
      throw cancelled();
    });
    try {
      const tokens = await tokensForDevice(context, deviceCode, scopes);
      return await asked.store.alone(asked.server, () => signedIn(asked, context, tokens, undefined));
    } catch (error) {
      const wait = waitAfter(error, intervalMs);
      if (wait === undefined) throw await refusedDevice(error, asked);
      intervalMs = wait;
    }
  }
  throw failed("nobody entered the code in time", asked);
}

/** The next interval. Undefined for an error that is the end. */
function waitAfter(error: unknown, intervalMs: number): number | undefined {
  if (error instanceof NetworkFailure && error.code === "SERVER_UNAVAILABLE")
    return Math.min(intervalMs * 2, maxDeviceIntervalMs);
  if (!(error instanceof AuthorizationRefused)) return undefined;
  if (error.error === "authorization_pending") return intervalMs;
  return error.error === "slow_down" ? intervalMs + deviceIntervalMs : undefined;
}

async function refusedDevice(error: unknown, asked: SignInRequest): Promise<unknown> {
  if (!(error instanceof AuthorizationRefused)) return error;
  if (error.error === "expired_token") return failed("nobody entered the code in time", asked);
  if (error.error !== "access_denied") return refusedTokens(error, asked);
  return failed(`its authorization server refused the sign-in: ${shortLine(error.message)}`, asked);
}

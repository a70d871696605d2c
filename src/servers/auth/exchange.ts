/** Exchanges a token of a person for a token of a server, at the company's provider (RFC 8693). */
import { basicAuthorization } from "../../base/basic-authorization.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { type ExchangeEntry, subjectOf } from "../../config/credentials.ts";
import type { NetworkServer } from "../../config/load.ts";
import { NetworkFailure } from "../failures/network-failure.ts";
import { defaultTokenMs } from "../limits.ts";
import { type CredentialStore, exchangeMark, type SignInRecord } from "./credentials.ts";
import { privateFetch } from "./private-fetch.ts";
import { AuthorizationRefused, notOAuth, signInHint } from "./words.ts";

/** How providers name the types of tokens. */
const tokenTypes = {
  "access-token": "urn:ietf:params:oauth:token-type:access_token",
  "id-token": "urn:ietf:params:oauth:token-type:id_token",
  "id-jag": "urn:ietf:params:oauth:token-type:id-jag",
} as const;

export interface Exchange {
  server: NetworkServer;
  exchange: ExchangeEntry;
  store: CredentialStore;
  signal: AbortSignal;
}

/** Throws NetworkFailure with AUTH_REQUIRED if the provider refuses or has given no token of the person, and with SERVER_UNAVAILABLE. */
export async function exchanged(asked: Exchange): Promise<SignInRecord> {
  const { server, exchange } = asked;
  const { audience, resource, scopes = [], tokenUrl } = exchange;
  const obtainedAt = Date.now();
  const {
    token,
    scopes: given,
    lifeMs,
  } = await askProvider(asked, { type: "access-token", audience, resource, scopes });
  const expiresAt = obtainedAt + (lifeMs ?? defaultTokenMs);
  return {
    server: server.name,
    issuer: tokenUrl,
    exchanged: exchangeMark(server),
    tokens: { access: token, scopes: given, since: obtainedAt, obtainedAt, expiresAt },
  };
}

interface Wanted {
  type: "access-token" | "id-jag";
  audience: string | undefined;
  resource: string | undefined;
  scopes: string[];
}

interface Given {
  token: string;
  scopes: string[];
  lifeMs: number | undefined;
}

/** Exchanges the token of the person. Throws as `exchanged` does. */
export async function askProvider(asked: Exchange, wanted: Wanted): Promise<Given> {
  const { exchange, server, store } = asked;
  const subject = store.subjectToken(server);
  if (subject === undefined) throw noSubject(asked);
  const { audience, resource, scopes, type } = wanted;
  const given = { audience, resource, scope: scopes.join(" ") || undefined };
  const answer = await sent(asked, {
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: subject,
    subject_token_type: tokenTypes[subjectOf(exchange)],
    requested_token_type: tokenTypes[type],
    ...Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined)),
  });
  const { access_token: token, issued_token_type: issued, scope, expires_in: seconds } = answer;
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
    throw notOAuth("the provider returned no valid token for it");
  }
  // An access token of the provider must not be sent to another authorization server as if it were an assertion.
  if (type === "id-jag" && issued !== tokenTypes["id-jag"]) {
    throw notOAuth("the provider returned no assertion (ID-JAG) for it");
  }
  return {
    token,
    scopes: typeof scope === "string" ? scope.split(/\s+/).filter(Boolean) : scopes,
    lifeMs: typeof seconds === "number" && seconds > 0 ? seconds * 1_000 : undefined,
  };
}

/** Throws NetworkFailure with AUTH_REQUIRED if the provider refuses. */
async function sent(
  { server, exchange, store: { owner }, signal }: Exchange,
  parameters: Record<string, string>,
): Promise<Record<string, unknown>> {
  const { clientId, clientSecret, tokenUrl } = exchange;
  if (!URL.canParse(tokenUrl)) throw invalidAddress();
  const url = new URL(tokenUrl);
  const headers = new Headers({ "content-type": "application/x-www-form-urlencoded", accept: "application/json" });
  if (clientSecret !== undefined) headers.set("authorization", basicAuthorization(clientId, clientSecret));
  const body = new URLSearchParams({ ...parameters, ...(clientSecret === undefined ? { client_id: clientId } : {}) });
  try {
    // The address is the config's, so it is also the one that requests may be sent to.
    const response = await privateFetch(url, signal)(url, { method: "POST", headers, body });
    const answer = parsedJson(await response.text());
    return isObject(answer) ? answer : {};
  } catch (error) {
    if (!(error instanceof AuthorizationRefused)) throw error;
    const ask = `Ask the operator of ${url.origin} to allow this, or correct "exchange" in its config entry.`;
    const isOfSignIn = subjectOf(exchange) === "id-token" && endedSignIn.includes(error.error ?? "");
    throw refused(
      `the provider refused to exchange the token of ${owner?.name}: ${error.message}`,
      isOfSignIn ? `${signInHint(server.name, owner)} If that does not help: ${ask}` : ask,
    );
  }
}

/** The errors of providers that may be over after another sign-in of the person. */
const endedSignIn = ["invalid_grant", "insufficient_user_authentication"];

function noSubject({ server, exchange, store: { owner } }: Exchange): NetworkFailure {
  const name = owner?.name ?? "the person";
  if (subjectOf(exchange) === "id-token") {
    const message = `${name} has not signed in to the page, so there is no ID token to exchange`;
    return refused(message, signInHint(server.name, owner));
  }
  return refused(
    `${name} is not connected, so there is no token to exchange`,
    "Call again from an agent of the person.",
  );
}

function refused(message: string, hint: string): NetworkFailure {
  return new NetworkFailure(message, { code: "AUTH_REQUIRED", hint, needsSignIn: true });
}

function invalidAddress(): NetworkFailure {
  return new NetworkFailure('"tokenUrl" of its "exchange" is not an address', {
    code: "CONFIG_INVALID",
    hint: "Check the config entry and the variables in it.",
  });
}

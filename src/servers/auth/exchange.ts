/** Exchanges the access token of a person for a token of a server, at the company's provider (RFC 8693). */
import type { FetchLike } from "@modelcontextprotocol/client";
import { basicAuthorization } from "../../base/basic-authorization.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import type { ExchangeEntry } from "../../config/credentials.ts";
import { defaultTokenMs } from "../limits.ts";
import { NetworkFailure } from "../network-failure.ts";
import { type CredentialOwner, exchangeMark, type SignInRecord } from "./credentials.ts";
import { privateFetch } from "./private-fetch.ts";
import { AuthorizationRefused, notOAuth } from "./words.ts";

const accessToken = "urn:ietf:params:oauth:token-type:access_token";

/** Throws NetworkFailure with AUTH_REQUIRED if the provider refuses or the person is not here, and with SERVER_UNAVAILABLE. */
export async function exchanged(
  server: string,
  exchange: ExchangeEntry,
  { owner, signal }: { owner: CredentialOwner | undefined; signal: AbortSignal },
): Promise<SignInRecord> {
  const { audience, resource, scopes = [], clientId, clientSecret, tokenUrl } = exchange;
  const subject = owner?.accessToken();
  if (!owner || subject === undefined) {
    throw refused(`${owner?.name ?? "the person"} is not connected, so there is no token to exchange`, {
      hint: "Call again from an agent of the person.",
    });
  }
  const given = { audience, resource, ...(scopes.length > 0 ? { scope: scopes.join(" ") } : {}) };
  const body = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: subject,
    subject_token_type: accessToken,
    requested_token_type: accessToken,
    ...Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined)),
    ...(clientSecret === undefined ? { client_id: clientId } : {}),
  });
  const obtainedAt = Date.now();
  const answer = await asked(tokenUrl, body, { clientId, clientSecret, signal }).catch((error: unknown) => {
    if (!(error instanceof AuthorizationRefused)) throw error;
    throw refused(`the provider refused to exchange the token of ${owner.name}: ${error.message}`, {
      hint: `Ask the operator of ${new URL(tokenUrl).origin} to allow this, or correct "exchange" in its config entry.`,
    });
  });
  const { access_token: access, scope, expires_in: seconds } = answer;
  if (typeof access !== "string" || !/^[\x21-\x7e]+$/.test(access)) {
    throw notOAuth("the provider returned no valid token for it");
  }
  const lifeMs = typeof seconds === "number" && seconds > 0 ? seconds * 1_000 : defaultTokenMs;
  return {
    server,
    ...exchangeMark(exchange),
    tokens: {
      access,
      scopes: typeof scope === "string" ? scope.split(/\s+/).filter(Boolean) : scopes,
      since: obtainedAt,
      obtainedAt,
      expiresAt: obtainedAt + lifeMs,
    },
  };
}

interface Client {
  clientId: string;
  clientSecret: string | undefined;
  signal: AbortSignal;
}

async function asked(to: string, body: URLSearchParams, { clientId, clientSecret, signal }: Client) {
  if (!URL.canParse(to)) throw invalidAddress();
  const url = new URL(to);
  const headers = new Headers({ "content-type": "application/x-www-form-urlencoded", accept: "application/json" });
  if (clientSecret !== undefined) headers.set("authorization", basicAuthorization(clientId, clientSecret));
  // The address is the config's, so it is also the one that requests may be sent to.
  const fetch: FetchLike = privateFetch(url, signal);
  const response = await fetch(url, { method: "POST", headers, body });
  const answer = parsedJson(await response.text());
  return isObject(answer) ? answer : {};
}

function refused(message: string, { hint }: { hint: string }): NetworkFailure {
  return new NetworkFailure(message, { code: "AUTH_REQUIRED", hint, needsSignIn: true });
}

function invalidAddress(): NetworkFailure {
  return new NetworkFailure('"tokenUrl" of its "exchange" is not an address', {
    code: "CONFIG_INVALID",
    hint: "Check the config entry and the variables in it.",
  });
}

/** Asks the OIDC provider about access tokens that are not JWTs (RFC 7662). Answers are cached for a short time. */
import type { JWTPayload } from "jose";
import { basicAuthorization } from "../../base/basic-authorization.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { sha256 } from "../../base/sha256.ts";
import type { IntrospectionEntry, Oidc } from "../../config/oidc.ts";
import { maxPersonTokenChars, providerRequestMs } from "../limits.ts";
import { invalid, type PersonClaims, personOf, refuseFuture } from "./claims.ts";
import type { Provider } from "./provider.ts";
import { PersonRefused } from "./refused.ts";

/** Time for which the provider's answer about an opaque token is used, unless the token expires earlier. */
const introspectionKeptMs = 30_000;

/** Tokens that the provider is asked about at the same time. Others wait. */
const introspectionsAtOnce = 10;

/** Answers that are remembered. */
const maxIntrospections = 10_000;

interface Kept {
  answer: Promise<JWTPayload>;
  until: number;
}

interface Asked {
  provider: Provider;
  oidc: Oidc;
  /** The client that asks, with the value of its secret. */
  client: () => Promise<IntrospectionEntry>;
}

export class Introspection {
  /** By digests of tokens. */
  readonly #kept = new Map<string, Kept>();
  readonly #asking = new Semaphore(introspectionsAtOnce);

  /**
   * Returns the provider's claims about an access token, which must be for one of `audience`. Throws PersonRefused, and what `client`
   * throws.
   */
  async claims(token: string, asked: Asked, audience: readonly string[]): Promise<PersonClaims> {
    if (token.length > maxPersonTokenChars || !/^[\x21-\x7e]+$/.test(token))
      throw invalid("it cannot be an access token");
    const { oidc, provider } = asked;
    return claimsIn(await this.#answer(token, asked), { oidc, provider, audience });
  }

  async #answer(token: string, asked: Asked): Promise<JWTPayload> {
    // Another provider or client may get another answer.
    const { oidc, provider } = asked;
    const key = sha256(JSON.stringify([provider.issuer, oidc.introspection?.clientId, token]));
    const known = this.#kept.get(key);
    if (known && known.until > performance.now()) return known.answer;
    this.#forgetOld();
    const answer = this.#ask(token, asked);
    const kept = { answer, until: performance.now() + introspectionKeptMs };
    this.#kept.set(key, kept);
    answer.catch(() => this.#kept.get(key) === kept && this.#kept.delete(key));
    return answer;
  }

  async #ask(token: string, { provider, client }: Asked): Promise<JWTPayload> {
    // Anyone can send unknown tokens.
    const turn = this.#asking.acquire(AbortSignal.timeout(providerRequestMs));
    if (turn && !(await turn)) throw unavailable(provider, "too many tokens are being checked");
    try {
      const { url, clientId, clientSecret } = await client();
      const endpoint = url === undefined ? (await provider.metadata()).introspection_endpoint : new URL(url);
      if (!endpoint)
        throw unavailable(provider, 'its metadata has no introspection_endpoint: give "url" in the config');
      const headers = { authorization: basicAuthorization(clientId, clientSecret), accept: "application/json" };
      const body = new URLSearchParams({ token, token_type_hint: "access_token" });
      const { status, text } = await provider.ask(endpoint, { method: "POST", headers, body });
      const answer = parsedJson(text);
      if (status === 200 && isObject(answer)) return answer;
      const why =
        status === 401 || status === 403 ? ": check clientId and clientSecret of auth.oidc.introspection" : "";
      throw unavailable(provider, `the introspection of a token was answered with ${status}${why}`);
    } finally {
      this.#asking.release();
    }
  }

  #forgetOld(): void {
    const now = performance.now();
    // The oldest come first.
    for (const [key, { until }] of this.#kept) {
      if (until > now) break;
      this.#kept.delete(key);
    }
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= maxIntrospections && oldest !== undefined) this.#kept.delete(oldest);
  }
}

interface Expected {
  oidc: Oidc;
  provider: Provider;
  audience: readonly string[];
}

/** Throws PersonRefused. */
function claimsIn(answer: JWTPayload, { oidc, provider: { issuer }, audience }: Expected): PersonClaims {
  const { active, iss = issuer, exp, nbf, aud, token_type: type, cnf, username } = answer as Answer;
  if (active !== true) throw invalid("the provider says that it is not active");
  const now = Date.now() / 1_000;
  const { clockSkewSeconds: skew } = oidc;
  if (iss !== issuer) throw invalid("it is not of the provider of this config");
  if (typeof exp !== "number") throw invalid('its claim "exp" is missing');
  if (exp + skew <= now) throw new PersonRefused("invalid", "The token has expired");
  if (typeof nbf === "number" && nbf > now + skew) throw invalid('its claim "nbf" is not as expected');
  if (aud === undefined) throw invalid('its claim "aud" is missing');
  if (![aud].flat().some((each) => audience.includes(each))) throw invalid('its claim "aud" is not as expected');
  // A refresh token is active as well, and a token that is bound to a key needs a proof.
  const isBearer = type === undefined || (typeof type === "string" && type.toLowerCase() === "bearer");
  if (!isBearer || cnf !== undefined) throw invalid("it is not a bearer token");
  refuseFuture(answer, skew);
  return personOf({ preferred_username: username, ...answer, iss: issuer }, oidc);
}

interface Answer extends JWTPayload {
  active?: unknown;
  token_type?: unknown;
  cnf?: unknown;
  username?: unknown;
}

function unavailable({ issuer }: Provider, why: string): PersonRefused {
  return new PersonRefused("unavailable", `The sign-in provider ${issuer} cannot be used: ${why}`);
}

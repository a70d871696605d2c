/**
 * Signs people in to the page, and out of it: the authorization code flow of OpenID Connect, with PKCE (RFC 7636), at the provider of the
 * config. Anyone can begin a sign-in, so the server stores nothing for it. Its secrets are in a cookie of the browser, sealed with a key
 * that replicas share.
 */
import { createHash } from "node:crypto";
import { basicAuthorization } from "../../base/basic-authorization.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { ownKey, SealedValues } from "../../base/seal.ts";
import { sha256 } from "../../base/sha256.ts";
import type { Oidc } from "../../config/oidc.ts";
import { idClaims, type PersonClaims } from "../../policy/people/claims.ts";
import type { Provider } from "../../policy/people/provider.ts";
import { PersonRefused } from "../../policy/people/refused.ts";
import type { ReplicaRows } from "../../store/replicas.ts";
import { RefusedRequest } from "../guard.ts";
import { pageSignInMs } from "../limits.ts";
import { secret } from "../sessions.ts";

/** Unfinished sign-ins to the page in one browser, one in each tab. Each has a cookie, and servers limit the size of all cookies. */
const maxBrowserSignIns = 6;

/** Characters of the path to which a person returns after a sign-in. The longest link of a server fits. It is in the cookie of the sign-in. */
const maxReturnChars = 1_200;

/** The content of a sign-in's cookie. Only the state of the sign-in opens it. */
interface Begun {
  nonce: string;
  verifier: string;
  /** The path to return to, below the path of the page. */
  to: string;
}

/** A request of a browser. */
interface Asked {
  oidc: Oidc;
  provider: Provider;
  /** The address on our page that the provider sends the browser to. */
  redirect: string;
  cookies: ReadonlyMap<string, string>;
}

/** Each sign-in has its own cookie, so that several tabs can sign in. */
const signInCookie = "claudikins-sign-in-";

function cookieOf(state: string): string {
  return `${signInCookie}${sha256(state).slice(0, 16)}`;
}

export class ProviderSignIns {
  readonly #replicas: Pick<ReplicaRows, "key"> | undefined;
  readonly #ownKey = ownKey();
  #opened: SealedValues<Begun> | undefined;

  /** `replicas` share a database. */
  constructor(replicas: Pick<ReplicaRows, "key"> | undefined) {
    this.#replicas = replicas;
  }

  async #sealed(): Promise<SealedValues<Begun>> {
    const key = this.#opened ? undefined : ((await this.#replicas?.key()) ?? this.#ownKey);
    this.#opened ??= new SealedValues(key!, "page sign-ins", pageSignInMs);
    return this.#opened;
  }

  /**
   * Begins a sign-in. Returns the address of the provider, and the cookies to set. Empty cookies are removed. `redirect` is the address on
   * our page that the provider sends the browser to. Throws RefusedRequest, and PersonRefused if the provider cannot be asked.
   */
  async begin(
    { oidc, provider, redirect, cookies }: Asked,
    to = "",
  ): Promise<{ url: URL; set: [name: string, value: string][] }> {
    if (to.length > maxReturnChars) throw new RefusedRequest(414, "The address is too long");
    const { authorization_endpoint: endpoint, token_endpoint: tokens } = await provider.metadata();
    if (!endpoint || !tokens)
      throw new RefusedRequest(503, "The sign-in provider has no authorization or token endpoint");
    const [state, nonce, verifier] = [secret(), secret(), secret()];
    const sealed = (await this.#sealed()).seal({ nonce, verifier, to }, state);
    // Browsers send the oldest cookie first.
    const begun = [...cookies.keys()].filter((name) => name.startsWith(signInCookie));
    const old = begun.slice(0, Math.max(0, begun.length + 1 - maxBrowserSignIns));
    const url = new URL(endpoint);
    const query = {
      response_type: "code",
      client_id: oidc.clientId ?? "",
      redirect_uri: redirect,
      scope: "openid profile email",
      state,
      nonce,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return { url, set: [...old.map((name): [string, string] => [name, ""]), [cookieOf(state), sealed]] };
  }

  /**
   * Completes a sign-in with the provider's answer. An answer counts once, because the provider accepts a code only once. Throws
   * RefusedRequest for an answer to a sign-in of another browser and if the provider has refused it, and PersonRefused.
   */
  async end(
    answer: URLSearchParams,
    { oidc, provider, redirect, cookies }: Asked,
  ): Promise<{ claims: PersonClaims; idToken: string; to: string; cookie: string }> {
    const state = answer.get("state") ?? "";
    const cookie = cookieOf(state);
    const begun = (await this.#sealed()).open(cookies.get(cookie) ?? "", state);
    if (!begun)
      throw new RefusedRequest(403, "This answer does not belong to a sign-in of this browser, or it came too late");
    // RFC 9207: the answer of another provider must not be mistaken for our provider's.
    const issuer = answer.get("iss");
    if (issuer !== null && issuer !== provider.issuer) throw new RefusedRequest(403, "Another provider has answered");
    const code = answer.get("code");
    if (code === null)
      throw new RefusedRequest(403, `The provider has refused the sign-in: ${shortOf(answer.get("error"))}`);
    const idToken = await idTokenOf(code, begun, { oidc, provider, redirect });
    return { claims: await idClaims(idToken, provider, oidc, begun.nonce), idToken, to: begun.to, cookie };
  }
}

/**
 * Signs out by RP-Initiated Logout 1.0 of OpenID Connect: returns the address at which the browser ends the session of `idToken`. The
 * provider sends it back to `redirect`. Undefined if the provider has no such address, or does not answer.
 */
export async function providerSignOut(
  { clientId = "" }: Oidc,
  provider: Provider,
  { idToken, redirect }: { idToken: string; redirect: string },
): Promise<URL | undefined> {
  const { end_session_endpoint: endpoint } = await provider.metadata().catch((error: unknown) => {
    if (error instanceof PersonRefused) return { end_session_endpoint: undefined };
    throw error;
  });
  if (!endpoint) return undefined;
  const url = new URL(endpoint);
  const query = { id_token_hint: idToken, client_id: clientId, post_logout_redirect_uri: redirect };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

async function idTokenOf(
  code: string,
  { verifier }: Begun,
  { oidc, provider, redirect }: Omit<Asked, "cookies">,
): Promise<string> {
  const { token_endpoint: endpoint } = await provider.metadata();
  const { clientId = "", clientSecret } = oidc;
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code,
    redirect_uri: redirect,
    code_verifier: verifier,
    ...(clientSecret === undefined ? { client_id: clientId } : {}),
  });
  const headers = clientSecret === undefined ? {} : { authorization: basicAuthorization(clientId, clientSecret) };
  const { status, text } = await provider.fetch(endpoint!, { method: "POST", body, headers });
  const answer = parsedJson(text);
  const token = isObject(answer) ? answer["id_token"] : undefined;
  if (status === 200 && typeof token === "string") return token;
  const error = isObject(answer) ? answer["error"] : undefined;
  // The code was used, or has expired.
  if (error === "invalid_grant")
    throw new RefusedRequest(403, "This answer of the provider was already used, or it came too late");
  throw new RefusedRequest(
    502,
    `The provider returned no token: ${shortOf(error)}`,
    "Compare clientId and clientSecret in the config with the client at the provider.",
  );
}

/** An error code of OAuth. Other text is dropped, because it could be mistaken for our own words. */
function shortOf(error: unknown): string {
  return typeof error === "string" && /^[\w.-]{1,60}$/.test(error) ? error : "it does not say why";
}

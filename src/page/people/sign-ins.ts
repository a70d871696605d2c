/** Signs people in to the page: the authorization code flow of OpenID Connect, with PKCE (RFC 7636), at the provider of the config. */
import { createHash } from "node:crypto";
import { basicAuthorization } from "../../base/basic-authorization.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import type { Oidc } from "../../config/oidc.ts";
import { idClaims, type PersonClaims } from "../../policy/people/claims.ts";
import type { Provider } from "../../policy/people/provider.ts";
import type { ValueRows } from "../../store/replicas.ts";
import { RefusedRequest } from "../guard.ts";
import { maxPageSignIns, pageSignInMs } from "../limits.ts";
import { secret } from "../sessions.ts";
import { type Kept, keptValues } from "./kept.ts";

interface Pending {
  nonce: string;
  verifier: string;
  redirect: string;
  /** Where the person wants to go, below the path of the page. */
  to: string;
}

export class PersonSignIns {
  /** By their states. Anybody can begin sign-ins. */
  readonly #pending: Kept<Pending>;

  /** `rows` are in the database of several replicas. */
  constructor(rows: ValueRows | undefined) {
    this.#pending = keptValues("page sign-in", maxPageSignIns, rows);
  }

  /**
   * Begins a sign-in. Returns the address of the provider, and the state, which must come back from the same browser. `redirect` is the
   * address on our page that the provider sends the browser to. Throws RefusedRequest, and PersonRefused if the provider cannot be asked.
   */
  async begin(oidc: Oidc, provider: Provider, redirect: string, to = ""): Promise<{ url: URL; state: string }> {
    const { authorization_endpoint: endpoint, token_endpoint: tokens } = await provider.metadata();
    if (!endpoint || !tokens)
      throw new RefusedRequest(503, "The sign-in provider has no authorization or token endpoint");
    const [state, nonce, verifier] = [secret(), secret(), secret()];
    await this.#pending.add(state, { nonce, verifier, redirect, to }, Date.now() + pageSignInMs);
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
    return { url, state };
  }

  /**
   * Ends a sign-in with what the provider sent. `expected` is the state that this browser began with. Throws RefusedRequest for an answer
   * to another sign-in and if the provider has refused it, and PersonRefused.
   */
  async end(
    answer: URLSearchParams,
    expected: string | undefined,
    oidc: Oidc,
    provider: Provider,
  ): Promise<{ claims: PersonClaims; idToken: string; to: string }> {
    const state = answer.get("state") ?? "";
    const pending = state !== "" && state === expected ? await this.#pending.take(state) : undefined;
    if (!pending)
      throw new RefusedRequest(403, "This answer belongs to no sign-in of this browser, or it came too late");
    // RFC 9207: the answer of another provider must not be taken for one of ours.
    const issuer = answer.get("iss");
    if (issuer !== null && issuer !== provider.issuer) throw new RefusedRequest(403, "Another provider has answered");
    const code = answer.get("code");
    if (code === null)
      throw new RefusedRequest(403, `The provider has refused the sign-in: ${shortOf(answer.get("error"))}`);
    const idToken = await this.#idToken(code, pending, oidc, provider);
    return { claims: await idClaims(idToken, provider, oidc, pending.nonce), idToken, to: pending.to };
  }

  async #idToken(code: string, { verifier, redirect }: Pending, oidc: Oidc, provider: Provider): Promise<string> {
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
    throw new RefusedRequest(
      502,
      `The provider has given no token: ${shortOf(error)}`,
      "Compare clientId and clientSecret in the config with the client at the provider.",
    );
  }
}

/** An error code of OAuth, and nothing that could be taken for our own words. */
function shortOf(error: unknown): string {
  return typeof error === "string" && /^[\w.-]{1,60}$/.test(error) ? error : "it does not say why";
}

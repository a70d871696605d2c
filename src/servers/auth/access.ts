/** Authorizes requests to a server: adds the stored token, renews it when necessary, and says what is wrong if that fails. */
import { httpForm } from "../../config/address.ts";
import type { NetworkServer } from "../../config/load.ts";
import { NetworkFailure } from "../failures/network-failure.ts";
import type { Authorizer, Endpoint } from "../network/endpoint.ts";
import { type Challenge, challengeOf } from "./challenge.ts";
import { type CredentialStore, isExpired, needsNobody, type SignInRecord, type Tokens } from "./credentials.ts";
import { shortLine, signInHint } from "./words.ts";

/** The hint for clients that sign in without a person. */
const clientHint = 'At the authorization server, grant the required scopes to the client in its "oauth" config.';

/** Time in which a server that has refused the client is not asked again, unless the user signs in. */
const refusedSignInMs = 30_000;

/** A renewed token that a server refuses within this time is not renewed again. */
const freshTokenMs = 30_000;

export class Access implements Authorizer {
  readonly #server: NetworkServer;
  /** The server's URL, with the scheme of HTTP. */
  readonly #url: URL;
  readonly #store: CredentialStore;
  /** Whether the config sends credentials of its own. */
  readonly #hasOther: boolean;
  /** Adds the headers of a program. */
  readonly #helper: Authorizer | undefined;
  /** Sends requests to the server. */
  readonly #send: Authorizer["fetch"];
  readonly #endpoint: Pick<Endpoint, "headers" | "described">;
  /** The access token that the server has accepted last. */
  #accepted: string | undefined;
  #renewing: Promise<Tokens | undefined> | undefined;

  constructor(
    server: NetworkServer,
    endpoint: Pick<Endpoint, "url" | "hasToken" | "headers" | "described">,
    store: CredentialStore,
    helper?: Authorizer,
  ) {
    this.#helper = helper;
    this.#send = helper?.fetch ?? fetch;
    this.#endpoint = endpoint;
    this.#server = server;
    this.#url = httpForm(endpoint.url);
    this.#store = store;
    this.#hasOther = endpoint.hasToken;
  }

  /** The headers for a request now. Throws NetworkFailure if a sign-in has expired. */
  async headers(): Promise<Record<string, string>> {
    const tokens = await this.#tokens();
    return tokens ? { authorization: `Bearer ${tokens.access}` } : {};
  }

  /**
   * Like `fetch`, with the token. A request that is refused for its token is sent once more with a new one. Throws
   * NetworkFailure with AUTH_REQUIRED if a person must sign in. Tokens are sent only to the server's own origin.
   */
  readonly fetch = async (to: string | URL, init: RequestInit): Promise<Response> => {
    if (new URL(to).origin !== this.#url.origin) return fetch(to, init);
    // Ending a session is not worth a new token.
    if (init.method === "DELETE") return this.#send(to, signed(init, this.#stored()));
    const tokens = await this.#tokens();
    const response = await this.#send(to, signed(init, tokens));
    const challenge = challengeOf(response.headers);
    const next = await this.#next(response, challenge, tokens);
    if (!next) {
      this.#accepted = tokens?.access;
      return response;
    }
    await response.body?.cancel();
    const again = await this.#send(to, signed(init, next));
    const secondChallenge = challengeOf(again.headers);
    if (again.status !== 401 && !isStepUp(again.status, secondChallenge)) {
      this.#accepted = next.access;
      return again;
    }
    await again.body?.cancel();
    if (again.status === 401) throw this.#rejectsFresh();
    await this.#remember(secondChallenge?.scopes);
    throw this.#needsScopes(secondChallenge?.scopes);
  };

  /** The tokens for another attempt. Undefined if the response can be used. */
  async #next(response: Response, challenge: Challenge | undefined, tokens: Tokens | undefined) {
    const { status } = response;
    try {
      if (status === 401) return await this.#afterRefusal(challenge, tokens);
      if (isStepUp(status, challenge)) return await this.#stepUp(challenge, tokens);
      if (status === 403 && tokens) throw this.#needs("it denied this user access (403)", status, { stands: false });
      return undefined;
    } catch (error) {
      await response.body?.cancel();
      throw error;
    }
  }

  async #afterRefusal(challenge: Challenge | undefined, tokens: Tokens | undefined): Promise<Tokens | undefined> {
    const isOthers = !tokens && !challenge && this.#hasOther && this.#server.oauth === undefined;
    if (isOthers) return undefined;
    if (tokens && this.#isFresh(tokens)) throw this.#rejectsFresh();
    const renewed = await this.#renew(tokens?.access, challenge);
    if (renewed) return renewed;
    throw this.#needs(tokens ? "its sign-in expired" : "it needs a sign-in (401)", 401);
  }

  /** Whether the tokens have just been renewed, and were never accepted. Other ones would be refused as well. */
  #isFresh({ access, since, obtainedAt }: Tokens): boolean {
    return obtainedAt > since && access !== this.#accepted && Date.now() - obtainedAt < freshTokenMs;
  }

  #rejectsFresh(): NetworkFailure {
    return this.#needs("it rejected a fresh token (401)", 401);
  }

  async #stepUp(challenge: Challenge | undefined, tokens: Tokens | undefined): Promise<Tokens | undefined> {
    const wanted = challenge?.scopes;
    await this.#remember(wanted);
    const isNew = wanted?.some((scope) => !tokens?.scopes.includes(scope)) === true;
    if (needsNobody(this.#server) && isNew) return this.#renew(tokens?.access, challenge);
    throw this.#needsScopes(wanted);
  }

  /** Stored for the next sign-in. If they cannot be stored, the sign-in fails as well, with that error. */
  async #remember(scopes: string[] = []): Promise<void> {
    const server = this.#server;
    const wanted = (record: SignInRecord | undefined) => [...new Set([...(record?.wantedScopes ?? []), ...scopes])];
    await this.#store
      .update(server, (record) => ({ ...record, server: server.name, wantedScopes: wanted(record) }))
      .catch(() => {});
  }

  #needsScopes(scopes: string[] = []): NetworkFailure {
    const which = scopes.length === 0 ? "more rights" : `more scopes: ${shortLine(scopes.join(" "))}`;
    return this.#needs(`its sign-in needs ${which} (403)`, 403);
  }

  #stored(): Tokens | undefined {
    return this.#store.read(this.#server)?.tokens;
  }

  /** The person's token that an exchange starts from. */
  get #exchanged(): string | undefined {
    return this.#store.subjectToken(this.#server);
  }

  async #tokens(): Promise<Tokens | undefined> {
    await this.#store.ready();
    const tokens = this.#stored();
    // Without a token, a server might answer an exchange's requests as if nobody had made them.
    if (!tokens && this.#server.exchange) return this.#renew(undefined, undefined);
    if (!tokens || !isExpired(tokens)) return tokens;
    try {
      const renewed = await this.#renew(tokens.access, undefined);
      if (renewed) return renewed;
    } catch (error) {
      const isAway = error instanceof NetworkFailure && error.code === "SERVER_UNAVAILABLE";
      // The token should have been renewed in time.
      if (isAway && Date.now() < (tokens.expiresAt ?? 0)) return tokens;
      throw error;
    }
    throw this.#needs("its sign-in expired", 401);
  }

  async #renew(refused: string | undefined, challenge: Challenge | undefined): Promise<Tokens | undefined> {
    const { renew } = await import("./renewal.ts");
    const headers = async () => ({ ...this.#endpoint.headers, ...(await this.#helper?.headers()) });
    const renewal = {
      server: this.#server,
      url: this.#url,
      store: this.#store,
      refused,
      challenge,
      headers,
      described: this.#endpoint.described,
    };
    this.#renewing ??= renew(renewal).finally(() => {
      this.#renewing = undefined;
    });
    try {
      return await this.#renewing;
    } catch (error) {
      if (error instanceof NetworkFailure && error.needsSignIn) {
        throw this.#needs(error.message, 401, { hint: error.hint });
      }
      throw error;
    }
  }

  /** With `stands`, the server is not asked again for a while, unless the user signs in. */
  #needs(message: string, status: number, { hint, stands = true }: { hint?: string; stands?: boolean } = {}) {
    const mark = this.#store.markOf(this.#server);
    const until = performance.now() + refusedSignInMs;
    const exchanged = this.#exchanged;
    const isSignInSame = () => this.#store.markOf(this.#server) === mark && this.#exchanged === exchanged;
    return new NetworkFailure(message, {
      code: "AUTH_REQUIRED",
      hint: hint ?? (needsNobody(this.#server) ? clientHint : signInHint(this.#server.name, this.#store.owner)),
      status,
      ...(stands ? { isSignInSame, stands: () => performance.now() < until && isSignInSame() } : {}),
    });
  }
}

function signed(init: RequestInit, tokens: Tokens | undefined): RequestInit {
  if (!tokens) return init;
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${tokens.access}`);
  return { ...init, headers };
}

/** Some servers name the scopes without the error. */
function isStepUp(status: number, challenge: Challenge | undefined): boolean {
  if (status !== 403 || !challenge) return false;
  return challenge.error === "insufficient_scope" || (challenge.scopes ?? []).length > 0;
}

/**
 * The OIDC provider of a config: its metadata and its keys. Requests are bounded, and a provider that fails is not asked again for a
 * moment.
 */

import type { JWTVerifyGetKey } from "jose";
import { boundedText } from "../../base/bounded-body.ts";
import { messageOf } from "../../base/errors.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { isSafe } from "../../base/loopback.ts";
import { spaced } from "../../base/spaced.ts";
import { minuteMs } from "../../base/units.ts";
import { providerRequestMs } from "../limits.ts";
import { PersonRefused } from "./refused.ts";

/** Size of its metadata, its keys and its answers. Large providers need some 20 kB. */
const maxProviderBytes = 1_000_000;

/** Time for which its metadata and its keys are used without a check for changes. */
const providerKeysMs = 10 * minuteMs;

/** Time between two requests for unknown keys that tokens name. Anyone can send such tokens, so all of them wait for the next request. */
const unknownKeyPauseMs = 1_000;

/** Time for which a provider that has failed is not asked again. */
const providerPauseMs = 2_000;

/** The parts of the metadata that we use (OpenID Connect Discovery 1.0, section 3). */
export interface ProviderMetadata {
  jwks_uri: URL;
  /** Undefined if the provider has none: then nobody can sign in to the page. */
  authorization_endpoint: URL | undefined;
  token_endpoint: URL | undefined;
  /** Undefined if nobody can ask about tokens. */
  introspection_endpoint: URL | undefined;
  /** Undefined if the provider cannot end the session of a browser. */
  end_session_endpoint: URL | undefined;
  /** Some of the claims in its tokens. Undefined if it lists none. */
  claims_supported: string[] | undefined;
}

export interface ProviderAnswer {
  status: number;
  text: string;
  headers: Headers;
}

interface Known {
  metadata: ProviderMetadata;
  keys: JWTVerifyGetKey;
  until: number;
}

export class Provider {
  readonly issuer: string;
  #known: Known | undefined;
  #reading: Promise<Known> | undefined;
  /** The last failure, which counts for all who ask within `providerPauseMs`. */
  #failed: { error: PersonRefused; until: number } | undefined;

  constructor(issuer: string) {
    this.issuer = issuer;
  }

  /** Throws PersonRefused if the provider cannot be reached, or does not meet the requirements. */
  async metadata(): Promise<ProviderMetadata> {
    return (await this.#current()).metadata;
  }

  /** Finds the key of a token. The keys are read again when a token has an unknown one. Throws as `metadata` does, and errors of jose. */
  async keys(): Promise<JWTVerifyGetKey> {
    return (await this.#current()).keys;
  }

  /** Sends a request and reads the answer, without redirects. Throws PersonRefused. */
  async fetch(url: URL, init: RequestInit = {}): Promise<ProviderAnswer> {
    const signal = AbortSignal.timeout(providerRequestMs);
    try {
      const response = await fetch(url, { ...init, redirect: "manual", signal });
      const { status, headers } = response;
      return { status, headers, text: await boundedText(response, maxProviderBytes, tooLarge) };
    } catch (error) {
      const why = signal.aborted ? `no answer within ${providerRequestMs / 1_000} s` : messageOf(error);
      throw this.#unavailable(`${url.origin}: ${why}`);
    }
  }

  /** Like `fetch`, for requests that anyone can cause. A provider that has just failed is not asked. */
  ask(url: URL, init: RequestInit): Promise<ProviderAnswer> {
    return this.#bounded(() => this.fetch(url, init));
  }

  async #current(): Promise<Known> {
    if (this.#known && this.#known.until > performance.now()) return this.#known;
    this.#reading ??= this.#bounded(() => this.#read()).finally(() => {
      this.#reading = undefined;
    });
    try {
      this.#known = await this.#reading;
    } catch (error) {
      // Metadata rarely changes, and the keys are requested separately.
      if (!this.#known) throw error;
    }
    return this.#known;
  }

  async #read(): Promise<Known> {
    const at = new URL(`${this.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
    const { status, text } = await this.fetch(at);
    const found = parsedJson(text);
    if (status !== 200 || !isObject(found))
      throw this.#unavailable(`${at.href} answers with ${status}, and no metadata`);
    if (found["issuer"] !== this.issuer) {
      throw this.#unavailable(`the issuer in ${at.href} is not exactly "${this.issuer}", as in the config`);
    }
    const keysAt = safeUrl(found["jwks_uri"]);
    if (!keysAt) throw this.#unavailable(`${at.href} has no usable jwks_uri`);
    const metadata = {
      jwks_uri: keysAt,
      authorization_endpoint: safeUrl(found["authorization_endpoint"]),
      token_endpoint: safeUrl(found["token_endpoint"]),
      introspection_endpoint: safeUrl(found["introspection_endpoint"]),
      end_session_endpoint: safeUrl(found["end_session_endpoint"]),
      claims_supported: textsIn(found["claims_supported"]),
    };
    const known = this.#known?.metadata.jwks_uri.href === keysAt.href ? this.#known.keys : await this.#keysAt(keysAt);
    return { metadata, keys: known, until: performance.now() + providerKeysMs };
  }

  async #keysAt(url: URL): Promise<JWTVerifyGetKey> {
    const { createRemoteJWKSet, customFetch, errors } = await import("jose");
    const known = createRemoteJWKSet(url, {
      // The library's pause would refuse a new key for some time after a token with an unknown key, and anyone can send such a token.
      cooldownDuration: Number.POSITIVE_INFINITY,
      cacheMaxAge: providerKeysMs,
      [customFetch]: (to: string) =>
        this.#bounded(async () => {
          const { status, text } = await this.fetch(new URL(to));
          if (status !== 200 || !isObject(parsedJson(text))) {
            throw this.#unavailable(`${to} answers with ${status}, and no keys`);
          }
          return new Response(text);
        }),
    });
    const readAgain = spaced(known.reload, unknownKeyPauseMs);
    return async (header, token) => {
      try {
        return await known(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        await readAgain();
        return known(header, token);
      }
    };
  }

  /** Does not ask a provider that has just failed. */
  async #bounded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#failed && this.#failed.until > performance.now()) throw this.#failed.error;
    try {
      return await work();
    } catch (error) {
      if (error instanceof PersonRefused) this.#failed = { error, until: performance.now() + providerPauseMs };
      throw error;
    }
  }

  #unavailable(why: string): PersonRefused {
    return new PersonRefused("unavailable", `The sign-in provider ${this.issuer} cannot be used: ${why}`);
  }
}

/** The URL, or undefined if requests to it could be read or changed on their way. */
function safeUrl(value: unknown): URL | undefined {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  return url && isSafe(url) && url.username === "" ? url : undefined;
}

function textsIn(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : undefined;
}

const tooLarge = () => new Error(`the answer has more than ${maxProviderBytes / 1_000} kB`);

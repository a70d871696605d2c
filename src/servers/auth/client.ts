/** The OAuth client: from the config, registered by claudikins itself, or described by a client ID metadata document. */
import { createPrivateKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  type AddClientAuthentication,
  createPrivateKeyJwtAuth,
  type FetchLike,
  type OAuthClientInformationMixed,
  registerClient,
} from "@modelcontextprotocol/client";
import { systemCodeOf } from "../../base/errors.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { isLoopback } from "../../base/loopback.ts";
import type { NetworkServer } from "../../config/load.ts";
import type { OAuthEntry } from "../../config/oauth.ts";
import { NetworkFailure } from "../failures/network-failure.ts";
import type { SignInRecord, StoredClient } from "./credentials.ts";
import { type Discovered, isSameIssuer } from "./discovery.ts";
import { AuthorizationRefused, isOurs, logoutCommand, notOAuth, shortLine } from "./words.ts";

/** RFC 8628, section 3.4. */
export const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

export interface OAuthClient {
  stored: StoredClient;
  /** What the SDK needs, with the secret of the config. */
  information: OAuthClientInformationMixed;
  /** Authenticates requests with a signature. */
  authentication?: AddClientAuthentication | undefined;
}

export function oauthOf(server: NetworkServer): OAuthEntry | undefined {
  return server.oauth === false ? undefined : server.oauth;
}

/** The client of the config, or the stored one. Throws NetworkFailure with CONFIG_INVALID for an invalid private key. */
export function knownClient(server: NetworkServer, record: SignInRecord | undefined): OAuthClient | undefined {
  const { clientId, clientSecret, ...proof } = oauthOf(server) ?? {};
  if (clientId !== undefined) {
    const information = { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) };
    const authentication = signature(clientId, proof);
    return { stored: { origin: "config", client_id: clientId }, information, authentication };
  }
  const stored = record?.client;
  if (!stored) return undefined;
  const { origin: _, ...information } = stored;
  return { stored, information: information as OAuthClientInformationMixed };
}

/** A secret of the config is sent only to the authorization server that got it first. */
export function checkIssuer(server: NetworkServer, record: SignInRecord | undefined, { issuer }: Discovered): void {
  const before = record?.client?.origin === "config" ? record.issuer : undefined;
  if (before === undefined || isSameIssuer(before, issuer)) return;
  const [was, is] = [before, issuer].map((each) => shortLine(new URL(each).origin));
  throw new NetworkFailure(`its authorization server changed from ${was} to ${is}`, {
    code: "AUTH_REQUIRED",
    hint: `If this is expected, sign out and sign in again: ${logoutCommand(server.name)}`,
    needsSignIn: true,
  });
}

interface Introduction {
  /** Undefined for a client that signs people in by device codes. */
  redirectUrl: URL | undefined;
  scopes: string[];
  fetch: FetchLike;
}

/**
 * The client for a sign-in now, in the order of the specification (2026-07-28, basic/authorization/client-registration): of the config,
 * of a document, registered. Throws NetworkFailure.
 */
export async function clientFor(
  server: NetworkServer,
  record: SignInRecord | undefined,
  found: Discovered,
  introduction: Introduction,
): Promise<OAuthClient> {
  const known = knownClient(server, record);
  if (known?.stored.origin === "config") return known;
  const document = oauthOf(server)?.clientMetadataUrl;
  if (document !== undefined && takesDocuments(found)) {
    return { stored: { origin: "document", client_id: document }, information: { client_id: document } };
  }
  if (known?.stored.origin === "registered" && isStillGood(record, found, introduction)) return known;
  const information = await registered(found, introduction);
  const { client_id, client_secret, client_secret_expires_at, token_endpoint_auth_method } = information;
  const kept = { client_id, client_secret, client_secret_expires_at, token_endpoint_auth_method };
  return { stored: { origin: "registered", ...kept }, information };
}

function takesDocuments({ metadata }: Discovered): boolean {
  return metadata?.client_id_metadata_document_supported === true;
}

/** Whether the client is registered at this issuer, for this redirect URL, with a secret that has not expired. */
function isStillGood(record: SignInRecord | undefined, { issuer }: Discovered, { redirectUrl }: Introduction): boolean {
  const { client_secret_expires_at: end = 0 } = record?.client ?? {};
  const isHere = record?.issuer !== undefined && isSameIssuer(record.issuer, issuer);
  return isHere && record.redirectUrl === redirectUrl?.href && (end === 0 || end * 1_000 > Date.now());
}

async function registered(found: Discovered, { redirectUrl, scopes, fetch }: Introduction) {
  const { issuer, metadata } = found;
  if (metadata && metadata.registration_endpoint === undefined) {
    const byHand = `Register a client at ${new URL(issuer).origin}, then add its ID to the config: "oauth": { "clientId": "…", "callbackPort": … }.`;
    const byDocument = `Publish a client metadata document, then add its address: "oauth": { "clientMetadataUrl": "https://…", "callbackPort": … }.`;
    throw new NetworkFailure("its authorization server does not support automatic client registration", {
      code: "CONFIG_INVALID",
      hint: takesDocuments(found) ? `${byDocument} Or: ${byHand}` : byHand,
    });
  }
  const clientMetadata = {
    client_name: "claudikins",
    // Some servers accept a redirect to this machine only for native applications.
    ...{ application_type: !redirectUrl || isLoopback(redirectUrl.hostname) ? "native" : "web" },
    redirect_uris: redirectUrl ? [redirectUrl.href] : [],
    grant_types: [redirectUrl ? "authorization_code" : deviceGrant, "refresh_token"],
    response_types: redirectUrl ? ["code"] : [],
    token_endpoint_auth_method: authenticationMethod(metadata?.token_endpoint_auth_methods_supported),
  };
  try {
    return await registerClient(issuer, {
      ...(metadata ? { metadata } : {}),
      clientMetadata,
      ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
      fetchFn: async (url, init) => plainRegistration(await fetch(url, init), clientMetadata),
    });
  } catch (error) {
    if (isOurs(error)) throw error;
    if (!metadata) {
      throw new NetworkFailure("it does not say where to sign in", {
        code: "CONFIG_INVALID",
        hint: 'Add a token to the config: "headers": { "Authorization": "Bearer ${TOKEN}" }.',
      });
    }
    if (!(error instanceof AuthorizationRefused))
      throw notOAuth("its authorization server returned an invalid client registration");
    throw new NetworkFailure(`its authorization server rejected registration: ${error.message}`, {
      code: "AUTH_REQUIRED",
      hint: 'Register a client there by hand, then add its ID to the config: "oauth": { "clientId": "…" }.',
    });
  }
}

/** The parts of an answer that are used. Authorization servers leave out what they were sent, or write it in other ways than the SDK requires. */
async function plainRegistration(response: Response, sent: object): Promise<Response> {
  const answer = parsedJson(await response.clone().text());
  if (!response.ok || !isObject(answer)) return response;
  const { client_id, client_secret, client_secret_expires_at: expiresAt, token_endpoint_auth_method: method } = answer;
  return Response.json({
    ...sent,
    client_id,
    ...(typeof client_secret === "string" ? { client_secret } : {}),
    ...(expiresAt === undefined ? {} : { client_secret_expires_at: Number(expiresAt) || 0 }),
    ...(typeof method === "string" ? { token_endpoint_auth_method: method } : {}),
  });
}

/** A client without a secret if possible, because a secret on this machine is not secret. */
function authenticationMethod(supported: string[] = []): string {
  const withSecret = supported.filter((method) => /^client_secret_(?:basic|post)$/.test(method)).sort();
  return supported.includes("none") ? "none" : (withSecret[0] ?? "none");
}

type Proof = Pick<OAuthEntry, "privateKey" | "privateKeyFile" | "algorithm">;

function signature(clientId: string, proof: Proof): AddClientAuthentication | undefined {
  const text = proof.privateKey ?? keyText(proof.privateKeyFile);
  if (text === undefined) return undefined;
  const key = privateKey(text);
  return createPrivateKeyJwtAuth({
    issuer: clientId,
    subject: clientId,
    privateKey: key.export({ format: "jwk" }) as Record<string, unknown>,
    alg: proof.algorithm ?? algorithmOf(key),
  });
}

function keyText(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw badKey(`cannot read the "privateKeyFile" of its "oauth" (${systemCodeOf(error) ?? "unknown error"})`);
  }
}

/** PEM or JWK. In environment variables, the line ends of a PEM are often written as `\n`. */
function privateKey(text: string): KeyObject {
  try {
    const trimmed = text.trim();
    if (trimmed.startsWith("{")) return createPrivateKey({ key: JSON.parse(trimmed), format: "jwk" });
    return createPrivateKey(trimmed.replaceAll("\\n", "\n"));
  } catch {
    throw badKey('the private key in its "oauth" is neither PEM nor JWK');
  }
}

/** The usual algorithm of a key, by its type or curve. */
const algorithms: Record<string, string> = {
  rsa: "RS256",
  "rsa-pss": "PS256",
  ed25519: "EdDSA",
  prime256v1: "ES256",
  "P-256": "ES256",
  secp384r1: "ES384",
  secp521r1: "ES512",
};

function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): string {
  const algorithm = algorithms[(type === "ec" ? details?.namedCurve : type) ?? ""];
  if (algorithm === undefined) throw badKey('the private key in its "oauth" has a type that cannot sign JWTs');
  return algorithm;
}

function badKey(message: string): NetworkFailure {
  return new NetworkFailure(shortLine(message), {
    code: "CONFIG_INVALID",
    hint: 'Check "privateKey" or "privateKeyFile" in the config, and the variables in it.',
  });
}

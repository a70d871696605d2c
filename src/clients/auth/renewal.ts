/** Renews tokens, or gets them without a person: once, for all callers and processes that need them. */
import type { NetworkServer } from "../../config/load.ts";
import { ClaudikinsError } from "../../errors.ts";
import { NetworkFailure } from "../network-failure.ts";
import type { Challenge } from "./challenge.ts";
import { type Client, checkIssuer, knownClient, oauthOf } from "./client.ts";
import { type CredentialStore, isExpired, type SignInRecord, type Tokens } from "./credentials.ts";
import { discover } from "./discovery.ts";
import { privateFetch } from "./private-fetch.ts";
import { deskOf, isEnded, isStranger, refreshed, storedMetadata, tokensForClient } from "./tokens.ts";
import { loginCommand, Refused } from "./words.ts";

export interface Renewal {
  server: NetworkServer;
  /** The server's URL, with the scheme of HTTP. */
  url: URL;
  store: CredentialStore;
  /** The server's challenge when it refused the request. */
  challenge?: Challenge | undefined;
  /** The access token that was refused. Another one in the file has been renewed meanwhile. */
  refused?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Undefined if a person must sign in first. Throws NetworkFailure. A sign-in that has ended is removed. */
export async function renew(renewal: Renewal): Promise<Tokens | undefined> {
  const { server, store, refused } = renewal;
  try {
    return await store.alone(server, async () => {
      const record = store.read(server);
      const { tokens } = record ?? {};
      if (tokens && tokens.access !== refused && !isExpired(tokens)) return tokens;
      if (oauthOf(server)?.grant === "client_credentials") return await fromClient(renewal, record);
      return record && tokens?.refresh !== undefined ? await fromRefresh(renewal, record, tokens) : undefined;
    });
  } catch (error) {
    // An error of the lock or the file.
    if (!(error instanceof ClaudikinsError)) throw error;
    throw new NetworkFailure(`its sign-in cannot be renewed: ${error.message}`, {
      code: error.code,
      hint: error.hint ?? "Try again.",
    });
  }
}

async function fromRefresh(renewal: Renewal, record: SignInRecord, before: Tokens): Promise<Tokens | undefined> {
  const { server, store } = renewal;
  const client = knownClient(server, record);
  const desk = client && deskOf(record, client, fetchFor(renewal));
  if (!desk) return undefined;
  try {
    const tokens = await refreshed(desk, before);
    await store.update(server, (now) => ({ ...(now ?? record), tokens }));
    return tokens;
  } catch (error) {
    const isLost = isStranger(error) && client.stored.origin !== "config";
    if (isEnded(error) || isLost) {
      await store.update(server, (now) => now && without(now, isLost ? ["tokens", "client"] : ["tokens"]));
      return undefined;
    }
    throw failureOf(error, server, client);
  }
}

async function fromClient(renewal: Renewal, record: SignInRecord | undefined): Promise<Tokens | undefined> {
  const { server, url, store, challenge } = renewal;
  const client = knownClient(server, undefined);
  if (!client) return undefined;
  const fetch = fetchFor(renewal);
  const found = await discover(url, challenge, fetch);
  checkIssuer(server, record, found);
  const { issuer, metadata, resource, scopes: offered } = found;
  const scopes = union(chosenScopes(server) ?? challenge?.scopes ?? offered, record?.wantedScopes);
  try {
    const tokens = await tokensForClient({ issuer, metadata, resource, client, fetch }, scopes);
    await store.update(server, (now) => ({
      ...now,
      server: server.name,
      issuer,
      metadata: storedMetadata(metadata),
      resource,
      client: client.stored,
      tokens,
    }));
    return tokens;
  } catch (error) {
    throw failureOf(error, server, client);
  }
}

function failureOf(error: unknown, server: NetworkServer, { stored }: Client): unknown {
  if (!(error instanceof Refused)) return error;
  const isOfConfig = isStranger(error) || oauthOf(server)?.grant === "client_credentials";
  const hint =
    isOfConfig && stored.origin === "config" ? 'Correct "oauth" in its config entry.' : loginCommand(server.name);
  return new NetworkFailure(`its sign-in was rejected: ${error.message}`, {
    code: "AUTH_REQUIRED",
    hint,
    needsSignIn: true,
  });
}

function fetchFor({ url, signal = new AbortController().signal }: Renewal) {
  return privateFetch(url, signal);
}

export function without(record: SignInRecord, keys: (keyof SignInRecord)[]): SignInRecord {
  return Object.fromEntries(
    Object.entries(record).filter(([key]) => !keys.includes(key as keyof SignInRecord)),
  ) as never;
}

/** The scopes of the config; one text may contain several. Undefined if the config names none. */
export function chosenScopes(server: NetworkServer): string[] | undefined {
  return oauthOf(server)
    ?.scopes?.flatMap((each) => each.split(/\s+/))
    .filter(Boolean);
}

export function union(...lists: (string[] | undefined)[]): string[] {
  return [...new Set(lists.flatMap((list) => list ?? []))];
}

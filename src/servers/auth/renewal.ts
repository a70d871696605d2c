/** Renews tokens, or gets them without a person: once, for all callers and processes that need them. */
import type { FetchLike } from "@modelcontextprotocol/client";
import { ClaudikinsError } from "../../base/errors.ts";
import type { ExchangeEntry } from "../../config/credentials.ts";
import type { NetworkServer } from "../../config/load.ts";
import type { SourceSignIn } from "../../sources/source.ts";
import { NetworkFailure } from "../failures/network-failure.ts";
import type { Challenge } from "./challenge.ts";
import { checkIssuer, knownClient, type OAuthClient, oauthOf } from "./client.ts";
import { type CredentialStore, isExpired, needsNobody, type SignInRecord, type Tokens } from "./credentials.ts";
import { discoveredIn } from "./described.ts";
import { discover } from "./discovery.ts";
import { type OwnHeaders, privateFetch } from "./private-fetch.ts";
import { isEnded, isStranger, oauthContextOf, recordOf, refreshed, tokensForClient } from "./tokens.ts";
import { AuthorizationRefused, signInHint } from "./words.ts";

interface Renewal {
  server: NetworkServer;
  /** The server's URL, with the scheme of HTTP. */
  url: URL;
  store: CredentialStore;
  /** The server's challenge when it refused the request. */
  challenge?: Challenge | undefined;
  /** The access token that was refused. Another one in the file has been renewed meanwhile. */
  refused?: string | undefined;
  /** The headers of the entry, for the server's own origin. */
  headers?: OwnHeaders | undefined;
  /** The sign-in that the document of a source describes. */
  described?: SourceSignIn | undefined;
  signal?: AbortSignal | undefined;
}

/** Undefined if a person must sign in first. Throws NetworkFailure. A sign-in that has ended is removed. */
export async function renew(renewal: Renewal): Promise<Tokens | undefined> {
  const { server, url, store, refused, headers, signal = new AbortController().signal } = renewal;
  try {
    return await store.alone(server, async () => {
      const record = store.read(server);
      const { tokens } = record ?? {};
      if (tokens && tokens.access !== refused && !isExpired(tokens)) return tokens;
      const fetch = privateFetch(url, signal, headers);
      if (server.exchange) return await fromExchange(renewal, server.exchange, record, fetch);
      if (needsNobody(server)) return await fromClient(renewal, record, fetch);
      return record && tokens?.refresh !== undefined ? await fromRefresh(renewal, record, tokens, fetch) : undefined;
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

async function fromExchange(
  { server, url, store, challenge, signal = new AbortController().signal }: Renewal,
  exchange: ExchangeEntry,
  before: SignInRecord | undefined,
  fetch: FetchLike,
): Promise<Tokens | undefined> {
  const wantedScopes = before?.wantedScopes;
  const asked = { server, exchange, store, signal };
  const made =
    exchange.kind === "id-jag"
      ? await (await import("./id-jag.ts")).fromAssertion({ ...asked, url, challenge, wantedScopes, fetch })
      : await (await import("./exchange.ts")).exchanged(asked);
  // The person may have been revoked meanwhile.
  const isHere = () => store.subjectToken(server) !== undefined;
  await store.update(server, () => (isHere() ? { ...made, wantedScopes } : undefined));
  return made.tokens;
}

async function fromRefresh(
  { server, store }: Renewal,
  record: SignInRecord,
  before: Tokens,
  fetch: FetchLike,
): Promise<Tokens | undefined> {
  const client = knownClient(server, record);
  const context = client && oauthContextOf(record, client, fetch);
  if (!context) return undefined;
  try {
    const tokens = await refreshed(context, before);
    // The credentials of a person may have been removed meanwhile, because the person was revoked.
    await store.update(server, (now) => (now || !store.owner ? { ...(now ?? record), tokens } : undefined));
    return tokens;
  } catch (error) {
    const isLost = isStranger(error) && client.stored.origin !== "config";
    if (!isEnded(error) && !isLost) throw failureOf(error, { server, store }, client);
    await store.update(server, (now) => now && { ...now, tokens: undefined, ...(isLost ? { client: undefined } : {}) });
    return undefined;
  }
}

async function fromClient(
  { server, url, store, challenge, described }: Renewal,
  record: SignInRecord | undefined,
  fetch: FetchLike,
) {
  const client = knownClient(server, undefined);
  if (!client) return undefined;
  const found = described ? await discoveredIn(described, fetch) : await discover(url, challenge, fetch);
  checkIssuer(server, record, found);
  const context = { ...found, client, fetch };
  const scopes = union(chosenScopes(server) ?? challenge?.scopes ?? found.scopes, record?.wantedScopes);
  try {
    const tokens = await tokensForClient(context, scopes);
    await store.update(server, (now) => ({ ...now, ...recordOf(server.name, context, tokens) }));
    return tokens;
  } catch (error) {
    throw failureOf(error, { server, store }, client);
  }
}

function failureOf(
  error: unknown,
  { server, store }: Pick<Renewal, "server" | "store">,
  { stored }: OAuthClient,
): unknown {
  if (!(error instanceof AuthorizationRefused)) return error;
  const isOfConfig = isStranger(error) || needsNobody(server);
  const hint =
    isOfConfig && stored.origin === "config"
      ? 'Correct "oauth" in its config entry.'
      : signInHint(server.name, store.owner);
  return new NetworkFailure(`its sign-in was rejected: ${error.message}`, {
    code: "AUTH_REQUIRED",
    hint,
    needsSignIn: true,
  });
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

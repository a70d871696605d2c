/** Opens the channel to a source: a web API, for which claudikins speaks MCP itself. */
import { ClaudikinsError } from "../../base/errors.ts";
import type { NetworkServer } from "../../config/load.ts";
import { sourcesFolder } from "../../config/locations.ts";
import { wantsSignIn } from "../../config/oauth.ts";
import { isWebAddress, type SourceKind } from "../../config/sources.ts";
import { SourceTransport } from "../../sources/connect.ts";
import type { ApiOptions } from "../../sources/openapi/source.ts";
import type { Source, SourceSignIn } from "../../sources/source.ts";
import { apiOf } from "../auth/described.ts";
import { NetworkFailure } from "../failures/network-failure.ts";
import type { Authorizer, Endpoint } from "../network/endpoint.ts";
import { sourceSender } from "../network/source-sender.ts";
import type { Channel, ChannelOptions } from "./channel.ts";
import { WorkspaceFiles } from "./workspace-files.ts";

export interface SourceOptions extends ChannelOptions {
  endpoint: Endpoint;
  /** A person's own keys were filled in. */
  hasOwnKeys: boolean;
  /** Returns what adds the token of a sign-in at the API with this address. */
  accessTo: (url: URL, described?: SourceSignIn) => Promise<Authorizer | undefined>;
}

/** Opens a source of one kind. Reads the description of the API, unless it was kept. */
type Open = (server: NetworkServer, options: SourceOptions, signal: AbortSignal) => Promise<Source>;

const kinds: Record<SourceKind, Open> = {
  openapi: async (server, options, signal) => {
    const [{ signInOf }, { apiSource }] = await Promise.all([
      import("../../sources/openapi/sign-in.ts"),
      import("../../sources/openapi/source.ts"),
    ]);
    const { name: entry, baseUrl, openapi: document = "", auth } = server;
    const { endpoint, env, workspace } = options;
    const api = await apiOf(server, endpoint.headers, { env, signal });
    for (const problem of api.problems) options.log.debug(`${entry}: ${problem}`);
    const files = workspace === undefined ? undefined : new WorkspaceFiles(workspace);
    const described = signInOf(api, baseUrl);
    // A file is the user's own. An address may have been changed by others.
    const sentBy = baseUrl === undefined && isWebAddress(document) ? new URL(document) : undefined;
    const sender: ApiOptions["sender"] = async (origins, url) =>
      sourceSender({ ...(await signedBy(url, described, options)), endpoint, origins, sentBy });
    const isForPeople = described !== undefined && maySignIn(server, options);
    return apiSource(api, { entry, baseUrl, auth, maySignIn: isForPeople, files, sender });
  },
  graphql: async (server, options, signal) => {
    const { openGraphql } = await import("../../sources/graphql/source.ts");
    const { name: entry, schema, include, exclude, auth } = server;
    const { endpoint, env, workspace } = options;
    const files = workspace === undefined ? undefined : new WorkspaceFiles(workspace);
    const { url } = endpoint;
    const headers = typeof auth === "string" ? { ...endpoint.headers, authorization: bearer(auth) } : endpoint.headers;
    // The user chose both addresses. The schema may be at the host of somebody else, which gets no credentials of any kind.
    const sendTo = async ({ origin }: URL) =>
      sourceSender({
        ...(origin === url.origin
          ? { ...(await signedBy(url, undefined, options)), endpoint: { headers } }
          : { access: undefined, alwaysSignsIn: false, endpoint: { headers: {} } }),
        origins: new Set([origin]),
        sentBy: undefined,
      });
    const send = await sendTo(url);
    const place = URL.parse(schema ?? "");
    const signsIn = maySignIn(server, options);
    return openGraphql({
      ...{ entry, url, send, signsIn, schema, include, exclude, files, signal },
      sendForSchema: place && isWebAddress(place.href) ? await sendTo(place) : send,
      cacheFolder: sourcesFolder(env),
    });
  },
};

/** A token alone is a bearer token. */
function bearer(auth: string): string {
  return /^[A-Za-z]+ ./.test(auth) ? auth : `Bearer ${auth}`;
}

/** Adds what signs in at the API with this address. Headers of a program and keys of a person belong to all requests. */
async function signedBy(
  url: URL,
  described: SourceSignIn | undefined,
  { accessTo, helper, hasOwnKeys }: SourceOptions,
) {
  return { access: await accessTo(url, described), alwaysSignsIn: helper !== undefined || hasOwnKeys };
}

function maySignIn(server: NetworkServer, { endpoint, credentialsFile, own, hasOwnKeys }: SourceOptions): boolean {
  if (!wantsSignIn(server) || hasOwnKeys || new Headers(endpoint.headers).has("authorization")) return false;
  return credentialsFile !== undefined || own !== undefined;
}

export function openSource(kind: SourceKind, server: NetworkServer, options: SourceOptions): Channel {
  let failure: NetworkFailure | undefined;
  const transport = new SourceTransport(async (signal) => {
    try {
      return await kinds[kind](server, options, signal);
    } catch (error) {
      failure = failureOf(error, server);
      throw failure ?? error;
    }
  });
  return {
    transport,
    pid: () => undefined,
    ended: () => failure?.message ?? "",
    lastWords: () => [],
    failure: () => failure,
  };
}

/** The error in the form that a server on the network has. */
function failureOf(error: unknown, { openapi, schema }: NetworkServer): NetworkFailure | undefined {
  if (error instanceof NetworkFailure) return error;
  if (!(error instanceof ClaudikinsError)) return undefined;
  const { code, message, hint } = error;
  if (hint !== undefined) return new NetworkFailure(message, { code, hint });
  // The address of a document may contain a secret.
  const file = [openapi, schema].find((place) => place !== undefined && !isWebAddress(place));
  const about = file === undefined ? "" : `: its document is ${file}`;
  return new NetworkFailure(message, {
    code,
    hint: `Check its entry in the config${about}.`,
    onPage: file === undefined ? "Check its document and its address." : `Check its document: ${file}.`,
  });
}

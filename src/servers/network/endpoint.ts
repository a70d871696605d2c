/** The URL and headers of a server on the network, from its config. */
import { percentDecoded } from "../../base/percent-decoded.ts";
import { addressProblem } from "../../config/address.ts";
import type { NetworkServer } from "../../config/load.ts";
import type { SourceSignIn } from "../../sources/source.ts";
import { NetworkFailure } from "../failures/network-failure.ts";

/** Adds credentials to requests, and renews them when the server refuses them. */
export interface Authorizer {
  /** The headers for a request now. Throws NetworkFailure if there are none. */
  headers(): Promise<Record<string, string>>;
  readonly fetch: (to: string | URL, init: RequestInit) => Promise<Response>;
}

export interface Endpoint {
  /** Without userinfo, which becomes a header. */
  url: URL;
  headers: Record<string, string>;
  hasToken: boolean;
  /** The sign-in that the document of a source describes. */
  described?: SourceSignIn | undefined;
  /** Set if claudikins may sign in, or if a program makes headers. */
  access?: Authorizer | undefined;
}

/** Throws NetworkFailure with CONFIG_INVALID if the values of variables make the URL or a header invalid. */
export function endpointOf(server: NetworkServer): Endpoint {
  const problem = addressProblem(server.url, server.transport);
  // After expansion, what looks like a reference is plain text.
  if (problem !== undefined || !URL.canParse(server.url)) {
    throw invalid(`its "url" is invalid: ${problem ?? "expected an address"}`);
  }
  const url = new URL(server.url);
  const headers = checkedHeaders(server.headers);
  if (url.username !== "" && !headers.has("authorization")) {
    const userinfo = `${percentDecoded(url.username)}:${percentDecoded(url.password)}`;
    headers.set("authorization", `Basic ${Buffer.from(userinfo).toString("base64")}`);
  }
  url.username = "";
  url.password = "";
  url.hash = "";
  return {
    url,
    headers: Object.fromEntries(headers),
    hasToken: [...headers].length > 0 || url.search !== "" || server.headersHelper !== undefined,
  };
}

function checkedHeaders(declared: Record<string, string>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(declared)) {
    try {
      headers.set(name, value);
    } catch {
      throw invalid(`its header "${name}" has a value with invalid characters`);
    }
  }
  return headers;
}

function invalid(message: string): NetworkFailure {
  return new NetworkFailure(message, {
    code: "CONFIG_INVALID",
    hint: "Check the config entry and the variables in it.",
  });
}

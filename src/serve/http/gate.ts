/** Checks requests: Host and Origin, which protects against web pages that call this machine, and the bearer token. */
import { isIP } from "node:net";
import { isLoopback } from "../../base/loopback.ts";
import { isSameSecret } from "../../base/same-secret.ts";
import { tokenOwner } from "../owner.ts";
import type { LiveTokens } from "../tokens/live-tokens.ts";
import type { Caller } from "./clients.ts";
import type { PeopleGate } from "./people-gate.ts";
import { HttpRefusal, invalidToken, noToken } from "./refusal.ts";

export interface HttpGateOptions {
  /** The name or address that the server listens on. */
  host: string;
  /** The token that opens every address. Undefined without people means that none is needed. */
  token?: string | undefined;
  /** Lets people in who have signed in. */
  people?: PeopleGate | undefined;
  /** Further tokens, each of which may open one address only. */
  tokens?: LiveTokens | undefined;
  /** Further host names that clients may use. */
  allowedHosts: readonly string[];
  /** Web pages that may call: `https://app.example.com`. */
  allowedOrigins: readonly string[];
}

export class HttpGate {
  readonly #isLoopback: boolean;
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #token: string | undefined;
  readonly #tokens: LiveTokens | undefined;
  readonly #people: PeopleGate | undefined;

  constructor({ host, token, tokens, people, allowedHosts, allowedOrigins }: HttpGateOptions) {
    this.#isLoopback = isLoopback(host);
    this.#hosts = new Set([host, ...allowedHosts].map((each) => each.toLowerCase()));
    this.#origins = new Set(allowedOrigins);
    this.#token = token;
    this.#tokens = tokens;
    this.#people = people;
  }

  /** The headers that let a browser show the answer to a page of an allowed origin. */
  corsHeaders(request: Request): Record<string, string> {
    const origin = request.headers.get("origin");
    if (origin === null || !this.#origins.has(origin)) return {};
    return {
      "access-control-allow-origin": origin,
      "access-control-expose-headers": "mcp-session-id, retry-after, www-authenticate",
      vary: "origin",
    };
  }

  /** Refuses foreign host names that resolve to our address (DNS rebinding). Throws an HttpRefusal with status 403. */
  checkHost(request: Request): void {
    const header = request.headers.get("host");
    // Anything but host and port would be parsed as another part of the URL.
    const name = /^[^\s@/?#\\]+$/.test(header ?? "") ? hostnameOf(`http://${header}`) : undefined;
    if (name !== undefined && this.#isOurs(name)) return;
    throw new HttpRefusal(
      403,
      `The Host ${shown(header)} is not allowed. To allow it, use --allow-host ${name ?? "name"}`,
    );
  }

  #isOurs(name: string): boolean {
    if (isLoopback(name) || this.#hosts.has(name) || name === this.#people?.hostname) return true;
    // Addresses are safe: only names can be made to resolve elsewhere.
    return !this.#isLoopback && isIP(name) > 0;
  }

  /** Browsers send the origin of the calling page; other programs send none. Throws an HttpRefusal with status 403. */
  checkOrigin(request: Request): void {
    const origin = request.headers.get("origin");
    if (origin === null || this.#origins.has(origin)) return;
    const host = request.headers.get("host") ?? "";
    const name = hostnameOf(origin);
    const isOwn = origin === `http://${host}` || origin === `https://${host}`;
    if (isOwn || (name !== undefined && isLoopback(name) && isLoopback(hostnameOf(`http://${host}`) ?? ""))) return;
    throw new HttpRefusal(403, `Pages of ${shown(origin)} may not call this server. To allow them, use --allow-origin`);
  }

  /**
   * Identifies the sender of a request. `address` is the remote one. Throws an HttpRefusal with status 401, and for people also with 403 and
   * 503.
   */
  async callerOf(request: Request, address: string): Promise<Caller> {
    if (this.#token === undefined && !this.#people) return { address };
    const challenge = this.#people?.challengeFor(request);
    const [, given] = /^Bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    if (given === undefined) throw noToken(challenge);
    if (this.#token !== undefined && isSameSecret(given, this.#token)) return { address };
    const found = this.#tokens?.use(given);
    if (found?.hasExpired) throw invalidToken("The token has expired", challenge);
    if (found) {
      const { id, door, ended } = found;
      return { owner: tokenOwner(id), door, ended, revoked: ended, address };
    }
    if (this.#people) return this.#people.callerOf(given, request, address);
    throw invalidToken("The token is wrong");
  }
}

/** Answers a CORS preflight request of an allowed origin. */
export function preflight(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers":
        "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id",
      "access-control-max-age": "600",
    },
  });
}

/** In lower case, without port and brackets. */
function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "") : undefined;
}

function shown(header: string | null): string {
  return JSON.stringify((header ?? "").slice(0, 100));
}

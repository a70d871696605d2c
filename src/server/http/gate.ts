/** Who may come in: the Host and Origin of a request, against web pages that reach for this machine, and a bearer token. */
import { createHash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import { isLoopback } from "./loopback.ts";
import { Refusal } from "./refusal.ts";

export interface GateOptions {
  /** The name or address that is listened at. */
  host: string;
  /** What every request has to have; without it nobody is asked for one. */
  token?: string | undefined;
  /** Names by which we may be called, besides our own. */
  allowedHosts: readonly string[];
  /** Web pages that may call: `https://app.example.com`. */
  allowedOrigins: readonly string[];
}

const challenge = 'Bearer realm="claudikins"';

export class Gate {
  readonly #isLoopback: boolean;
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #token: Buffer | undefined;

  constructor({ host, token, allowedHosts, allowedOrigins }: GateOptions) {
    this.#isLoopback = isLoopback(host);
    this.#hosts = new Set([host, ...allowedHosts].map((each) => each.toLowerCase()));
    this.#origins = new Set(allowedOrigins);
    this.#token = token === undefined ? undefined : digest(token);
  }

  /** Throws a Refusal: 403 for a Host or Origin, 401 for the token. */
  check(request: Request): void {
    this.checkHost(request);
    this.#checkOrigin(request);
    this.#checkToken(request);
  }

  /** What a browser asks before it lets a page call us. Throws a Refusal. */
  preflight(request: Request): Response {
    this.checkHost(request);
    this.#checkOrigin(request);
    return new Response(null, {
      status: 204,
      headers: {
        "access-control-allow-methods": "GET, POST, DELETE",
        "access-control-allow-headers":
          "accept, authorization, content-type, last-event-id, mcp-protocol-version, mcp-session-id",
        "access-control-max-age": "600",
      },
    });
  }

  /** With which a browser shows the answer to the page: only to those that were named. */
  corsHeaders(request: Request): Record<string, string> {
    const origin = request.headers.get("origin");
    if (origin === null || !this.#origins.has(origin)) return {};
    return {
      "access-control-allow-origin": origin,
      "access-control-expose-headers": "mcp-session-id, retry-after, www-authenticate",
      vary: "origin",
    };
  }

  /** A name of somebody else that leads to our address may be a web page's trick (DNS rebinding). Throws a Refusal. */
  checkHost(request: Request): void {
    const header = request.headers.get("host");
    // Anything but a host and a port would be parsed as another part of the URL.
    const name = /^[^\s@/?#\\]+$/.test(header ?? "") ? hostnameOf(`http://${header}`) : undefined;
    if (name !== undefined && this.#isOurs(name)) return;
    throw new Refusal(403, `The Host ${shown(header)} is not allowed. To allow it, use --allow-host ${name ?? "name"}`);
  }

  #isOurs(name: string): boolean {
    if (isLoopback(name) || this.#hosts.has(name)) return true;
    // An address is nobody's trick: only names can be made to lead elsewhere.
    return !this.#isLoopback && isIP(name) > 0;
  }

  /** Browsers say which page calls; other programs say nothing. */
  #checkOrigin(request: Request): void {
    const origin = request.headers.get("origin");
    if (origin === null || this.#origins.has(origin)) return;
    const host = request.headers.get("host") ?? "";
    const name = hostnameOf(origin);
    const isOwn = origin === `http://${host}` || origin === `https://${host}`;
    if (isOwn || (name !== undefined && isLoopback(name) && isLoopback(hostnameOf(`http://${host}`) ?? ""))) return;
    throw new Refusal(403, `Pages of ${shown(origin)} may not call this server. To allow them, use --allow-origin`);
  }

  #checkToken(request: Request): void {
    if (!this.#token) return;
    const [, given] = /^Bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    if (given !== undefined && timingSafeEqual(digest(given), this.#token)) return;
    throw given === undefined
      ? new Refusal(401, "A token is required: Authorization: Bearer …", { "www-authenticate": challenge })
      : new Refusal(401, "The token is wrong", {
          "www-authenticate": `${challenge}, error="invalid_token"`,
        });
  }
}

/** Of equal length, whatever was given. */
function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** In small letters, without port and brackets. */
function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "") : undefined;
}

function shown(header: string | null): string {
  return JSON.stringify((header ?? "").slice(0, 100));
}

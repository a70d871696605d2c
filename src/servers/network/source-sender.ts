/**
 * Sends the requests of a source. It keeps credentials for the hosts that they are meant for, private addresses out of reach of strangers,
 * and the pace that the API asks for.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { mayReach } from "../../base/address-reach.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { version } from "../../base/version.ts";
import type { Send, SourceRequest } from "../../sources/source.ts";
import { NetworkFailure, noAnswer } from "../failures/network-failure.ts";
import type { Authorizer, Endpoint } from "./endpoint.ts";
import { HostPace } from "./host-pace.ts";

/** Redirects of one request. Browsers follow 20, and APIs need one or two. */
const maxRedirects = 5;

/** Wait before a read is repeated, if the API does not say how long. */
const repeatAfterMs = 300;

/** Time for which an address is not resolved again to see who can reach it. */
const reachKnownMs = 30_000;

/** Addresses whose reach is remembered. */
const maxKnownReach = 1_000;

/** The headers that a request keeps on its way to another host. */
const harmlessHeaders = new Set(["accept", "accept-language", "user-agent"]);

export interface SenderOptions {
  /** Its headers are sent to `origins`. */
  endpoint: Pick<Endpoint, "headers">;
  /** The hosts of the API. */
  origins: ReadonlySet<string>;
  /** Adds tokens of a sign-in, and headers of a program. */
  access: Authorizer | undefined;
  /** Whether `access` sends all requests, and not only those that say so. */
  alwaysSignsIn: boolean;
  /** The address from which strangers sent the addresses of the API: of the document. Undefined if the user chose them. */
  sentBy: URL | undefined;
}

export function sourceSender(options: SenderOptions): Send {
  const sender = new Sender(options);
  return (request, signal) => sender.send(request, signal);
}

class Sender {
  readonly #options: SenderOptions;
  /** By origin. */
  readonly #paces = new Map<string, HostPace>();
  /** Until when it is known that one host may name another. */
  readonly #reach = new Map<string, number>();

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  async send(request: SourceRequest, signal: AbortSignal): Promise<Response> {
    if (!this.#options.origins.has(request.url.origin)) throw strangeHost(request.url);
    const isRead = request.isRead ?? (request.method === "GET" || request.method === "HEAD");
    let failure: unknown;
    try {
      const first = await this.#followed(request, signal);
      const waitMs = isRead ? repeatWait(first) : undefined;
      if (waitMs === undefined) return first;
      await first.body?.cancel();
      await sleep(waitMs, undefined, { signal });
    } catch (error) {
      const isBroken = error instanceof NetworkFailure && error.code === "SERVER_UNAVAILABLE";
      if (!isRead || !isBroken || signal.aborted) throw error;
      failure = error;
      await sleep(repeatAfterMs, undefined, { signal });
    }
    try {
      return await this.#followed(request, signal);
    } catch (error) {
      throw failure ?? error;
    }
  }

  async #followed(request: SourceRequest, signal: AbortSignal): Promise<Response> {
    let { method, url, body } = request;
    let headers = new Headers({ "user-agent": `claudikins/${version}`, ...this.#options.endpoint.headers });
    for (const [name, value] of Object.entries(request.headers)) headers.set(name, value);
    let access = request.signsIn || this.#options.alwaysSignsIn ? this.#options.access : undefined;
    let from = this.#options.sentBy;
    for (let redirects = 0; ; redirects++) {
      await this.#checkReach(url, from);
      const init: RequestInit = {
        method,
        headers,
        redirect: "manual",
        signal,
        ...(body === undefined ? {} : { body }),
      };
      const response = await this.#paced(url, init, access, signal);
      const next = redirectOf(response, url);
      if (!next) return response;
      await response.body?.cancel();
      if (redirects === maxRedirects) throw odd(`${url.origin} redirects more than ${maxRedirects} times`);
      const isOther = next.origin !== url.origin;
      const keepsMethod = response.status === 307 || response.status === 308 || method === "HEAD";
      if (isOther && keepsMethod && body !== undefined) {
        throw odd(`${url.origin} redirects a request with a body to ${next.origin}, which did not get it`);
      }
      if (!keepsMethod && method !== "GET") [method, body] = ["GET", undefined];
      if (isOther) {
        headers = new Headers([...headers].filter(([name]) => harmlessHeaders.has(name)));
        access = undefined;
      }
      if (body === undefined) headers.delete("content-type");
      // The next redirect is judged by what this host can reach, not by what the first one can.
      [from, url] = [url, next];
    }
  }

  async #paced(url: URL, init: RequestInit, access: Authorizer | undefined, signal: AbortSignal): Promise<Response> {
    const pace = this.#paces.get(url.origin) ?? new HostPace(url.origin);
    this.#paces.set(url.origin, pace);
    await pace.begin(signal);
    try {
      // Calls have their own time limit. Bun would end a request after five minutes.
      const whole = { ...init, timeout: false } as RequestInit;
      const response = await (access?.fetch(url, whole) ?? fetch(url, whole));
      pace.heard(response);
      return response;
    } catch (error) {
      if (error instanceof NetworkFailure || error instanceof ClaudikinsError || signal.aborted) throw error;
      throw notReached(error, url);
    } finally {
      pace.end();
    }
  }

  async #checkReach(url: URL, from: URL | undefined): Promise<void> {
    if (!from) return;
    const key = `${from.host} ${url.host}`;
    if ((this.#reach.get(key) ?? 0) > performance.now()) return;
    if (!(await mayReach(url, from))) {
      throw new NetworkFailure(`${from.host} names ${url.origin}, which only this machine or its network can reach`, {
        code: "POLICY_DENIED",
        hint: 'If you trust it, write the address of the API as "baseUrl" into its entry in the config.',
      });
    }
    if (this.#reach.size >= maxKnownReach) this.#reach.clear();
    this.#reach.set(key, performance.now() + reachKnownMs);
  }
}

/** Undefined if the response is no redirect that can be followed. */
function redirectOf({ status, headers }: Response, url: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status)) return undefined;
  const next = URL.parse(headers.get("location") ?? "", url.href);
  if (!next || !/^https?:$/.test(next.protocol) || headers.get("location") === null) return undefined;
  next.username = "";
  next.password = "";
  return next;
}

/** The time after which a read is repeated. Undefined if it is not. */
function repeatWait(response: Response): number | undefined {
  if (response.status < 500 && response.status !== 429) return undefined;
  // Not implemented, and the HTTP version: another request has the same answer.
  if ([501, 505].includes(response.status)) return undefined;
  const asked = HostPace.waitOf(response);
  if (asked === undefined) return response.status === 429 ? undefined : repeatAfterMs;
  return asked <= HostPace.longestWaitMs ? asked : undefined;
}

/** The next call may succeed: there is no connection that it needs. */
function notReached(error: unknown, url: URL): NetworkFailure {
  const { message, code, hint } = noAnswer(error, url);
  const isAddress = hint.includes('"url"');
  const advice = 'Check this machine\'s network, and the address of the API: "baseUrl" in its entry in the config.';
  return new NetworkFailure(message, { code, hint: isAddress ? advice : hint });
}

function strangeHost(url: URL): NetworkFailure {
  return new NetworkFailure(`${url.origin} does not belong to the API`, {
    code: "POLICY_DENIED",
    hint: 'Requests go to the servers that its document names, or to "baseUrl" in its entry.',
  });
}

function odd(message: string): NetworkFailure {
  return new NetworkFailure(message, {
    code: "PROTOCOL_ERROR",
    hint: 'Write the address that it redirects to as "baseUrl" into its entry in the config.',
  });
}

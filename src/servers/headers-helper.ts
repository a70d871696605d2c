/**
 * Sends the headers that a server's `headersHelper` prints with each request. The program runs when a connection is opened, and once more
 * after the server has refused its headers, however many requests were refused.
 */
import { httpForm } from "../config/address.ts";
import type { NetworkServer } from "../config/load.ts";
import type { Authorizer } from "./endpoint.ts";
import { type HeadersProgramOptions, type HelpedServer, printedHeaders } from "./headers-program.ts";
import { headersFailureMs, headersFreshMs } from "./limits.ts";
import { NetworkFailure } from "./network-failure.ts";
import { learnSecrets } from "./secrets.ts";

/** Headers that belong to the transport. The program cannot change them, and neither can `headers` in the config. */
const ofTransport = new Set([
  ...["accept", "content-type", "mcp-session-id", "mcp-protocol-version", "last-event-id"],
  ...["connection", "content-length", "host", "transfer-encoding", "upgrade"],
]);

interface HelperAnswer {
  headers: Record<string, string>;
  at: number;
}

/** The headers of one server, for all its connections. */
export class HeadersHelper {
  readonly #server: HelpedServer;
  readonly #options: HeadersProgramOptions;
  #answer: HelperAnswer | undefined;
  #running: Promise<HelperAnswer> | undefined;
  /** By HTTP status: until when new headers would be refused as well. A single tool may be forbidden, while the others work. */
  readonly #refusedUntil = new Map<number, number>();
  #failure: { error: unknown; until: number } | undefined;

  constructor(server: HelpedServer, options: HeadersProgramOptions) {
    this.#server = server;
    this.#options = options;
  }

  /** For a server without a `headersHelper`, undefined. */
  static of(server: NetworkServer, options: HeadersProgramOptions): HeadersHelper | undefined {
    const { headersHelper } = server;
    return headersHelper === undefined ? undefined : new HeadersHelper({ ...server, headersHelper }, options);
  }

  /** For a connection that is being opened. */
  async forNewConnection(): Promise<void> {
    if (this.#answer && performance.now() - this.#answer.at > headersFreshMs) this.#answer = undefined;
    await this.headers();
  }

  /** Throws NetworkFailure if the program fails. */
  async headers(): Promise<Record<string, string>> {
    return (this.#answer ?? (await this.#run())).headers;
  }

  /** Like `fetch`, with the headers. A request that is refused for them is sent once more with new ones. */
  readonly fetch = async (to: string | URL, init: RequestInit): Promise<Response> => {
    const used = this.#answer ?? (await this.#run());
    const response = await fetch(to, withHeaders(init, used.headers));
    // Ending a session is not worth a run.
    if (!isRefusal(response) || init.method === "DELETE") return response;
    const next = await this.#after(used, response.status).catch(async (error: unknown) => {
      await response.body?.cancel();
      throw error;
    });
    if (!next) return response;
    await response.body?.cancel();
    const again = await fetch(to, withHeaders(init, next.headers));
    if (isRefusal(again)) this.#refusedUntil.set(again.status, performance.now() + headersFailureMs);
    return again;
  };

  /** The headers for another attempt. Undefined if they would be refused as well. */
  async #after(refused: HelperAnswer, status: number): Promise<HelperAnswer | undefined> {
    // Another request has found out first.
    if (this.#answer && this.#answer !== refused) return this.#answer;
    const now = performance.now();
    if (!this.#running && now < (this.#refusedUntil.get(status) ?? 0)) return undefined;
    if (this.#failure && now < this.#failure.until) throw this.#failure.error;
    try {
      return await this.#run();
    } catch (error) {
      this.#failure = { error, until: performance.now() + headersFailureMs };
      throw error;
    }
  }

  #run(): Promise<HelperAnswer> {
    this.#running ??= printedHeaders(this.#server, this.#options)
      .then((headers) => {
        learnSecrets(this.#server, Object.values(headers));
        this.#failure = undefined;
        this.#answer = { headers, at: performance.now() };
        return this.#answer;
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }
}

/** Authorizes requests with the headers of the program, and with a sign-in if the config has one and the program prints no `Authorization`. */
export class HelpedAccess implements Authorizer {
  readonly #helper: HeadersHelper;
  readonly #origin: string;
  readonly #access: Authorizer | undefined;

  /** `access` sends its requests with the helper's `fetch`. */
  constructor(helper: HeadersHelper, url: URL, access: Authorizer | undefined) {
    this.#helper = helper;
    this.#origin = httpForm(url).origin;
    this.#access = access;
  }

  async headers(): Promise<Record<string, string>> {
    const headers = await this.#helper.headers();
    if (!this.#access || hasAuthorization(headers)) return headers;
    return { ...headers, ...(await this.#access.headers()) };
  }

  /** The headers are sent only to the server's own origin. Throws NetworkFailure with AUTH_REQUIRED if the server refuses them. */
  readonly fetch = async (to: string | URL, init: RequestInit): Promise<Response> => {
    if (new URL(to).origin !== this.#origin) return fetch(to, init);
    const access = hasAuthorization(await this.#helper.headers()) ? undefined : this.#access;
    const response = await (access ?? this.#helper).fetch(to, init);
    if (!isRefusal(response) || init.method === "DELETE") return response;
    await response.body?.cancel();
    throw new NetworkFailure(`it refused the headers of its headersHelper (${response.status})`, {
      code: "AUTH_REQUIRED",
      hint: 'Run the line of "headersHelper" in a terminal and check what it prints. claudikins runs it again at most every 30 s.',
      status: response.status,
    });
  };
}

function hasAuthorization(headers: Record<string, string>): boolean {
  return "authorization" in headers;
}

function isRefusal({ status }: Response): boolean {
  return status === 401 || status === 403;
}

function withHeaders(init: RequestInit, own: Record<string, string>): RequestInit {
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(own)) if (!ofTransport.has(name)) headers.set(name, value);
  return { ...init, headers };
}

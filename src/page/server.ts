/** Serves the page of `claudikins ui` on a port of this machine, to whoever has exchanged a token for a session. */
import { ClaudikinsError, messageOf, toClaudikinsError } from "../base/errors.ts";
import { eventLoopTurn } from "../base/event-loop.ts";
import type { Log } from "../base/log.ts";
import { RedirectFile } from "../base/redirect-file.ts";
import type { PageApi } from "./api.ts";
import type { PageRefusal } from "./contract.ts";
import { bodyOf, checkHost, checkPeer, checkSender, cookieIn, RefusedRequest, sessionBody } from "./guard.ts";
import { maxPageBodyBytes, pageLookMs } from "./limits.ts";
import { Live } from "./live.ts";
import { headers, howToOpen, pageFiles, tracePolicy } from "./page-files.ts";
import { PageSessions, type SessionTimes, secret } from "./sessions.ts";

interface PageServerOptions {
  api: PageApi;
  log: Log;
  /** The user's home folder. */
  home: string;
  times?: SessionTimes | undefined;
}

/** Where to open the page. The token works once, and for a minute. */
export interface Invitation {
  port: number;
  /** Begins and ends with a slash. */
  path: string;
  token: string;
  /** A file that leads a browser there, if it was asked for. It exists until the token is used, and for a minute at most. */
  file?: string;
}

const cookie = "claudikins";

/** No other address is served, so that each connection has one owner to look for. */
const hostname = "127.0.0.1";

export class PageServer {
  readonly #options: PageServerOptions;
  readonly #sessions: PageSessions;
  readonly #server: Bun.Server<undefined>;
  readonly #host: string;
  /**
   * Browsers send cookies to all ports of a host, but only below the path of the cookie. So other programs that listen on this
   * machine never get the session.
   */
  readonly #path = `/${secret().slice(0, 22)}/`;
  readonly #live: Live;
  /** The state that is being read, for all who want it. */
  #reading: Promise<string> | undefined;
  /** By their tokens. */
  readonly #files = new Map<string, RedirectFile>();
  #closing: Promise<void> | undefined;

  /** Starts to listen on a free port. */
  constructor(options: PageServerOptions) {
    this.#options = options;
    this.#sessions = new PageSessions(options.times);
    this.#live = new Live({ read: () => this.#readState(), everyMs: pageLookMs });
    this.#server = Bun.serve({
      hostname,
      port: 0,
      development: false,
      reusePort: false,
      maxRequestBodySize: maxPageBodyBytes,
      fetch: (request, server) => this.#answer(request, server),
    });
    this.#host = `${hostname}:${this.#server.port}`;
  }

  /** Throws FILE_NOT_WRITABLE. */
  invite({ withFile = false } = {}): Invitation {
    const token = this.#sessions.newToken();
    const invitation = { port: this.#server.port!, path: this.#path, token };
    if (!withFile) return invitation;
    const address = new URL(`http://${this.#host}${this.#path}#${token}`);
    const file = new RedirectFile(address, this.#options.home, () => this.#files.delete(token));
    this.#files.set(token, file);
    return { ...invitation, file: file.path };
  }

  /** Whether a page is open in a browser, or may be opened with a token. */
  get isInUse(): boolean {
    return this.#sessions.isInUse;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#live.close();
    for (const file of this.#files.values()) file[Symbol.dispose]();
    await this.#options.api.close();
    // The last event is sent before the connections end.
    await Bun.sleep(0);
    await this.#server.stop(true);
  }

  async #answer(request: Request, server: Bun.Server<undefined>): Promise<Response> {
    // Many requests at once must not block the process together.
    await eventLoopTurn();
    const response = await this.#route(request, server).catch((error: unknown) => this.#refusal(error));
    for (const [name, value] of Object.entries(headers)) {
      if (!response.headers.has(name)) response.headers.set(name, value);
    }
    return response;
  }

  #refusal(thrown: unknown): Response {
    const { log } = this.#options;
    if (thrown instanceof RefusedRequest) {
      const { status, message, hint } = thrown;
      log.debug(`the page refused a request: ${message}`);
      return refused(status, message, hint);
    }
    const { message, hint } = toClaudikinsError(thrown);
    if (!(thrown instanceof ClaudikinsError)) log.warn(`the page failed: ${messageOf(thrown)}`);
    return refused(thrown instanceof ClaudikinsError ? 422 : 500, message, hint);
  }

  async #route(request: Request, server: Bun.Server<undefined>): Promise<Response> {
    checkHost(request, this.#host);
    await checkPeer(server.requestIP(request), { address: hostname, port: this.#server.port! });
    const { pathname, searchParams } = new URL(request.url);
    if (!pathname.startsWith(this.#path)) return new Response(`${howToOpen}\n`, { status: 404 });
    const path = pathname.slice(this.#path.length);
    const file = request.method === "GET" ? pageFiles.get(path) : undefined;
    if (file) return new Response(file.text, { headers: { "content-type": file.type } });
    const isTrace = request.method === "GET" && path.startsWith("trace/");
    // A person may open the page of an execution in a tab of its own.
    if (!isTrace) checkSender(request, `http://${this.#host}`, request.method !== "GET");
    const route = `${request.method} ${path}`;
    if (route === "POST api/session") return this.#begin(request);
    const session = cookieIn(request, cookie);
    if (session === undefined || !this.#sessions.use(session)) throw new RefusedRequest(401, howToOpen);
    if (isTrace) return tracePage(await this.#options.api.tracePage(path.slice("trace/".length)));
    if (route === "GET api/events") return this.#events(request, server, session);
    if (route === "GET api/state") return this.#state(request);
    const answer = await this.#options.api.answer(route, request, searchParams);
    if (request.method !== "GET") {
      // A reading that has begun may show the state before the change, so the next request reads again. Other pages read again at once.
      this.#reading = undefined;
      void this.#live.look();
    }
    return Response.json(answer ?? {});
  }

  /** Exchanges a token for a session. */
  async #begin(request: Request): Promise<Response> {
    const { token } = await bodyOf(request, sessionBody);
    this.#files.get(token)?.[Symbol.dispose]();
    const exchanged = this.#sessions.exchange(token);
    if ("session" in exchanged) {
      const { session } = exchanged;
      const attributes = `Path=${this.#path}; HttpOnly; SameSite=Strict`;
      return new Response(null, { status: 204, headers: { "set-cookie": `${cookie}=${session}; ${attributes}` } });
    }
    if (exchanged.refused === "used twice") {
      this.#options.log.warn("an address of the page was opened twice, so the first page was closed");
      throw new RefusedRequest(
        401,
        "This address was already used, so the page that was opened with it is closed too",
        "Run claudikins ui again.",
      );
    }
    throw new RefusedRequest(
      401,
      "This address is no longer valid",
      "Each address works once, for a minute. Run claudikins ui again.",
    );
  }

  #events(request: Request, server: Bun.Server<undefined>, session: string): Response {
    server.timeout(request, 0);
    const end = this.#sessions.stream(session);
    const stream = this.#live.stream(() => this.#sessions.has(session), end);
    return new Response(stream.pipeThrough(new TextEncoderStream()), {
      headers: { "content-type": "text/event-stream" },
    });
  }

  #readState(): Promise<string> {
    const reading = this.#reading ?? this.#options.api.state().then((state) => JSON.stringify(state));
    this.#reading = reading;
    const done = () => {
      if (this.#reading === reading) this.#reading = undefined;
    };
    reading.then(done, done);
    return reading;
  }

  async #state(request: Request): Promise<Response> {
    const text = await this.#readState();
    const etag = `"${Bun.hash(text).toString(36)}"`;
    if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304, headers: { etag } });
    return new Response(text, { headers: { "content-type": "application/json", etag } });
  }
}

function refused(status: number, error: string, hint: string | undefined): Response {
  return Response.json({ error, hint } satisfies PageRefusal, { status });
}

function tracePage(html: string): Response {
  return new Response(html, {
    headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": tracePolicy },
  });
}

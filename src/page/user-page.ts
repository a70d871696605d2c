/** The page of `claudikins ui`, on a port of this machine, for the user of this process. The user exchanges a token for a session. */
import type { Log } from "../base/log.ts";
import { RedirectFile } from "../base/redirect-file.ts";
import type { PageApi } from "./api.ts";
import { checkHost, checkPeer, checkSender, jsonBody, RefusedRequest } from "./guard.ts";
import { maxPageBodyBytes } from "./limits.ts";
import { howToOpen, userDocument } from "./page-files.ts";
import { type Asked, type Authenticator, fileAnswer, PageServer, type PageView } from "./server.ts";
import { PageCookies, PageSessions, type SessionTimes, secret } from "./sessions.ts";

interface UserPageOptions {
  api: PageApi;
  log: Log;
  /** The user's home folder. */
  home: string;
  times?: SessionTimes | undefined;
}

/** The address of the page and a token to open it. The token works once, within a minute. */
export interface Invitation {
  port: number;
  /** Begins and ends with a slash. */
  path: string;
  token: string;
  /** A file that leads a browser there, if it was asked for. It exists until the token is used, and for a minute at most. */
  file?: string;
}

const cookieName = "claudikins";

/** Only this address is served, so that the owner of each connection can be found. */
const hostname = "127.0.0.1";

export class UserPage implements Authenticator {
  readonly closed = { message: howToOpen };
  readonly #options: UserPageOptions;
  readonly #sessions: PageSessions;
  readonly #page: PageServer;
  readonly #server: Bun.Server<undefined>;
  readonly #host: string;
  readonly #base: string;
  readonly #cookies: PageCookies;
  /**
   * Browsers send cookies to all ports of a host, but only below the path of the cookie. So other programs that listen on this
   * machine never get the session.
   */
  readonly #path = `/${secret().slice(0, 22)}/`;
  /** By their tokens. */
  readonly #files = new Map<string, RedirectFile>();
  /** The first state takes five times as long as others. It is read while the browser starts. */
  readonly #firstState: Promise<unknown>;
  #closing: Promise<void> | undefined;

  /** Starts to listen on a free port. */
  constructor(options: UserPageOptions) {
    this.#options = options;
    this.#sessions = new PageSessions(options.times);
    this.#page = new PageServer(this, options.log);
    this.#server = Bun.serve({
      hostname,
      port: 0,
      development: false,
      reusePort: false,
      maxRequestBodySize: maxPageBodyBytes,
      fetch: (request, server) => this.#page.answer(request, () => server.timeout(request, 0)),
    });
    this.#host = `${hostname}:${this.#server.port}`;
    this.#base = `http://${this.#host}${this.#path}`;
    // Other sites never lead the browser to a page with a session.
    this.#cookies = new PageCookies(this.#base, "Strict");
    // A page that asks for it gets the error.
    this.#firstState = options.api.state().catch(() => {});
  }

  /** Throws FILE_NOT_WRITABLE. */
  invite({ withFile = false } = {}): Invitation {
    const token = this.#sessions.newToken();
    const invitation = { port: this.#server.port!, path: this.#path, token };
    if (!withFile) return invitation;
    const address = new URL(`${this.#base}#${token}`);
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
    this.#page.close();
    for (const file of this.#files.values()) file[Symbol.dispose]();
    await this.#firstState;
    await this.#options.api.close();
    // The last event is sent before the connections end.
    await Bun.sleep(0);
    await this.#server.stop(true);
  }

  /**
   * Only programs of this user get an answer. The page for people has no such check, because people connect from other machines through
   * proxies.
   */
  async locate(request: Request): Promise<Asked | Response> {
    checkHost(request, this.#host);
    await checkPeer(this.#server.requestIP(request), { address: hostname, port: this.#server.port! });
    const { pathname, searchParams: search } = new URL(request.url);
    if (!pathname.startsWith(this.#path)) return new Response(`${howToOpen}\n`, { status: 404 });
    return { request, base: this.#base, path: pathname.slice(this.#path.length), search };
  }

  async enter({ request, base, path }: Asked): Promise<Response | undefined> {
    const route = `${request.method} ${path}`;
    if (route === "GET ") return fileAnswer(userDocument);
    if (route !== "POST api/session") return undefined;
    checkSender(request, new URL(base).origin, true);
    return this.#begin(request);
  }

  async view({ request }: Asked): Promise<PageView | undefined> {
    const session = this.#cookies.in(request).get(cookieName);
    if (session === undefined || !this.#sessions.use(session)) return undefined;
    const { api } = this.#options;
    return {
      name: "user",
      state: () => api.state(),
      tracePage: (id) => api.tracePage(id),
      routes: api.routes,
      stream: () => ({ isOpen: () => this.#sessions.has(session), end: this.#sessions.stream(session) }),
    };
  }

  /** Exchanges a token for a session. */
  async #begin(request: Request): Promise<Response> {
    const { token } = await jsonBody(request, "session");
    this.#files.get(token)?.[Symbol.dispose]();
    const exchanged = this.#sessions.exchange(token);
    if ("session" in exchanged) {
      return new Response(null, {
        status: 204,
        headers: { "set-cookie": this.#cookies.text(cookieName, exchanged.session) },
      });
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
}

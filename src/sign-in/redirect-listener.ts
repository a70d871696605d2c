/** Where the browser comes back to after a sign-in: one path on a port of this machine, open for as long as it takes. */
import { ClaudikinsError, systemCodeOf } from "../errors.ts";

const path = "/callback";

/** How long the last page may be on its way to the browser when everything else is done. */
const lastPageMs = 1_000;

/** Of the pages: they load nothing, stay in no cache, and tell nobody where they were. */
const headers = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  connection: "close",
};

export class RedirectListener implements AsyncDisposable {
  /** What the authorization server is told to send the browser back to. */
  readonly url: URL;
  /** Gives the page for the address that the browser came with; it may take its time. Until it is set nothing is found. */
  onRedirect: ((redirect: URL) => Promise<string>) | undefined;
  readonly #server: ReturnType<typeof Bun.serve>;

  /** Takes the first port that is free; 0 is any. Throws CONFIG_INVALID when none is. */
  constructor(ports: number[]) {
    this.#server = listen(ports, (request) => this.#answer(request));
    this.url = new URL(`http://127.0.0.1:${this.#server.port}${path}`);
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    // A page of somebody else that reaches us by a name of its own is not answered either.
    const isOurs = request.headers.get("host") === this.url.host && pathname === path;
    if (request.method !== "GET" || !isOurs || !this.onRedirect) {
      return new Response("Not found.\n", { status: 404, headers: { connection: "close" } });
    }
    return new Response(await this.onRedirect(new URL(search, this.url)), { headers });
  }

  /** Nothing listens any more; a page that is on its way still arrives. */
  async [Symbol.asyncDispose](): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, lastPageMs);
    await Promise.race([this.#server.stop(), late.promise]);
    clearTimeout(timer);
    await this.#server.stop(true);
  }
}

function listen(ports: number[], fetch: (request: Request) => Promise<Response>) {
  for (const port of ports) {
    try {
      // The page may have to wait for the authorization server.
      return Bun.serve({ hostname: "127.0.0.1", port, fetch, idleTimeout: 255 });
    } catch (error) {
      if (systemCodeOf(error) !== "EADDRINUSE" && systemCodeOf(error) !== "EACCES") throw error;
    }
  }
  throw new ClaudikinsError("CONFIG_INVALID", `The port for the browser's response is in use: ${ports.join(", ")}`, {
    hint: 'Stop the program that uses it (another sign-in?), or change "callbackPort" under "oauth" in the config.',
  });
}

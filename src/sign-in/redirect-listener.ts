/** Listens on a local port for the browser's redirect at the end of a sign-in. */
import { ClaudikinsError, systemCodeOf } from "../errors.ts";

const path = "/callback";

/** How long to wait for the browser to receive the last page. */
const lastPageMs = 1_000;

/** The pages load nothing, are not cached, and send no referrer. */
const headers = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  connection: "close",
};

export class RedirectListener implements AsyncDisposable {
  /** The redirect address. */
  readonly url: URL;
  /** Returns the page for a redirect. Until it is set, the answer is 404. */
  onRedirect: ((redirect: URL) => Promise<string>) | undefined;
  readonly #server: ReturnType<typeof Bun.serve>;

  /** Listens on the first free port; 0 means any. Throws CONFIG_INVALID if no port is free. */
  constructor(ports: number[]) {
    this.#server = listen(ports, (request) => this.#answer(request));
    this.url = new URL(`http://127.0.0.1:${this.#server.port}${path}`);
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    // Checks the Host header against DNS rebinding.
    const isOurs = request.headers.get("host") === this.url.host && pathname === path;
    if (request.method !== "GET" || !isOurs || !this.onRedirect) {
      return new Response("Not found.\n", { status: 404, headers: { connection: "close" } });
    }
    return new Response(await this.onRedirect(new URL(search, this.url)), { headers });
  }

  /** Stops listening. A page that is being sent still arrives. */
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

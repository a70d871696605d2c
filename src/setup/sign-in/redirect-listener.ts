/** Listens on a local port for the browser's redirect at the end of a sign-in, and makes the page that answers it. */
import { ClaudikinsError, systemCodeOf } from "../../base/errors.ts";
import { type PeerProblem, problemOfPeer } from "../../base/peer-owner.ts";
import { atMost } from "../../base/time-limit.ts";

/** Only this address is served, so that the owner of each connection can be found. */
const hostname = "127.0.0.1";

/** How long to wait for the browser to receive the last page. */
const lastPageMs = 1_000;

const path = "/callback";

const policyOf = (forms: string) =>
  `default-src 'none'; style-src 'unsafe-inline'; ${forms}base-uri 'none'; frame-ancestors 'none'`;

/** The policy for a page with a form that redirects to another site. Browsers apply `form-action` to redirects too. */
export const leadingPagePolicy = policyOf("");

/** The pages load nothing, are not cached, and send no referrer. */
export const redirectPageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "content-security-policy": policyOf("form-action 'self'; "),
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
    this.#server = listen(ports, (request, server) => this.#answer(request, server));
    this.url = new URL(`http://${hostname}:${this.#server.port}${path}`);
  }

  async #answer(request: Request, server: Bun.Server<undefined>): Promise<Response> {
    // Another user of the machine could send a code for their own account.
    const problem = await problemOfPeer(server.requestIP(request), { address: hostname, port: server.port! });
    if (problem) return new Response(refusedPage(problem), { status: 403, headers: redirectPageHeaders });
    const { pathname, search } = new URL(request.url);
    // Checks the Host header against DNS rebinding.
    const isOurs = request.headers.get("host") === this.url.host && pathname === path;
    if (request.method !== "GET" || !isOurs || !this.onRedirect) {
      return new Response("Not found.\n", { status: 404, headers: { connection: "close" } });
    }
    return new Response(await this.onRedirect(new URL(search, this.url)), { headers: redirectPageHeaders });
  }

  /** Stops listening. A page that is being sent still arrives. */
  async [Symbol.asyncDispose](): Promise<void> {
    await atMost(lastPageMs, this.#server.stop());
    await this.#server.stop(true);
  }
}

type RedirectHandler = (request: Request, server: Bun.Server<undefined>) => Promise<Response>;

function listen(ports: number[], fetch: RedirectHandler) {
  for (const port of ports) {
    try {
      // The page may have to wait for the authorization server.
      return Bun.serve({ hostname, port, fetch, idleTimeout: 255 });
    } catch (error) {
      if (systemCodeOf(error) !== "EADDRINUSE" && systemCodeOf(error) !== "EACCES") throw error;
    }
  }
  throw new ClaudikinsError("CONFIG_INVALID", `The port for the browser's response is in use: ${ports.join(", ")}`, {
    hint: 'Stop the program that uses it (another sign-in?), or change "callbackPort" under "oauth" in the config.',
  });
}

/** The user of a browser may be unknown, for example if it runs on the host of a virtual machine. */
function refusedPage({ message, hint }: PeerProblem): string {
  const paste = "If you are signing in yourself: copy the address of this page and paste it where the sign-in waits.";
  return redirectPage({ mark: "failed", title: "Not signed in", lines: [`${message}.`, hint, paste] });
}

interface PageText {
  mark: "done" | "failed" | "asks";
  title: string;
  lines: string[];
  /** The button of a form, which is sent to the page's own address. */
  button?: string;
  /** The names of secrets that the person enters in the form. */
  secrets?: string[];
}

/** The page that the browser shows. It loads no other file. */
export function redirectPage({ mark, title, lines, button, secrets = [] }: PageText): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${button === undefined ? '<meta name="referrer" content="no-referrer">\n' : ""}<title>${Bun.escapeHTML(title)}</title>
<style>${style}${button === undefined ? "" : formStyle}</style>
</head>
<body>
<main>
<svg class="${mark}" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="11"/><path d="${strokes[mark]}"/></svg>
<h1>${Bun.escapeHTML(title)}</h1>
${lines.map((line) => `<p>${Bun.escapeHTML(line)}</p>`).join("\n")}
${button === undefined ? "" : formOf(secrets, button)}<footer>claudikins</footer>
</main>
</body>
</html>
`;
}

function formOf(secrets: string[], button: string): string {
  const fields = secrets.map((name) => {
    const shown = Bun.escapeHTML(name);
    return `<label>${shown}<input type="password" name="${shown}" autocomplete="off" spellcheck="false" required></label>`;
  });
  return `<form method="post">\n${[...fields, `<button>${Bun.escapeHTML(button)}</button>`].join("\n")}\n</form>\n`;
}

const strokes = { asks: "M12 7v6M12 16.5v.5", done: "M7 12.5l3.5 3.5L17 9", failed: "M8.5 8.5l7 7M15.5 8.5l-7 7" };

const style = `
:root { --back: #f6f5f2; --card: #fff; --text: #22211e; --dim: #6b6962; --line: #e4e1da; --done: #2d7d46; --failed: #b3362b }
@media (prefers-color-scheme: dark) {
  :root { --back: #191816; --card: #232220; --text: #eceae4; --dim: #a19e95; --line: #35332f; --done: #63b37c; --failed: #e5766b }
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--back);
  color: var(--text); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
main { width: 100%; max-width: 27rem; padding: 2.25rem 2rem 1.5rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 14px; text-align: center }
svg { width: 3rem; height: 3rem; fill: none; stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round }
svg.done { stroke: var(--done) } svg.failed { stroke: var(--failed) }
h1 { margin: .9rem 0 .6rem; font-size: 1.3rem; line-height: 1.3; overflow-wrap: anywhere; text-wrap: balance }
p { margin: .6rem 0; color: var(--dim); overflow-wrap: anywhere; text-wrap: balance }
footer { margin-top: 1.6rem; padding-top: .9rem; border-top: 1px solid var(--line); color: var(--dim); font-size: .8rem }
`;

const formStyle = `
svg.asks { stroke: var(--dim) }
label { display: block; margin: 1rem 0; text-align: left; font-size: .9rem; overflow-wrap: anywhere }
input, button { width: 100%; margin-top: .3rem; padding: .6rem .7rem; font: inherit; color: inherit; background: var(--back);
  border: 1px solid var(--line); border-radius: 8px }
button { cursor: pointer; font-weight: 600 }
`;

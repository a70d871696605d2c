/** Agents and browsers of people who sign in to a `serve --http`, for tests. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { sdkHost } from "./http-serve.ts";
import { followed, type OidcFixture } from "./oidc.ts";

export type Cookies = Map<string, string>;

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

export const cookieText = (cookies: Cookies) => [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");

interface PersonHost extends AsyncDisposable {
  execute(code: string): Promise<string>;
  client: Client;
  asked: string[];
}

export class PersonHosts {
  readonly #origin: string;
  readonly #provider: () => OidcFixture;

  /** `origin` is that of `serve`. */
  constructor(origin: string, provider: () => OidcFixture) {
    this.#origin = origin;
    this.#provider = provider;
  }

  /** Opens an address in the browser of a person, who signs in as `login` and continues wherever that is asked for. Returns the last page. */
  async browse(address: string, cookies: Cookies, login: string): Promise<{ status: number; text: string }> {
    let at = new URL(address);
    for (let steps = 0; steps < 12; steps += 1) {
      if (at.origin !== this.#origin) {
        // The provider, or the authorization server of the server.
        at.searchParams.set("login_hint", login);
        at = await followed(at, (to) => to.origin === this.#origin, new Map());
        continue;
      }
      let response = await this.#request(at, cookies, { "sec-fetch-site": "cross-site" });
      let text = await response.text();
      if (text.includes("<button>Continue</button>")) {
        const own = { "sec-fetch-site": "same-origin", origin: this.#origin };
        response = await this.#request(at, cookies, own, "POST");
        text = await response.text();
      }
      const location = response.headers.get("location");
      if (location === null) return { status: response.status, text };
      at = new URL(location, at);
    }
    throw new Error("too many redirects");
  }

  async #request(at: URL, cookies: Cookies, more: Record<string, string>, method = "GET"): Promise<Response> {
    const body = method === "GET" ? {} : { body: "" };
    const headers = { ...more, cookie: cookieText(cookies) };
    const response = await fetch(at, { redirect: "manual", method, ...body, headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  }

  /** An agent of a person at the door `qa`, whose browser opens the links that the agent shows. */
  async host(subject: string, { opens = true }: { opens?: boolean } = {}): Promise<PersonHost> {
    const asked: string[] = [];
    const cookies: Cookies = new Map();
    const prepare = (client: Client) =>
      client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
        asked.push(`${params.message} ${"url" in params ? params.url : ""}`);
        if (opens && "url" in params) void this.browse(String(params.url), cookies, subject);
        return { action: opens ? ("accept" as const) : ("decline" as const) };
      });
    const headers = bearer(await this.#provider().token(subject));
    const made = await sdkHost(`${this.#origin}/qa`, { elicitation: { form: {}, url: {} } }, { prepare, headers });
    return { ...made, asked, [Symbol.asyncDispose]: () => made[Symbol.asyncDispose]() };
  }

  /** An agent without URL elicitation. */
  async plainHost(subject: string) {
    return sdkHost(`${this.#origin}/qa`, {}, { headers: bearer(await this.#provider().token(subject)) });
  }
}

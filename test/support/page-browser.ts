/** A browser at the page for people of a `serve --http`, for tests: its cookies, and what it sends. */
import { expect } from "bun:test";
import { followed } from "./oidc.ts";

export class PageBrowser {
  readonly cookies: Map<string, string>;
  readonly #page: URL;
  readonly #at: URL;

  /** `page` is the address of the page, as browsers know it, and `at` that of the process that answers. */
  constructor(page: string, at: string = page, cookies: ReadonlyMap<string, string> = new Map()) {
    this.#page = new URL(page);
    this.#at = new URL(at);
    this.cookies = new Map(cookies);
  }

  /** Sends a request for a path of the page, or its whole address, and keeps the cookies of the answer. */
  async ask(path: string, init: RequestInit = {}): Promise<Response> {
    const { pathname, search } = new URL(path, this.#page);
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const own = { origin: this.#page.origin, "claudikins-ui": "1", "content-type": "application/json" };
    const post = init.method === "POST" ? { ...own, "sec-fetch-site": "same-origin" } : {};
    const headers = { cookie, host: this.#page.host, ...post, ...(init.headers as Record<string, string>) };
    const response = await fetch(new URL(pathname + search, this.#at), { redirect: "manual", ...init, headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  /** Begins a sign-in, and returns the address that the provider sends the browser of `subject` back to. */
  async begun(subject: string, path = "sign-in"): Promise<URL> {
    const begun = await this.ask(path);
    expect(begun.status).toBe(303);
    const to = new URL(begun.headers.get("location")!);
    to.searchParams.set("login_hint", subject);
    return followed(to, ({ origin }) => origin === this.#page.origin, new Map());
  }

  async signIn(subject: string): Promise<void> {
    const ended = await this.ask((await this.begun(subject)).href);
    expect([ended.status, ended.headers.get("location")]).toEqual([303, "/ui/"]);
  }

  /** The status of a request that needs a session. */
  async state(): Promise<number> {
    return (await this.ask("api/state")).status;
  }
}

/** Begins sign-ins without cookies, many at a time. Returns how many of them led to the provider. */
export async function anonymousSignIns(pages: string[], count: number, host?: string): Promise<number> {
  const headers = host === undefined ? {} : { host };
  let [begun, answered] = [0, 0];
  const one = async () => {
    while (begun < count) {
      const page = pages[begun % pages.length]!;
      begun += 1;
      const { status } = await fetch(new URL("sign-in", page), { redirect: "manual", headers });
      answered += status === 303 ? 1 : 0;
    }
  };
  await Promise.all(Array.from({ length: 50 }, one));
  return answered;
}

/** The page of `claudikins ui`, as its script uses it: with a cookie for the token of the address. */

export class Page {
  readonly #url: URL;
  readonly #cookie: string;

  private constructor(url: URL, cookie: string) {
    this.#url = url;
    this.#cookie = cookie;
  }

  static async open(address: string): Promise<Page> {
    const url = new URL(address);
    const token = url.hash.slice(1);
    url.hash = "";
    const answer = await new Page(url, "").post("api/session", { token });
    return new Page(url, answer.headers.get("set-cookie")?.split(";")[0] ?? "");
  }

  get(path: string, signal?: AbortSignal): Promise<Response> {
    return this.#ask(path, signal ? { signal } : {});
  }

  post(path: string, body: unknown): Promise<Response> {
    return this.#ask(path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });
  }

  #ask(path: string, init: RequestInit): Promise<Response> {
    return fetch(new URL(path, this.#url), {
      ...init,
      headers: {
        origin: this.#url.origin,
        cookie: this.#cookie,
        "content-type": "application/json",
        "claudikins-ui": "1",
      },
    });
  }
}

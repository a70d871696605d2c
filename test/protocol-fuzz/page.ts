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

  /** What a thread of its own needs to ask for a file of the page. */
  request(path: string): { url: string; headers: Record<string, string> } {
    const { origin } = this.#url;
    const headers = { origin, cookie: this.#cookie, "content-type": "application/json", "claudikins-ui": "1" };
    return { url: new URL(path, this.#url).href, headers };
  }

  #ask(path: string, init: RequestInit): Promise<Response> {
    const { url, headers } = this.request(path);
    return fetch(url, { ...init, headers });
  }
}

/** The cookies of the page. */

/**
 * Browsers accept a cookie with this prefix only from this exact host, over https. So neither a page of a neighbouring domain nor an answer
 * that was changed on its way can set it (RFC 6265bis, section 4.1.3.2). The cookie must be for all paths.
 */
const hostPrefix = "__Host-";

export class PageCookies {
  readonly #isSecure: boolean;
  readonly #path: string;
  readonly #sameSite: "Strict" | "Lax";

  /**
   * `base` is the address of the page. The prefix is not used without https (on one machine), because only some browsers then accept it.
   */
  constructor(base: string, sameSite: "Strict" | "Lax") {
    this.#isSecure = base.startsWith("https:");
    this.#path = this.#isSecure ? "/" : new URL(base).pathname;
    this.#sameSite = sameSite;
  }

  /**
   * The cookies of a request, by their names without the prefix. Of several with one name, the first counts. With https, cookies without
   * the prefix are ignored.
   */
  in({ headers }: Request): Map<string, string> {
    const prefix = this.#isSecure ? hostPrefix : "";
    const found = new Map<string, string>();
    for (const pair of (headers.get("cookie") ?? "").split(";")) {
      const [whole = "", value = ""] = pair.trim().split("=");
      const name = whole.slice(prefix.length);
      if (whole.startsWith(prefix) && value !== "" && !found.has(name)) found.set(name, value);
    }
    return found;
  }

  /** The header that sets a cookie, or removes it if it is empty. */
  text(name: string, value: string, keptMs?: number): string {
    const [prefix, end] = this.#isSecure ? [hostPrefix, "; Secure"] : ["", ""];
    const maxAge = value === "" ? 0 : keptMs === undefined ? undefined : Math.ceil(keptMs / 1_000);
    const life = maxAge === undefined ? "" : `; Max-Age=${maxAge}`;
    return `${prefix}${name}=${value}; Path=${this.#path}; HttpOnly; SameSite=${this.#sameSite}${end}${life}`;
  }
}

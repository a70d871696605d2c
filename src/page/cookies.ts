/** The cookies of the page. */

/**
 * Browsers take a cookie with this prefix only from this very host, over https. So neither a page of a neighbouring domain nor an answer that was
 * changed on its way can set one (RFC 6265bis, section 4.1.3.2). It must be for all paths.
 */
const hostPrefix = "__Host-";

export class PageCookies {
  readonly #isSecure: boolean;
  readonly #path: string;
  readonly #sameSite: "Strict" | "Lax";

  /** `base` is the address of the page. Without https, which is for one machine, only some browsers take cookies with the prefix. */
  constructor(base: string, sameSite: "Strict" | "Lax") {
    this.#isSecure = base.startsWith("https:");
    this.#path = this.#isSecure ? "/" : new URL(base).pathname;
    this.#sameSite = sameSite;
  }

  /** By their names without the prefix. Of several with one name, the first counts. With https, those without the prefix do not count. */
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

/** The cookies of the page for people. */
import { pagePath } from "../../config/oidc.ts";
import { cookiesIn } from "../guard.ts";

/**
 * Browsers take a cookie with this prefix only from this very host, over https. So neither a page of a neighbouring domain nor an answer that was
 * changed on its way can set one (RFC 6265bis, section 4.1.3.2). It must be for all paths.
 */
const hostPrefix = "__Host-";

export class PageCookies {
  readonly #isSecure: boolean;

  /** `base` is the address of the page. Without https, which is for one machine, only some browsers take cookies with the prefix. */
  constructor(base: string) {
    this.#isSecure = base.startsWith("https:");
  }

  /** By their names without the prefix. With https, those without the prefix do not count. */
  in(request: Request): Map<string, string> {
    const all = cookiesIn(request);
    if (!this.#isSecure) return all;
    const own = [...all].filter(([name]) => name.startsWith(hostPrefix));
    return new Map(own.map(([name, value]) => [name.slice(hostPrefix.length), value]));
  }

  /** The header that sets a cookie, or removes it if it is empty. Lax, because the browser comes from the provider when it is set. */
  text(name: string, value: string, keptMs?: number): string {
    const [prefix, path, end] = this.#isSecure ? [hostPrefix, "/", "; Secure"] : ["", pagePath, ""];
    const maxAge = value === "" ? 0 : keptMs === undefined ? undefined : Math.ceil(keptMs / 1_000);
    const life = maxAge === undefined ? "" : `; Max-Age=${maxAge}`;
    return `${prefix}${name}=${value}; Path=${path}; HttpOnly; SameSite=Lax${end}${life}`;
  }
}

/** The sessions of the page. The browser exchanges a token that works once for a session, and a cookie names the session. */
import { createHash, randomBytes } from "node:crypto";

export interface SessionTimes {
  /** How long a token can be exchanged. */
  tokenMs: number;
  /** A session ends after this time without a request and without an open event stream. */
  idleMs: number;
}

/** A hidden page asks every half minute. Browsers may slow that down to once a minute. */
const usualTimes: SessionTimes = { tokenMs: 60_000, idleMs: 5 * 60_000 };

interface Token {
  endsAt: number;
  /** The session that it was exchanged for. */
  session?: string;
}

interface Session {
  usedAt: number;
  streams: number;
}

type Exchanged = { session: string } | { refused: "unknown" | "used twice" };

/** The open sessions. Only digests of secrets are kept, so that memory contains no secret, and lookups always take the same time. */
export class PageSessions {
  readonly #times: SessionTimes;
  readonly #tokens = new Map<string, Token>();
  readonly #sessions = new Map<string, Session>();

  constructor(times: SessionTimes = usualTimes) {
    this.#times = times;
  }

  newToken(): string {
    this.#forgetOld();
    const token = secret();
    this.#tokens.set(digest(token), { endsAt: performance.now() + this.#times.tokenMs });
    return token;
  }

  /** Exchanges a token for a session. If a token is used twice, another program has seen it, so the session of its first use ends too. */
  exchange(token: string): Exchanged {
    this.#forgetOld();
    const found = this.#tokens.get(digest(token));
    if (!found) return { refused: "unknown" };
    if (found.session !== undefined) {
      this.#sessions.delete(found.session);
      return { refused: "used twice" };
    }
    const session = secret();
    found.session = digest(session);
    this.#sessions.set(found.session, { usedAt: performance.now(), streams: 0 });
    return { session };
  }

  /** Whether the session is open. This counts as a use of the session. */
  use(session: string | undefined): boolean {
    this.#forgetOld();
    const found = session === undefined ? undefined : this.#sessions.get(digest(session));
    if (found) found.usedAt = performance.now();
    return found !== undefined;
  }

  /** Whether the session is open, without using it. */
  has(session: string): boolean {
    this.#forgetOld();
    return this.#sessions.has(digest(session));
  }

  /** Marks that the session has a stream, and does not end meanwhile. Returns the function that ends the stream. */
  stream(session: string): () => void {
    const found = this.#sessions.get(digest(session));
    if (!found) return () => {};
    found.streams += 1;
    return () => {
      found.streams -= 1;
      found.usedAt = performance.now();
    };
  }

  /** Whether a page is open somewhere, or may be opened with a token. */
  get isInUse(): boolean {
    this.#forgetOld();
    return this.#sessions.size > 0 || [...this.#tokens.values()].some(({ session }) => session === undefined);
  }

  #forgetOld(): void {
    const now = performance.now();
    for (const [key, { endsAt }] of this.#tokens) if (endsAt <= now) this.#tokens.delete(key);
    for (const [key, { usedAt, streams }] of this.#sessions) {
      if (streams === 0 && usedAt + this.#times.idleMs <= now) this.#sessions.delete(key);
    }
  }
}

/** 256 random bits, for URLs and cookies. */
export function secret(): string {
  return randomBytes(32).toString("base64url");
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

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

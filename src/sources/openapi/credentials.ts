/** Adds the credentials of the entry to requests, as the security schemes of the document say. */
import { ClaudikinsError } from "../../base/errors.ts";
import type { SourceAuth } from "../../config/sources.ts";
import type { Api, Operation, SecurityScheme } from "./api.ts";
import type { ApiRequest } from "./request.ts";
import { percentEncoded } from "./serialize.ts";

/** How a request is signed. */
export interface Signing {
  /** The names of the schemes that are used. */
  used: string[];
  /** Whether the token of a sign-in is added. */
  signsIn: boolean;
  /** The names of the schemes of which one alternative needs credentials that the entry does not have. */
  missing: string[];
}

export class Credentials {
  readonly #schemes: Api["securitySchemes"];
  readonly #auth: SourceAuth | undefined;
  readonly #maySignIn: boolean;

  /** Throws CONFIG_INVALID if `auth` names a scheme that the document does not have. `maySignIn`: `claudikins auth` can get a token. */
  constructor({ securitySchemes }: Pick<Api, "securitySchemes">, auth: SourceAuth | undefined, maySignIn: boolean) {
    this.#schemes = securitySchemes;
    this.#auth = auth;
    this.#maySignIn = maySignIn;
    const unknown =
      typeof auth === "object" ? Object.keys(auth).filter((name) => !Object.hasOwn(securitySchemes, name)) : [];
    if (unknown.length === 0) return;
    const known = Object.keys(securitySchemes).join(", ");
    throw new ClaudikinsError("CONFIG_INVALID", `its document has no security scheme called ${unknown.join(" or ")}`, {
      hint: known === "" ? 'It has none: use "headers" in its entry.' : `The names in "auth" can be: ${known}.`,
    });
  }

  /** Adds the credentials of the first alternative that the entry has all of. Without one, the request stays as it is. */
  sign(request: ApiRequest, { security }: Pick<Operation, "security">): Signing {
    const named = security.filter((each) => Object.keys(each).length > 0);
    const ofEntry = named.find((each) => this.#names(each).every((name) => this.#valueOf(name, each) !== undefined));
    const chosen = ofEntry ?? named.find((each) => this.#names(each).every((name) => this.#hasAny(name, each)));
    if (!chosen) {
      const isOpen = named.length < security.length || security.length === 0;
      return { used: [], signsIn: false, missing: isOpen ? [] : this.#names(named[0] ?? {}) };
    }
    let signsIn = false;
    for (const name of this.#names(chosen)) {
      const value = this.#valueOf(name, chosen);
      if (value === undefined) signsIn = true;
      else apply(request, this.#schemes[name]!, value);
    }
    return { used: this.#names(chosen), signsIn, missing: [] };
  }

  schemeOf(name: string): SecurityScheme | undefined {
    return Object.hasOwn(this.#schemes, name) ? this.#schemes[name] : undefined;
  }

  #names(alternative: Record<string, string[]>): string[] {
    return Object.keys(alternative);
  }

  /** A text alone is the credential of any scheme, unless several are needed together. */
  #valueOf(name: string, alternative: Record<string, string[]>): string | undefined {
    const scheme = this.schemeOf(name);
    if (!scheme || scheme.type === "mutualTLS" || this.#auth === undefined) return undefined;
    if (typeof this.#auth === "string") return Object.keys(alternative).length === 1 ? this.#auth : undefined;
    return Object.hasOwn(this.#auth, name) ? this.#auth[name] : undefined;
  }

  #hasAny(name: string, alternative: Record<string, string[]>): boolean {
    const type = this.schemeOf(name)?.type;
    const isOfSignIn = type === "oauth2" || type === "openIdConnect";
    return this.#valueOf(name, alternative) !== undefined || (isOfSignIn && this.#maySignIn);
  }
}

function apply(request: ApiRequest, scheme: SecurityScheme, value: string): void {
  switch (scheme.type) {
    case "oauth2":
    case "openIdConnect":
      request.headers["authorization"] = withScheme("Bearer", value);
      break;
    case "http":
      request.headers["authorization"] =
        scheme.scheme.toLowerCase() === "basic" ? basic(value) : withScheme(nameOf(scheme.scheme), value);
      break;
    case "apiKey":
      addKey(request, scheme, value);
      break;
    default:
  }
}

const nameOf = (scheme: string) => (scheme.toLowerCase() === "bearer" ? "Bearer" : scheme);

function addKey(
  { url, headers }: ApiRequest,
  scheme: Extract<SecurityScheme, { type: "apiKey" }>,
  value: string,
): void {
  const encoded = `${percentEncoded(scheme.name)}=${percentEncoded(value)}`;
  if (scheme.in === "header") headers[scheme.name.toLowerCase()] = value;
  else if (scheme.in === "query") url.search = [url.search.replace(/^\?/, ""), encoded].filter(Boolean).join("&");
  else headers["cookie"] = [headers["cookie"], encoded].filter(Boolean).join("; ");
}

/** The value may already begin with the scheme. */
function withScheme(scheme: string, value: string): string {
  return value.toLowerCase().startsWith(`${scheme.toLowerCase()} `) ? value : `${scheme} ${value}`;
}

/** `user:password`. A text without a colon is a key that stands in the place of the user. */
function basic(value: string): string {
  if (/^basic /i.test(value)) return value;
  return `Basic ${Buffer.from(value.includes(":") ? value : `${value}:`).toString("base64")}`;
}

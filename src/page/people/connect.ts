/**
 * People sign in to servers with accounts of their own. The link of a server has no secret: who opens it must be signed in to the page, and
 * the sign-in at the server ends only in the same person's browser. So nobody can lead another person into an account, or get one.
 */
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import type { NetworkServer, ServerConfig } from "../../config/load.ts";
import { wholeConfig } from "../../config/oidc.ts";
import type { PersonClaims } from "../../policy/people/claims.ts";
import type { LivePeople } from "../../policy/people/live-people.ts";
import type { CredentialStore } from "../../servers/auth/credentials.ts";
import { beginSignIn, type SignIn } from "../../servers/auth/sign-in.ts";
import { redirectPage, redirectPageHeaders } from "../../setup/sign-in/redirect-listener.ts";
import { RefusedRequest } from "../guard.ts";
import { maxPageSignIns, pageSignInMs } from "../limits.ts";

/** What a person has of a door, for the person's own credentials. */
export interface PersonServers {
  servers: ReadonlyMap<string, ServerConfig>;
  own: CredentialStore | undefined;
}

export interface ConnectOptions {
  people: LivePeople;
  /** Loads what the person has of a door, or without a name of the whole config. */
  serversOf(door: string | undefined, person: PersonClaims): Promise<PersonServers>;
}

interface Pending {
  person: string;
  server: string;
  signIn: SignIn;
  ending: AbortController;
  endsAt: number;
}

/** Where authorization servers send browsers back to, below the path of the page. */
export const connectedPath = "connected";

const path = /^connect\/([a-z0-9-]{1,32})\/([^/]{1,1000})$/;

export class PersonConnect {
  readonly #options: ConnectOptions;
  /** By their states. */
  readonly #pending = new Map<string, Pending>();

  constructor(options: ConnectOptions) {
    this.#options = options;
  }

  has(relative: string): boolean {
    return relative === connectedPath || path.test(relative);
  }

  /** Answers a request of a person's browser. `origin` is our public address with the path of the page. Throws RefusedRequest. */
  async answer(url: URL, relative: string, person: PersonClaims, base: string): Promise<Response> {
    return relative === connectedPath ? this.#end(url, person) : this.#begin(url, relative, person, base);
  }

  async #begin(url: URL, relative: string, person: PersonClaims, base: string): Promise<Response> {
    const asked = url.searchParams.get("for");
    if (asked !== null && asked !== person.id) {
      throw new RefusedRequest(403, `This link is for another person. You have signed in as ${person.name}`);
    }
    const { server, own } = await this.#serverAt(relative, person);
    const ending = new AbortController();
    const options = { redirectUrl: new URL(connectedPath, base), signal: ending.signal };
    const signIn = await beginSignIn(server, own, options);
    if (!signIn) return page("done", `Signed in to ${server.name}`, ["You can close this window."]);
    const { authorizationUrl } = signIn;
    this.#forgetOld(maxPageSignIns - 1);
    const endsAt = performance.now() + pageSignInMs;
    const pending = { person: person.id, server: server.name, signIn, ending, endsAt };
    this.#pending.set(authorizationUrl.searchParams.get("state") ?? "", pending);
    return new Response(null, { status: 303, headers: { location: authorizationUrl.href } });
  }

  /** The server of a link. For everything that the person may not use, or that is not there, the refusal is the same. */
  async #serverAt(relative: string, person: PersonClaims): Promise<{ server: NetworkServer; own: CredentialStore }> {
    const [, door = "", name = ""] = path.exec(relative) ?? [];
    const view = door === wholeConfig ? undefined : door;
    const { people, serversOf } = this.#options;
    const nothing = new RefusedRequest(404, "There is no such server for you. Your groups may not include it");
    if (!people.mayUse(person, view)) throw nothing;
    const { servers, own } = await serversOf(view, person).catch((error: unknown) => {
      throw error instanceof ClaudikinsError && error.code === "DOOR_NOT_FOUND" ? nothing : error;
    });
    const server = servers.get(decoded(name));
    if (server?.url === undefined || server.credentials !== "user" || !own) throw nothing;
    return { server, own };
  }

  async #end({ search, searchParams }: URL, person: PersonClaims): Promise<Response> {
    this.#forgetOld(maxPageSignIns);
    const state = searchParams.get("state") ?? "";
    const pending = this.#pending.get(state);
    if (pending?.person !== person.id) {
      throw new RefusedRequest(
        403,
        "This sign-in was not begun by you, or it came too late",
        "Open the link in your agent again.",
      );
    }
    this.#pending.delete(state);
    const { server, signIn } = pending;
    try {
      await this.#options.people.refuseRevoked(person);
      await signIn.finish(new URL(search, "http://localhost"));
    } catch (error) {
      const again = "You can close this window, and open the link in your agent again.";
      return page("failed", `Not signed in to ${server}`, [messageOf(error), again]);
    }
    const lines = [`As ${person.name}. Your programs can use it now.`, "You can close this window."];
    return page("done", `Signed in to ${server}`, lines);
  }

  /** Anybody who has signed in can begin many. The oldest are given up first. */
  #forgetOld(kept: number): void {
    const now = performance.now();
    for (const [state, { endsAt, ending }] of this.#pending) {
      if (endsAt > now && this.#pending.size <= kept) continue;
      ending.abort();
      this.#pending.delete(state);
    }
  }
}

function page(mark: "done" | "failed", title: string, lines: string[]): Response {
  return new Response(redirectPage({ mark, title, lines }), { headers: redirectPageHeaders });
}

/** Undefined for a text that is not encoded as it must be. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

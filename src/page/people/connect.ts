/**
 * People sign in to servers with their own accounts. The link of a server contains no secret. A person who opens it must be signed in to
 * the page, and the sign-in at the server can only be completed in the same person's browser. So nobody can connect another person to a
 * wrong account, or take over an account.
 */

import type { App } from "../../app/app.ts";
import { ClaudikinsError, messageOf, toClaudikinsError } from "../../base/errors.ts";
import { percentDecoded } from "../../base/percent-decoded.ts";
import { minuteMs } from "../../base/units.ts";
import { needsPage, personKeysIn } from "../../config/credentials.ts";
import type { NetworkServer, ServerConfig } from "../../config/load.ts";
import { pagePath, wholeConfig } from "../../config/oidc.ts";
import type { PersonClaims } from "../../policy/people/claims.ts";
import type { LivePeople } from "../../policy/people/live-people.ts";
import type { CredentialStore } from "../../servers/auth/credentials.ts";
import { beginSignIn, type SignIn } from "../../servers/auth/sign-in.ts";
import { identityVariables } from "../../servers/values/person-identity.ts";
import { leadingPagePolicy, redirectPage, redirectPageHeaders } from "../../setup/sign-in/redirect-listener.ts";
import { formBody, RefusedRequest } from "../guard.ts";
import { pageSignInMs } from "../limits.ts";
import { redirected } from "../server.ts";
import type { PersonSession } from "./sessions.ts";

/** A sign-in to the page counts as new for this time. A person who opens the link of a server later signs in again, often without noticing. */
const freshSignInMs = minuteMs;

/** Time for a server to take the keys of a person. */
const triedKeysMs = 15_000;

/** Sign-ins of one person to servers that have begun. */
const maxConnecting = 20;

/** The servers behind a door that use a person's own credentials. */
export interface PersonServers {
  servers: ReadonlyMap<string, ServerConfig>;
  own: CredentialStore | undefined;
}

export interface ConnectOptions {
  app: Pick<App, "env">;
  people: LivePeople;
  /** Loads the person's servers behind a door, or of the whole config without a name. */
  serversOf(door: string | undefined, person: PersonClaims): Promise<PersonServers>;
  /** Connects a server behind a door once, as a person. `origin` is our public address. Throws what listing its tools throws. */
  connects(
    at: { door: string | undefined; server: string; person: PersonClaims; origin: string },
    signal: AbortSignal,
  ): Promise<void>;
  /** Undefined without other replicas. */
  signIns?: SharedSignIns | undefined;
}

/** Sign-ins to servers that are under way at one of several replicas, by their states. */
export interface SharedSignIns {
  /**
   * Records that a person has begun a sign-in here. Beyond `max` sign-ins of one person, the oldest one is dropped. `endsAt` is in
   * milliseconds since 1970.
   */
  begun(signIn: { state: string; person: string; endsAt: number }, max: number): Promise<void>;
  /** Passes the redirect of a person's sign-in to the replica that has begun it. Undefined if there is no such replica. */
  pass(signIn: { state: string; person: string }, request: Request, path: string): Promise<Response | undefined>;
}

/** A server that uses a person's own credentials, behind a door or in the whole config. */
interface PersonServer {
  door: string | undefined;
  server: ServerConfig;
  own: CredentialStore;
}

interface Pending {
  person: string;
  server: string;
  signIn: SignIn;
  ending: AbortController;
  endsAt: number;
}

/** The path to which authorization servers send browsers back, below the path of the page. */
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

  /**
   * Answers a request of a person's browser. `base` is our public address with the path of the page. Undefined if the person must first
   * sign in to the page again. Throws RefusedRequest.
   */
  async answer(
    request: Request,
    relative: string,
    { claims: person, begunAt }: PersonSession,
    base: string,
  ): Promise<Response | undefined> {
    const url = new URL(request.url);
    if (relative === connectedPath) {
      const state = url.searchParams.get("state") ?? "";
      const passed = this.#pending.has(state)
        ? undefined
        : await this.#options.signIns?.pass({ state, person: person.id }, request, `${pagePath}${connectedPath}`);
      return passed ?? this.#end(url, person);
    }
    const asked = url.searchParams.get("for");
    if (asked !== null && asked !== person.id) {
      throw new RefusedRequest(403, `This link is for another person. You have signed in as ${person.name}`);
    }
    const { door, server, own } = await this.#serverAt(relative, person);
    const names = personKeysIn(server);
    if (names.length > 0) return this.#keys(request, names, { door, server, own, person, base });
    if (server.url === undefined) throw new RefusedRequest(404, "The page has no such request");
    const isRead = request.method === "GET";
    if (!isRead) await formBody(request, new URL(base).origin);
    // The server's token is exchanged for the token of the sign-in, and the provider may have refused an older one.
    if (server.exchange && Date.now() - begunAt > freshSignInMs) return isRead ? undefined : redirected(request.url);
    return isRead ? asks(server, person) : this.#begin(server, own, person, base);
  }

  /** Asks the person for the keys of an entry, and stores them unless the server refuses them. */
  async #keys(
    request: Request,
    names: string[],
    { door, server, own, person, base }: PersonServer & { person: PersonClaims; base: string },
  ): Promise<Response> {
    const { name } = server;
    const again = (line: string) =>
      page({ mark: "failed", title: `Your keys for ${name}`, lines: [line], secrets: names, button: "Save" });
    if (request.method === "GET") {
      const lines = [`They are kept for ${person.name} alone, and programs of your agents then use ${name} as you.`];
      return page({ mark: "asks", title: `Your keys for ${name}`, lines, secrets: names, button: "Save" });
    }
    const form = await formBody(request, new URL(base).origin);
    const keys = Object.fromEntries(names.map((each) => [each, (form.get(each) ?? "").trim()]));
    const unusable = names.find((each) => !/^[\x20-\x7e]{1,4096}$/.test(keys[each] ?? ""));
    if (unusable !== undefined) return again(`${unusable} must be one line of at most 4096 plain characters.`);
    await this.#options.people.refuseRevoked(person);
    const before = own.read(server);
    await own.update(server, () => ({ server: name, keys }));
    try {
      const at = { door, server: name, person, origin: new URL(base).origin };
      await this.#options.connects(at, AbortSignal.timeout(triedKeysMs));
      return done(name, person);
    } catch (error) {
      if (toClaudikinsError(error).code !== "AUTH_REQUIRED") return untried(name, messageOf(error));
      await own.update(server, () => before);
      return again(`${name} has refused what you entered, so it was not kept. Look at it, and enter it again.`);
    }
  }

  async #begin(server: NetworkServer, own: CredentialStore, person: PersonClaims, base: string): Promise<Response> {
    const ending = new AbortController();
    const { app, people } = this.#options;
    const env = { ...app.env, ...identityVariables(people.identityOf(person.id)) };
    const options = { redirectUrl: new URL(connectedPath, base), signal: ending.signal, env };
    const signIn = await beginSignIn(server, own, options);
    if (!signIn) return done(server.name, person);
    const { authorizationUrl } = signIn;
    this.#forgetOld(person, maxConnecting - 1);
    const endsAt = performance.now() + pageSignInMs;
    const pending = { person: person.id, server: server.name, signIn, ending, endsAt };
    const state = authorizationUrl.searchParams.get("state") ?? "";
    this.#pending.set(state, pending);
    const shared = { state, person: person.id, endsAt: Date.now() + pageSignInMs };
    await this.#options.signIns?.begun(shared, maxConnecting);
    return redirected(authorizationUrl.href);
  }

  /** The server of a link. The refusal is the same for servers that the person may not use and for servers that do not exist. */
  async #serverAt(relative: string, person: PersonClaims): Promise<PersonServer> {
    const [, view = "", name = ""] = path.exec(relative) ?? [];
    const door = view === wholeConfig ? undefined : view;
    const { people, serversOf } = this.#options;
    const nothing = new RefusedRequest(404, "There is no such server for you. Your groups may not include it");
    if (!(await people.mayUse(person, door))) throw nothing;
    const { servers, own } = await serversOf(door, person).catch((error: unknown) => {
      throw error instanceof ClaudikinsError && error.code === "DOOR_NOT_FOUND" ? nothing : error;
    });
    const server = servers.get(percentDecoded(name));
    if (!server || !needsPage(server) || !own) throw nothing;
    return { door, server, own };
  }

  async #end({ search, searchParams }: URL, person: PersonClaims): Promise<Response> {
    this.#forgetOld(person, maxConnecting);
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
      return page({ mark: "failed", title: `Not signed in to ${server}`, lines: [messageOf(error), again] });
    }
    return done(server, person);
  }

  /** A person can begin many sign-ins. Only the person's own oldest ones are dropped. */
  #forgetOld({ id }: PersonClaims, kept: number): void {
    const now = performance.now();
    const own = [...this.#pending].filter(([, { person }]) => person === id).map(([state]) => state);
    const tooMany = new Set(own.slice(0, Math.max(0, own.length - kept)));
    for (const [state, { endsAt, ending }] of this.#pending) {
      if (endsAt > now && !tooMany.has(state)) continue;
      ending.abort();
      this.#pending.delete(state);
    }
  }
}

/** The page that asks before a sign-in begins. A link alone must not begin one, because any page can open it in the person's browser. */
function asks({ name, url }: NetworkServer, person: PersonClaims): Response {
  const lines = [
    `${name} is at ${new URL(url).host}. Programs of your agents then use it with your account there, as ${person.name}.`,
    "Continue only if you want that.",
  ];
  const response = page({ mark: "asks", title: `Sign in to ${name}?`, lines, button: "Continue" });
  // The answer leads to the authorization server, and from there anywhere.
  response.headers.set("content-security-policy", leadingPagePolicy);
  return response;
}

function done(server: string, { name }: PersonClaims): Response {
  const lines = [`As ${name}. Your programs can use it now.`, "You can close this window."];
  return page({ mark: "done", title: `Signed in to ${server}`, lines });
}

/** The keys of a server that could not be reached are kept. */
function untried(server: string, why: string): Response {
  const lines = [
    `They were not tried: ${why}.`,
    "Your programs use them as soon as it can be reached. You can close this window.",
  ];
  return page({ mark: "asks", title: `Your keys for ${server} are kept`, lines });
}

function page(text: Parameters<typeof redirectPage>[0]): Response {
  // Browsers name the sender of a form only if the page allows it.
  const referrer = text.button !== undefined ? { "referrer-policy": "same-origin" } : {};
  return new Response(redirectPage(text), { headers: { ...redirectPageHeaders, ...referrer } });
}

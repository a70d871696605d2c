/** The page of `serve --http` for people who sign in at the provider of the config, at `/ui/`. */

import type { Log } from "../../base/log.ts";
import { sha256 } from "../../base/sha256.ts";
import { type Oidc, pagePath } from "../../config/oidc.ts";
import { hasReference } from "../../config/secrets/references.ts";
import type { PersonClaims } from "../../policy/people/claims.ts";
import { PersonRefused } from "../../policy/people/refused.ts";
import { configOwner } from "../../servers/logs/place.ts";
import { redirectPage, redirectPageHeaders } from "../../setup/sign-in/redirect-listener.ts";
import { thisProcess } from "../../store/audit/decider.ts";
import type { SignedOut } from "../contract.ts";
import { RefusedRequest } from "../guard.ts";
import { pageSignInMs } from "../limits.ts";
import { peopleDocument } from "../page-files.ts";
import { type Asked, type Authenticator, fileAnswer, PageServer, type PageView, redirected } from "../server.ts";
import { PageCookies } from "../sessions.ts";
import { PeopleApi, type PeopleApiOptions } from "./api.ts";
import { type ConnectOptions, connectedPath, PersonConnect } from "./connect.ts";
import { type PersonSession, PersonSessions } from "./sessions.ts";
import { ProviderSignIns, providerSignOut } from "./sign-ins.ts";

const sessionCookie = "claudikins-person";

/** The paths that the provider sends browsers back to, below `pagePath`. */
const backPath = "signed-in";
const signedOutPath = "signed-out";

export class PeoplePage implements Authenticator {
  readonly closed = { message: "Your session has ended", hint: "Sign in again." };
  readonly lead = `To sign in: ${pagePath}`;
  readonly #options: PeopleApiOptions & { log: Log };
  readonly #api: PeopleApi;
  readonly #sessions: PersonSessions;
  readonly #signIns: ProviderSignIns;
  readonly #connect: PersonConnect;
  readonly #page: PageServer;

  constructor(options: PeopleApiOptions & ConnectOptions & { log: Log }) {
    const { replicas } = options.app.store;
    this.#options = options;
    this.#sessions = new PersonSessions(replicas?.values);
    this.#signIns = new ProviderSignIns(replicas);
    this.#connect = new PersonConnect(options);
    this.#api = new PeopleApi(options);
    this.#page = new PageServer(this, options.log);
  }

  /** Whether the path belongs to the page. */
  has(pathname: string): boolean {
    return pathname === pagePath.slice(0, -1) || pathname.startsWith(pagePath);
  }

  /** Answers a request whose host has been checked. `keepOpen` lets a stream stay open. Never rejects. */
  answer(request: Request, keepOpen: () => void): Promise<Response> {
    return this.#page.answer(request, keepOpen);
  }

  /** Ends all streams. */
  close(): void {
    this.#page.close();
  }

  async locate(request: Request): Promise<Asked | Response> {
    const { address } = this.#oidc();
    const { pathname, searchParams: search } = new URL(request.url);
    if (!pathname.startsWith(pagePath)) return redirected(pagePath);
    const base = `${address ?? `http://${request.headers.get("host")}`}${pagePath}`;
    return { request, base, path: pathname.slice(pagePath.length), search };
  }

  #oidc(): Oidc {
    const { oidc } = this.#options.people;
    if (oidc?.clientId !== undefined) return oidc;
    throw new RefusedRequest(404, "Nobody can sign in to the page: the config has no auth.oidc.clientId");
  }

  async enter(asked: Asked): Promise<Response | undefined> {
    const { request, base, path } = asked;
    const isRead = request.method === "GET";
    if (isRead && path === "sign-in") return this.#signIn(asked, approvalIn(asked));
    if (isRead && path === signedOutPath) return signedOutPage(base);
    if (isRead && path === backPath) return this.#signedIn(asked);
    if (isRead && path === "") {
      const isOpen = (await this.#sessionOf(cookieOf(asked))) !== undefined;
      return isOpen ? fileAnswer(peopleDocument) : redirected(`${pagePath}sign-in${approvalIn(asked)}`);
    }
    // A person comes from an agent, or back from the authorization server.
    if (!(isRead || request.method === "POST") || !this.#connect.has(path)) return undefined;
    const session = await this.#sessionOf(cookieOf(asked));
    const answer = session && (await this.#connect.answer(request, path, session, base));
    if (answer) return answer;
    if (isRead && path !== connectedPath) return this.#signIn(asked, `${path}${new URL(request.url).search}`);
    throw new RefusedRequest(401, "Your session has ended", "Open the link in your agent again.");
  }

  async view(asked: Asked): Promise<PageView | undefined> {
    const cookie = cookieOf(asked);
    const session = await this.#sessionOf(cookie);
    if (cookie === undefined || !session) return undefined;
    const { claims } = session;
    return {
      name: sha256(cookie),
      // A person who was revoked has no state.
      state: async () => ((await this.#sessionOf(cookie)) ? this.#api.state(claims) : undefined),
      tracePage: (id) => this.#api.tracePage(id, claims),
      routes: { ...this.#api.routesFor(claims), "POST api/sign-out": () => this.#signOut(session, asked) },
    };
  }

  /** The parameters for requests to the provider. */
  #atProvider({ request, base }: Asked) {
    const oidc = this.#oidc();
    const provider = this.#options.people.provider(oidc);
    return { oidc, provider, redirect: `${base}${backPath}`, cookies: cookiesOf(base).in(request) };
  }

  /** Leads the browser to the provider, and then to the path `to` below the page. */
  async #signIn(asked: Asked, to?: string): Promise<Response> {
    const { url, set } = await this.#signIns.begin(this.#atProvider(asked), to);
    const cookies = cookiesOf(asked.base);
    return redirected(url.href, ...set.map(([name, value]) => cookies.text(name, value, pageSignInMs)));
  }

  /** Handles the redirect from the provider. */
  async #signedIn(asked: Asked): Promise<Response> {
    const { people, app, log } = this.#options;
    const sent = this.#atProvider(asked);
    const { oidc } = sent;
    const { env } = app;
    const clientSecret = hasReference(oidc.clientSecret)
      ? await (await import("../../servers/values/read-values.ts")).withReadValues(oidc.clientSecret, "auth.oidc", {
          env,
        })
      : oidc.clientSecret;
    const signIn = await this.#signIns.end(asked.search, { ...sent, oidc: { ...oidc, clientSecret } });
    const { claims, idToken, to } = signIn;
    await people.know(claims);
    await this.#record("signed-in", claims);
    people.noteClaims(claims, "ui");
    const { cookie, session } = await this.#sessions.begin(claims, idToken);
    people.keepIdToken(session);
    log.info(`person ${claims.id} has signed in to the page`);
    const cookies = cookiesOf(asked.base);
    return redirected(`${pagePath}${to}`, cookies.text(sessionCookie, cookie), cookies.text(signIn.cookie, ""));
  }

  /** Throws FILE_NOT_WRITABLE. */
  async #record(decision: "signed-in" | "signed-out", { id, name }: PersonClaims): Promise<void> {
    const { store, config } = this.#options.app;
    const file = configOwner(config.origin);
    const person = { id, name };
    const event = { decision, ...(file === null ? {} : { config: file }), person };
    await store.audit.add([event], { ...thisProcess("page"), person });
  }

  /** Ends the session. The answer has the address at which the browser ends the provider's session, if there is one. */
  async #signOut(session: PersonSession, asked: Asked): Promise<Response> {
    await this.#record("signed-out", session.claims);
    await this.#sessions.end(cookieOf(asked));
    this.#options.people.endIdToken(session);
    const { oidc, provider } = this.#atProvider(asked);
    const redirect = `${asked.base}${signedOutPath}`;
    const to = await providerSignOut(oidc, provider, { idToken: session.idToken, redirect });
    const headers = { "set-cookie": cookiesOf(asked.base).text(sessionCookie, "") };
    return to
      ? Response.json({ to: to.href } satisfies SignedOut, { headers })
      : new Response(null, { status: 204, headers });
  }

  /** Undefined without a session, and if its person was revoked. */
  async #sessionOf(cookie: string | undefined): Promise<PersonSession | undefined> {
    const session = await this.#sessions.find(cookie);
    if (!session) return undefined;
    const { people } = this.#options;
    try {
      await people.refuseRevoked(session.claims);
      // The person may have signed in at another replica.
      if (session.sharedAs !== undefined) people.keepIdToken(session);
      return session;
    } catch (error) {
      if (!(error instanceof PersonRefused)) throw error;
      await this.#sessions.end(cookie);
      return undefined;
    }
  }
}

/** The approval that the address leads to, as the end of an address. Empty without one. */
function approvalIn({ search }: Asked): string {
  const id = search.get("approval");
  return id !== null && /^[0-9a-z]{1,20}$/.test(id) ? `?approval=${id}` : "";
}

/** The cookies are Lax, because the browser comes from the provider when a cookie is set. */
function cookiesOf(base: string): PageCookies {
  return new PageCookies(base, "Lax");
}

function cookieOf({ request, base }: Asked): string | undefined {
  return cookiesOf(base).in(request).get(sessionCookie);
}

/** `base` is our public address with the path of the page. */
function signedOutPage(base: string): Response {
  const text = redirectPage({ mark: "done", title: "Signed out", lines: [`To sign in again, open ${base}`] });
  return new Response(text, { headers: redirectPageHeaders });
}

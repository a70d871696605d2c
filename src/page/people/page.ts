/** The page of `serve --http` for people who sign in at the provider of the config, at `/ui/`. */
import { ClaudikinsError, messageOf, toClaudikinsError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { type Oidc, pagePath } from "../../config/oidc.ts";
import { hasReference } from "../../config/secrets/references.ts";
import type { PersonClaims } from "../../policy/people/claims.ts";
import { PersonRefused } from "../../policy/people/refused.ts";
import { configOwner } from "../../servers/logs/place.ts";
import { redirectPage, redirectPageHeaders } from "../../setup/sign-in/redirect-listener.ts";
import { thisProcess } from "../../store/audit/decider.ts";
import type { PageRefusal, SignedOut } from "../contract.ts";
import { checkSender, RefusedRequest } from "../guard.ts";
import { pageLookMs, pageSignInMs } from "../limits.ts";
import { Live } from "../live.ts";
import { headers, pageFiles, peopleDocument, tracePolicy } from "../page-files.ts";
import { PeopleApi, type PeopleApiOptions } from "./api.ts";
import { type ConnectOptions, connectedPath, PersonConnect } from "./connect.ts";
import { PageCookies } from "./cookies.ts";
import { type PersonSession, PersonSessions } from "./sessions.ts";
import { PersonSignIns } from "./sign-ins.ts";
import { providerSignOut, signedOutPath } from "./sign-out.ts";

const sessionCookie = "claudikins-person";

/** The path that the provider sends browsers back to, below `pagePath`. */
const backPath = "signed-in";

export class PeoplePage {
  readonly #options: PeopleApiOptions & { log: Log };
  readonly #api: PeopleApi;
  readonly #sessions: PersonSessions;
  readonly #signIns: PersonSignIns;
  readonly #connect: PersonConnect;
  readonly #streams = new Set<Live>();

  constructor(options: PeopleApiOptions & ConnectOptions & { log: Log }) {
    const { replicas } = options.app.store;
    this.#options = options;
    this.#sessions = new PersonSessions(replicas?.values);
    this.#signIns = new PersonSignIns(replicas);
    this.#connect = new PersonConnect(options);
    this.#api = new PeopleApi(options);
  }

  /** Whether the path belongs to the page. */
  has(pathname: string): boolean {
    return pathname === pagePath.slice(0, -1) || pathname.startsWith(pagePath);
  }

  /** Answers a request whose host has been checked. `keepOpen` lets a stream stay open. Never rejects. */
  async answer(request: Request, keepOpen: () => void): Promise<Response> {
    const response = await this.#route(request, keepOpen).catch((error: unknown) => this.#refusal(error, request));
    for (const [name, value] of Object.entries(headers)) {
      if (!response.headers.has(name)) response.headers.set(name, value);
    }
    return response;
  }

  /** Ends all streams. */
  close(): void {
    for (const live of this.#streams) live.close();
  }

  async #route(request: Request, keepOpen: () => void): Promise<Response> {
    const { people } = this.#options;
    const { oidc } = people;
    if (oidc?.clientId === undefined) {
      throw new RefusedRequest(404, "Nobody can sign in to the page: the config has no auth.oidc.clientId");
    }
    const { pathname, searchParams } = new URL(request.url);
    if (!pathname.startsWith(pagePath)) return redirected(pagePath);
    const path = pathname.slice(pagePath.length);
    const isRead = request.method === "GET";
    const provider = people.provider(oidc);
    const base = `${originOf(request, oidc)}${pagePath}`;
    const cookies = new PageCookies(base);
    const asked = { oidc, provider, redirect: `${base}${backPath}`, cookies: cookies.in(request) };
    const toSignIn = async (to?: string) => {
      const { url, set } = await this.#signIns.begin(asked, to);
      return redirected(url.href, ...set.map(([name, value]) => cookies.text(name, value, pageSignInMs)));
    };
    if (isRead && path === "sign-in") return toSignIn();
    if (isRead && path === signedOutPath) return signedOutPage(base);
    if (isRead && path === backPath) {
      const { env } = this.#options.app;
      const clientSecret = hasReference(oidc.clientSecret)
        ? await (await import("../../servers/values/read-values.ts")).withReadValues(oidc.clientSecret, "auth.oidc", {
            env,
          })
        : oidc.clientSecret;
      const signIn = await this.#signIns.end(searchParams, { ...asked, oidc: { ...oidc, clientSecret } });
      const { claims, idToken, to } = signIn;
      await people.know(claims);
      await this.#record("signed-in", claims);
      people.noteClaims(claims, "ui");
      const { cookie, session } = await this.#sessions.begin(claims, idToken);
      people.keepIdToken(session);
      this.#options.log.info(`person ${claims.id} has signed in to the page`);
      return redirected(`${pagePath}${to}`, cookies.text(sessionCookie, cookie), cookies.text(signIn.cookie, ""));
    }
    const file = isRead && path !== "" ? pageFiles.get(path) : undefined;
    if (file) return new Response(file.text, { headers: { "content-type": file.type } });
    const cookie = asked.cookies.get(sessionCookie);
    const session = await this.#sessionOf(cookie);
    if (isRead && path === "") {
      if (!session) return redirected(`${pagePath}sign-in`);
      return new Response(peopleDocument, { headers: { "content-type": "text/html; charset=utf-8" } });
    }
    // A person comes from an agent, or back from the authorization server.
    if ((isRead || request.method === "POST") && this.#connect.has(path)) {
      const answer = session && (await this.#connect.answer(request, path, session, base));
      if (answer) return answer;
      if (isRead && path !== connectedPath) return toSignIn(`${path}${new URL(request.url).search}`);
      throw new RefusedRequest(401, "Your session has ended", "Open the link in your agent again.");
    }
    const isTrace = isRead && path.startsWith("trace/");
    // A person may open the page of an execution in a tab of its own.
    if (!isTrace) checkSender(request, originOf(request, oidc), !isRead);
    if (!session) throw new RefusedRequest(401, "Your session has ended", "Sign in again.");
    const { claims } = session;
    if (isTrace) {
      const more = { "content-type": "text/html; charset=utf-8", "content-security-policy": tracePolicy };
      return new Response(await this.#api.tracePage(path.slice("trace/".length), claims), { headers: more });
    }
    switch (`${request.method} ${path}`) {
      case "GET api/state":
        return Response.json(await this.#api.state(claims));
      case "GET api/events":
        keepOpen();
        return this.#events(session, cookie);
      case "POST api/sign-out":
        return this.#signOut(session, request, oidc, cookies);
      default:
        return Response.json((await this.#api.answer(`${request.method} ${path}`, request, claims)) ?? {});
    }
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
  async #signOut(session: PersonSession, request: Request, oidc: Oidc, cookies: PageCookies): Promise<Response> {
    const { people } = this.#options;
    await this.#record("signed-out", session.claims);
    await this.#sessions.end(cookies.in(request).get(sessionCookie));
    people.endIdToken(session);
    const redirect = `${originOf(request, oidc)}${pagePath}${signedOutPath}`;
    const to = await providerSignOut(oidc, people.provider(oidc), { idToken: session.idToken, redirect });
    const headers = { "set-cookie": cookies.text(sessionCookie, "") };
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

  #events({ claims }: PersonSession, cookie: string | undefined): Response {
    // Each person sees something else.
    let isOpen = true;
    const live = new Live({
      read: async () => {
        isOpen = (await this.#sessionOf(cookie)) !== undefined;
        // A person who was revoked has no state.
        return isOpen ? JSON.stringify(await this.#api.state(claims)) : "";
      },
      everyMs: pageLookMs,
    });
    this.#streams.add(live);
    const stream = live.stream(
      () => isOpen,
      () => this.#streams.delete(live),
    );
    return new Response(stream.pipeThrough(new TextEncoderStream()), {
      headers: { "content-type": "text/event-stream" },
    });
  }

  #refusal(thrown: unknown, request: Request): Response {
    const { log } = this.#options;
    const { status, message, hint } = refusalOf(thrown);
    if (status === 500) log.warn(`the page failed: ${messageOf(thrown)}`);
    else log.debug(`the page refused a request: ${message}`);
    // A person sees the answers to these in the browser.
    const isShown = request.method === "GET" && !new URL(request.url).pathname.startsWith(`${pagePath}api/`);
    if (!isShown) return Response.json({ error: message, hint } satisfies PageRefusal, { status });
    const next = `To sign in: ${pagePath}`;
    return new Response([message, hint, next].filter(Boolean).join("\n"), { status });
  }
}

function refusalOf(thrown: unknown): { status: number; message: string; hint?: string | undefined } {
  if (thrown instanceof RefusedRequest) return thrown;
  if (thrown instanceof PersonRefused) {
    return { status: thrown.kind === "unavailable" ? 503 : 403, message: thrown.message };
  }
  const { code, message, hint } = toClaudikinsError(thrown);
  if (code === "DATABASE_UNAVAILABLE") return { status: 503, message: "The database cannot be reached" };
  if (thrown instanceof ClaudikinsError) return { status: 422, message, hint };
  return { status: 500, message: "claudikins failed: see its log for the cause" };
}

/** `base` is our public address with the path of the page. */
function signedOutPage(base: string): Response {
  const text = redirectPage({ mark: "done", title: "Signed out", lines: [`To sign in again, open ${base}`] });
  return new Response(text, { headers: redirectPageHeaders });
}

/** Only to the provider and to our own page. */
function redirected(to: string, ...cookies: string[]): Response {
  const response = new Response(null, { status: 303, headers: { location: to } });
  for (const each of cookies) response.headers.append("set-cookie", each);
  return response;
}

function originOf(request: Request, { address }: Oidc): string {
  return address ?? `http://${request.headers.get("host")}`;
}

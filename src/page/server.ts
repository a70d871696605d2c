/** Answers the requests to a page. An authenticator decides who may send them: the user of this machine, or people who sign in. */

import { ClaudikinsError, messageOf, toClaudikinsError } from "../base/errors.ts";
import { eventLoopTurn } from "../base/event-loop.ts";
import type { Log } from "../base/log.ts";
import { PersonRefused } from "../policy/people/refused.ts";
import { pageHintOf } from "../servers/failures/server-failure.ts";
import type { Body, BodyName } from "./bodies.ts";
import type { PageRefusal, PageState } from "./contract.ts";
import { checkSender, jsonBody, RefusedRequest } from "./guard.ts";
import { Live } from "./live.ts";
import { headers, type PageFile, pageFiles, tracePolicy } from "./page-files.ts";

/** How often the state is compared while a page is open. */
const pageLookMs = 400;

/** A request to a page. */
export interface Asked {
  request: Request;
  /** The address of the page, as browsers know it. It ends with a slash. */
  base: string;
  /** The path of the request, below that of the page. */
  path: string;
  search: URLSearchParams;
}

/** A request to one of the routes of a view. */
export interface RouteRequest {
  /** The id in the path. Empty for a route without one. */
  id: string;
  search: URLSearchParams;
  /** Reads the body. Throws RefusedRequest if it has not the shape of this name. */
  body<Name extends BodyName>(name: Name): Promise<Body<Name>>;
}

/** The functions that answer a view's requests, by method and path. `*` stands for an id. */
export type Routes = Readonly<Record<string, (request: RouteRequest) => unknown>>;

/** The page, as the owner of one session sees it. */
export interface PageView {
  /** Views with the same name show the same state, so it is read once for all of them. */
  readonly name: string;
  /** Undefined if the session has ended. */
  state(): Promise<PageState | undefined>;
  /** The page of one recorded execution. Throws RefusedRequest if there is none. */
  tracePage(id: string): Promise<string>;
  /** Every other request. The functions throw RefusedRequest and errors of what they do. */
  readonly routes: Routes;
  /** Marks that the session has a stream from now on. */
  stream?(): { isOpen(): boolean; end(): void };
}

/** Identifies the sender of a request. */
export interface Authenticator {
  /** Answers a request to another path itself. Throws RefusedRequest if the sender may not send any. */
  locate(request: Request): Promise<Asked | Response>;
  /**
   * Answers requests that need no session, and requests to which other sites lead browsers. Checks the sender itself if it changes
   * something.
   */
  enter(asked: Asked): Promise<Response | undefined>;
  /** Undefined without a session. */
  view(asked: Asked): Promise<PageView | undefined>;
  /** The refusal without a session. */
  readonly closed: { message: string; hint?: string };
  /** A line below refusals that a person sees as text in a browser. Without it, all refusals are JSON. */
  readonly lead?: string;
}

export class PageServer {
  readonly #authenticator: Authenticator;
  readonly #log: Log;
  /** By the names of their views. */
  readonly #lives = new Map<string, Live>();

  constructor(authenticator: Authenticator, log: Log) {
    this.#authenticator = authenticator;
    this.#log = log;
  }

  /** `keepOpen` lets a stream stay open. Never rejects. */
  async answer(request: Request, keepOpen: () => void): Promise<Response> {
    // Many requests at once must not block the process together.
    await eventLoopTurn();
    const response = await this.#route(request, keepOpen).catch((error: unknown) => this.#refusal(error, request));
    for (const [name, value] of Object.entries(headers)) {
      if (!response.headers.has(name)) response.headers.set(name, value);
    }
    return response;
  }

  /** Ends all streams. */
  close(): void {
    for (const live of this.#lives.values()) live.close();
  }

  async #route(request: Request, keepOpen: () => void): Promise<Response> {
    const authenticator = this.#authenticator;
    const asked = await authenticator.locate(request);
    if (asked instanceof Response) return asked;
    const { path, base } = asked;
    const isRead = request.method === "GET";
    const file = isRead ? pageFiles.get(path) : undefined;
    if (file) return fileAnswer(file);
    const entered = await authenticator.enter(asked);
    if (entered) return entered;
    const isTrace = isRead && path.startsWith("trace/");
    // A person may open the page of an execution in a tab of its own.
    if (!isTrace) checkSender(request, new URL(base).origin, !isRead);
    const view = await authenticator.view(asked);
    if (!view) throw this.#closed();
    if (isTrace) {
      const text = await view.tracePage(path.slice("trace/".length));
      return fileAnswer({ type: "text/html; charset=utf-8", text }, { "content-security-policy": tracePolicy });
    }
    const route = `${request.method} ${path}`;
    if (route === "GET api/events") {
      keepOpen();
      return this.#events(view);
    }
    if (route === "GET api/state") return this.#state(request, view);
    const answer = await answerTo(route, view.routes, asked);
    // Other tabs see the change at once.
    if (!isRead) this.#lives.get(view.name)?.changed();
    return answer instanceof Response ? answer : Response.json(answer ?? {});
  }

  #closed(): RefusedRequest {
    const { message, hint } = this.#authenticator.closed;
    return new RefusedRequest(401, message, hint);
  }

  /** The shared reads of one view. They end when no stream needs them any more. */
  #live(view: PageView): Live {
    const { name } = view;
    const found = this.#lives.get(name);
    if (found) return found;
    const live: Live = new Live({
      read: async () => {
        const state = await view.state();
        return state && JSON.stringify(state);
      },
      everyMs: pageLookMs,
      unused: () => {
        if (this.#lives.get(name) === live) this.#lives.delete(name);
      },
    });
    this.#lives.set(name, live);
    return live;
  }

  #events(view: PageView): Response {
    const stream = this.#live(view).stream(view.stream?.());
    return new Response(stream.pipeThrough(new TextEncoderStream()), {
      headers: { "content-type": "text/event-stream" },
    });
  }

  async #state(request: Request, view: PageView): Promise<Response> {
    const text = await this.#live(view).state();
    if (text === undefined) throw this.#closed();
    const etag = `"${Bun.hash(text).toString(36)}"`;
    if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304, headers: { etag } });
    return new Response(text, { headers: { "content-type": "application/json", etag } });
  }

  #refusal(thrown: unknown, request: Request): Response {
    const { lead } = this.#authenticator;
    const { status, message, hint } = refusalOf(thrown);
    if (status === 500) this.#log.warn(`the page failed: ${messageOf(thrown)}`);
    else this.#log.debug(`the page refused a request: ${message}`);
    const isShown = request.method === "GET" && !/^\/[^/]+\/api\//.test(new URL(request.url).pathname);
    return isShown && lead !== undefined
      ? new Response([message, hint, lead].filter(Boolean).join("\n"), { status })
      : Response.json({ error: message, hint } satisfies PageRefusal, { status });
  }
}

/** The third part of a path may be an id. */
async function answerTo(route: string, routes: Routes, { request, search }: Asked): Promise<unknown> {
  const [, start = "", id = "", end = ""] = /^(\w+ api\/\w+\/)([0-9a-z-]{1,60})((?:\/\w+)?)$/.exec(route) ?? [];
  const [found, of] = Object.hasOwn(routes, route) ? [route, ""] : [`${start}*${end}`, id];
  if (!Object.hasOwn(routes, found) || route.includes("*"))
    throw new RefusedRequest(404, "The page has no such request");
  return routes[found]!({ id: of, search, body: (name) => jsonBody(request, name) });
}

/** Makes the answer for an error. The text of an unexpected error may contain anything, so it is only logged. */
function refusalOf(thrown: unknown): { status: number; message: string; hint?: string | undefined } {
  if (thrown instanceof RefusedRequest) return thrown;
  if (thrown instanceof PersonRefused) {
    return { status: thrown.kind === "unavailable" ? 503 : 403, message: thrown.message };
  }
  const error = toClaudikinsError(thrown);
  const { code, message } = error;
  if (code === "DATABASE_UNAVAILABLE") return { status: 503, message };
  if (thrown instanceof ClaudikinsError) return { status: 422, message, hint: pageHintOf(error) };
  return { status: 500, message: "claudikins failed: see its log for the cause" };
}

export function fileAnswer({ type, text }: PageFile, more: Record<string, string> = {}): Response {
  return new Response(text, { headers: { "content-type": type, ...more } });
}

/** Redirects a browser. Use it only for our own page, and for providers and authorization servers of the config. */
export function redirected(to: string, ...cookies: string[]): Response {
  const response = new Response(null, { status: 303, headers: { location: to } });
  for (const each of cookies) response.headers.append("set-cookie", each);
  return response;
}

/**
 * The MCP server over HTTP: one address for the whole config and one for each door. Each has sessions, and requests without session of
 * revision 2026-07-28.
 */
import {
  isInitializeRequest,
  isJSONRPCRequest,
  isLegacyRequest,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import type { App } from "../../app/app.ts";
import { bracketed } from "../../base/bracketed.ts";
import { messageOf, toClaudikinsError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { isLoopback } from "../../base/loopback.ts";
import { type ConnectionEnd, problemOfPeer } from "../../base/peer-owner.ts";
import { atMost } from "../../base/time-limit.ts";
import { megabyte } from "../../base/units.ts";
import type { Person } from "../../config/oidc.ts";
import type { Executions } from "../../programs/execution/executions.ts";
import type { ExecutionView } from "../../programs/execution/stored-executions.ts";
import type { WatchedServing } from "../../programs/telemetry.ts";
import { configOwner } from "../../servers/logs/place.ts";
import { httpIdleSeconds, unlockMs } from "../limits.ts";
import { bodyOf, lean, textOf } from "./body.ts";
import type { Caller } from "./clients.ts";
import { ContinueLeft, type OpenPart } from "./continue-left.ts";
import type { StayOpen } from "./event-stream.ts";
import { HttpGate, type HttpGateOptions, preflight } from "./gate.ts";
import { healthAnswer } from "./health.ts";
import { listen } from "./listen.ts";
import { type ModernLimits, ModernRequests } from "./modern-requests.ts";
import { PersonPlaces } from "./person-places.ts";
import { HttpRefusal, invalidMessage, LeavingRefusal, MovedRefusal } from "./refusal.ts";
import { misdirected } from "./replicas/pass.ts";
import { forwardHeader, type Replicas } from "./replicas/replicas.ts";
import { isWebhook, ScheduledPrograms } from "./scheduled-programs.ts";
import { HttpSessions, type SessionLimits } from "./sessions.ts";
import { targetOf } from "./target.ts";
import type { SessionTransport } from "./transport.ts";

/** Maximum bytes of a body outside a session, which can only be `initialize`. */
const maxInitializeBytes = 65_536;

/** Milliseconds for the last answers to be sent after everything has ended. The steps that wait for them share this time. */
export const lastAnswersMs = 2_000;

/** The milliseconds that each of these steps has at least, if the steps before took the whole time. */
const lastStepMs = 300;

/** How often a process that leaves looks which sessions it can hand over. */
const handOverLookMs = 50;

/** Time in which a request still arrives that another replica has sent before it knew that this one has left. It is sent back. */
const stragglersMs = 500;

/** How long the process goes on when it was told to end. */
export interface LeavingTimes {
  /** It still takes every request, so that balancers which ask `/readyz` can turn away. */
  lameDuckMs: number;
  /** Then it takes no new requests, and running ones may finish. */
  graceMs: number;
}

/** From `lame duck` on, `/readyz` says no. From `draining` on, no new work is taken. When it is `closed`, nothing is left here. */
type Phase = "serving" | "lame duck" | "draining" | "closed";

export interface FrontDoorOptions extends HttpGateOptions, SessionLimits, ModernLimits {
  /** 0 means any free port. */
  port: number;
  /** Maximum bytes of one request. */
  maxBodyBytes: number;
  /** The door that is served instead of the whole config. */
  door?: string | undefined;
  /** Opens the part of the config behind a door, or of the whole config, for everybody or for a person. It ends with the front door. */
  openDoor: (door: string | undefined, visitor?: Visitor) => Promise<App>;
  /** The page for people who have signed in. */
  page?: HttpPage | undefined;
  /** What a company's directory says about people. */
  directory?: { answer(request: Request): Promise<Response | undefined> } | undefined;
  /** Other processes that share the database. */
  replicas?: Replicas | undefined;
  log: Log;
}

/** A person who has signed in, and our address for the person's browser. */
export interface Visitor {
  person: Person;
  origin: string;
}

/** A page beside MCP. It checks its requests itself, except for the host. */
interface HttpPage {
  has(pathname: string): boolean;
  /** `keepOpen` lets a stream stay open. */
  answer(request: Request, keepOpen: () => void): Promise<Response>;
  close(): void;
}

/** One path has these sessions and answers these requests. */
interface Place {
  sessions: HttpSessions;
  modern: ModernRequests;
}

const path = "/mcp";

const metricsPath = "/metrics";

const methods = ["POST", "GET", "DELETE"];

export class FrontDoor {
  readonly #options: FrontDoorOptions;
  readonly #app: App;
  readonly #gate: HttpGate;
  /** The whole config. */
  readonly #whole: Place;
  /** The doors that are open. */
  readonly #opened = new Set<OpenDoor>();
  /** The doors that were asked for, by name. */
  readonly #doors = new Map<string, Promise<OpenDoor>>();
  /** The views of the config that people have, one for each person. */
  readonly #people: PersonPlaces<OpenDoor>;
  readonly #server: Bun.Server<undefined>;
  readonly #continuing: ContinueLeft;
  readonly #scheduled: ScheduledPrograms;
  #watching: Disposable | undefined;
  #phase: Phase = "serving";
  /** Requests that were accepted, and are not known to a session yet. */
  #arriving = 0;

  /** Starts to listen. Throws USAGE if that is not possible. */
  constructor(app: App, options: FrontDoorOptions) {
    this.#app = app;
    this.#options = options;
    this.#gate = new HttpGate(options);
    this.#people = new PersonPlaces({
      open: (door, person) => this.#opening(door, person),
      close: (opened) => this.#close(opened),
      idleMs: options.idleMs,
      log: options.log,
    });
    this.#server = listen(options, (request, server) => this.#answer(request, server));
    const { log, door } = options;
    const ofReplicas = { door, partOf: (view: ExecutionView) => this.#partOf(view), log };
    this.#continuing = new ContinueLeft(app, ofReplicas);
    this.#scheduled = new ScheduledPrograms(app, ofReplicas);
    this.#whole = placeFor(app, options, undefined);
    if (app.lockedBy === undefined) void this.#unlocked(AbortSignal.timeout(unlockMs));
  }

  /** The address itself, because another user may listen on another address of the same name. */
  get url(): string {
    const url = new URL(path, this.#server.url);
    if (url.hostname === "localhost") url.host = `${bracketed(this.#end.address)}:${this.#end.port}`;
    return url.href;
  }

  get #end(): ConnectionEnd {
    // Bun's types do not have it.
    return (this.#server as unknown as { address: ConnectionEnd }).address;
  }

  #watched({ store, config }: App): WatchedServing {
    const { replicas } = this.#options;
    return {
      sessions: () => this.#places.reduce((sum, { sessions }) => sum + sessions.size, 0),
      requests: () => this.running,
      isLeaving: () => this.#phase !== "serving",
      team: replicas && {
        lease: () => replicas.lease,
        look: async () => {
          await store.checkWritable();
          return replicas.state();
        },
        roomBytes: () => config.executions.totalMb * megabyte,
      },
    };
  }

  /** Open requests. */
  get running(): number {
    const { passing = 0 } = this.#options.replicas ?? {};
    return this.#places.reduce((sum, { sessions, modern }) => sum + sessions.running + modern.running, passing);
  }

  /** The part of the config in which executions of this door and person run. It stays open until it is disposed of. Throws what opening throws. */
  async #partOf({ door, person }: ExecutionView): Promise<OpenPart> {
    if (person) {
      const place = await this.#people.of(person, door);
      return { app: place.opened.app, [Symbol.dispose]: () => place[Symbol.dispose]() };
    }
    const isWhole = door === undefined || door === this.#options.door;
    const app = isWhole ? await this.#app.ready(AbortSignal.timeout(unlockMs)) : (await this.#doorNamed(door)).app;
    // Doors stay open until the end, or until the config has them no longer.
    return { app, [Symbol.dispose]() {} };
  }

  /** Whether no new work is taken. */
  get #isDraining(): boolean {
    return this.#phase === "draining" || this.#phase === "closed";
  }

  /** The open sessions of a person in this process. */
  sessionsOf(id: string): Promise<number> {
    return this.#people.sessionsOf(id);
  }

  get #places(): Place[] {
    return [this.#whole, ...this.#opened];
  }

  /**
   * Ends in three steps. The lame duck still takes everything, while `/readyz` says no. Then new requests are refused and running ones may
   * finish, for at most `graceMs`: sessions and executions that other replicas can continue are handed over, each when nothing of it is
   * running. Programs that run still are saved if they can be, and the rest is cancelled.
   */
  async close({ lameDuckMs, graceMs }: LeavingTimes): Promise<void> {
    this.#phase = "lame duck";
    // Others begin what would only be handed over again.
    const taking = [this.#continuing[Symbol.asyncDispose](), this.#scheduled[Symbol.asyncDispose]()];
    await Bun.sleep(lameDuckMs);
    this.#phase = "draining";
    this.#options.page?.close();
    await Promise.all([...taking, this.#untilDone(graceMs), this.#drain(graceMs)]);
    await Promise.all((await this.#executions()).map((each) => each.leave()));
    for (const { sessions, modern } of this.#places) {
      sessions.cancel();
      modern.cancel();
    }
    const deadline = performance.now() + lastAnswersMs;
    const timeLeft = () => Math.max(lastStepMs, deadline - performance.now());
    await this.#untilDone(timeLeft());
    this.#phase = "closed";
    const doors = [...this.#doors.keys()].map((door) => this.#closeDoor(door));
    await Promise.all([closed(this.#whole, true), this.#people.close(), ...doors]);
    // Others no longer send requests here, and what was passed on before comes to its end.
    const { replicas } = this.#options;
    if (replicas) await atMost(timeLeft(), Promise.all([replicas[Symbol.asyncDispose](), replicas.passed()]));
    if (replicas) await Bun.sleep(stragglersMs);
    replicas?.stopPassing();
    const end = performance.now() + timeLeft();
    while (this.#server.pendingRequests > 0 && performance.now() < end) await Bun.sleep(10);
    this.#watching?.[Symbol.dispose]();
    await this.#server.stop(true);
  }

  /** Without replicas, nobody would continue the executions before this process has ended. */
  async #drain(withinMs: number): Promise<void> {
    if (!this.#app.store.continuations) return;
    await Promise.all(
      (await this.#executions()).map((each) => each.drain(withinMs, () => this.running + this.#arriving > 0)),
    );
  }

  async #executions(): Promise<Executions[]> {
    const whole = await this.#unlocked(AbortSignal.timeout(unlockMs));
    const apps = [...(whole ? [whole] : []), ...[...this.#opened].map(({ app }) => app)];
    return [...new Set(await Promise.all(apps.map((app) => app.executions())))];
  }

  /** Sessions are handed over as soon as nothing runs in them. A new one may begin until the last request has ended. */
  async #untilDone(withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    do {
      await Promise.all(this.#places.map(({ sessions }) => sessions.handOver()));
      if (!this.#isBusy) return;
      await Bun.sleep(handOverLookMs);
    } while (performance.now() < deadline);
  }

  get #isBusy(): boolean {
    return (
      this.running + this.#arriving > 0 ||
      (this.#options.replicas && this.#places.some(({ sessions }) => sessions.size > 0)) === true
    );
  }

  async #answer(request: Request, server: Bun.Server<undefined>): Promise<Response> {
    this.#arriving += 1;
    const response = await this.#route(request, server)
      .catch((error: unknown) => this.#refusal(request, error))
      .finally(() => {
        this.#arriving -= 1;
      });
    for (const [name, value] of Object.entries(this.#gate.corsHeaders(request))) response.headers.set(name, value);
    // The next request of the client, or of a balancer, comes on a new connection, to a process that stays.
    if (this.#phase !== "serving") response.headers.set("connection", "close");
    return response;
  }

  #refusal(request: Request, error: unknown): Response {
    const { log } = this.#options;
    const line = `${request.method}: ${messageOf(error)}`;
    if (error instanceof HttpRefusal) {
      log.debug(line);
      // The other replica looks again who has the session.
      const isElsewhere = error instanceof LeavingRefusal || error instanceof MovedRefusal;
      const isPassed = isElsewhere && request.headers.has(forwardHeader);
      return (isPassed ? new HttpRefusal(misdirected, error.message) : error).response();
    }
    log.warn(line);
    if (toClaudikinsError(error).code === "DATABASE_UNAVAILABLE") {
      return new HttpRefusal(503, messageOf(error), { "retry-after": "5" }).response();
    }
    return new HttpRefusal(500, "claudikins failed: see its log for the cause").response();
  }

  async #route(request: Request, server: Bun.Server<undefined>): Promise<Response> {
    this.#gate.checkHost(request);
    const target = targetOf(request);
    const { pathname } = target;
    const { log, page } = this.#options;
    const { signal } = request;
    const isLeaving = this.#phase !== "serving";
    const health = await healthAnswer(target, { app: this.#app, isLeaving, signal, log });
    if (health) return health;
    if (this.#phase === "closed") throw new LeavingRefusal();
    const { replicas } = this.#options;
    await replicas?.joined;
    const forwarded = replicas?.forwarded(request);
    const { people, directory } = this.#options;
    const told = (await people?.signOutAt(request)) ?? (await directory?.answer(request));
    if (told) return told;
    if (page?.has(pathname)) return page.answer(request, () => server.timeout(request, 0));
    if (isWebhook(pathname)) {
      if (this.#isDraining) throw new LeavingRefusal();
      return this.#scheduled.answer(request, pathname);
    }
    this.#gate.checkOrigin(request);
    if (request.method === "OPTIONS") return preflight();
    const metadata = this.#options.people?.metadataAt(request);
    if (metadata) return metadata;
    const peer = server.requestIP(request);
    const caller = await this.#gate.callerOf(request, forwarded?.address ?? peer?.address ?? "");
    await this.#checkPeer(peer);
    const metrics = pathname === metricsPath ? await this.#metrics(request, caller) : undefined;
    if (metrics) return metrics;
    // Nothing is opened or passed on before the path is known to be one of ours, and open to the caller.
    const at = await this.#pathFor(caller, pathname, request.signal);
    if (!methods.includes(request.method)) {
      throw new HttpRefusal(405, "Only POST, GET and DELETE are allowed", { allow: "GET, POST, DELETE" });
    }
    const stayOpen = () => server.timeout(request, httpIdleSeconds);
    const body = () => textOf(request, this.#options.maxBodyBytes);
    const { address: client, person } = caller;
    const arrived = { request, path: at.path, address: client, stayOpen, body };
    const answerHere = async (own: Request): Promise<Response> => {
      const known = { request: own, path: at.path, caller, stayOpen, isForwarded: forwarded !== undefined };
      if (person) {
        using place = await this.#people.of(person, at.door);
        return await this.#answerAt(place.opened, known);
      }
      const place = at.path === path ? this.#whole : await this.#doorNamed(at.path.slice(1));
      return this.#answerAt(place, known);
    };
    if (!replicas || forwarded) return answerHere(request);
    const own = await replicas.passSession(arrived);
    if (own instanceof Response) return own;
    try {
      return await answerHere(own);
    } catch (error) {
      if (!(error instanceof MovedRefusal)) throw error;
      // The session was looked for before the body was read.
      const moved = { ...arrived, request: own, body: () => textOf(own, this.#options.maxBodyBytes) };
      const again = await replicas.passSession(moved);
      return again instanceof Response ? again : answerHere(again);
    }
  }

  async #answerAt(place: Place, arrived: Arrived): Promise<Response> {
    const { request, caller, stayOpen } = arrived;
    switch (request.method) {
      case "POST":
        return this.#post(place, arrived);
      case "GET":
        accepts(request, "text/event-stream");
        return (await sessionOf(place, request, caller)).listen(request.headers.get("last-event-id"), stayOpen);
      default:
        await (await sessionOf(place, request, caller)).close();
        await place.sessions.settled();
        return new Response(null, { status: 200 });
    }
  }

  /** The metrics of all doors. Undefined if they are off. Tokens of doors open other addresses only. */
  async #metrics({ method, signal }: Request, caller: Caller): Promise<Response | undefined> {
    if (caller.person || this.#addressOf(caller) !== undefined) return undefined;
    const app = await this.#unlocked(signal);
    const text = await app?.telemetry?.prometheus?.();
    if (text === undefined) return undefined;
    if (method !== "GET") throw new HttpRefusal(405, "Only GET is allowed here", { allow: "GET" });
    return new Response(text, { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } });
  }

  /** Without a token, the port of a loopback address would be open to every user of the machine. Throws an HttpRefusal with status 403. */
  async #checkPeer(peer: ConnectionEnd | null): Promise<void> {
    const { host, token, people } = this.#options;
    if (token !== undefined || people || !isLoopback(host)) return;
    const problem = await problemOfPeer(peer, this.#end);
    if (!problem) return;
    throw new HttpRefusal(403, `${problem.message}. ${problem.hint} To serve other users, require a token`);
  }

  async #post(
    { sessions, modern }: Place,
    { request, path, caller, stayOpen, isForwarded }: Arrived,
  ): Promise<Response> {
    accepts(request, "application/json", "text/event-stream");
    const id = request.headers.get("mcp-session-id");
    const session = id === null ? undefined : await sessionOf({ sessions }, request, caller);
    const { maxBodyBytes } = this.#options;
    // Outside a session, only requests with this header may be longer than `initialize`.
    const isLong = session !== undefined || request.headers.has("mcp-method");
    const body = await bodyOf(request, isLong ? maxBodyBytes : Math.min(maxInitializeBytes, maxBodyBytes));
    const { messages, value, text } = body;
    if (this.#isDraining && !isForwarded && messages.some(isJSONRPCRequest)) throw new LeavingRefusal();
    const [first] = messages;
    if (session) {
      if (isInitializeRequest(first)) throw invalidMessage("This session has already started");
      return session.post(body, stayOpen, caller);
    }
    if (!(await isLegacyRequest(request, value))) {
      stayOpen();
      const { replicas } = isForwarded ? {} : this.#options;
      const { address } = caller;
      const passed = await replicas?.passRequest({ request, path, address, stayOpen, body: async () => text }, value);
      return passed ?? modern.answer(request, value, caller);
    }
    if (!isInitializeRequest(first) || !isJSONRPCRequest(first)) {
      throw new HttpRefusal(400, "The header Mcp-Session-Id is missing: send initialize to start a session");
    }
    const initialize = lean(first);
    const begun = await sessions.begin(initialize.params, caller);
    return begun.post({ messages: [initialize], isBatch: false }, stayOpen, caller);
  }

  /** The only path that the token of the caller opens. Undefined if it opens all of them. */
  #addressOf({ door }: Caller): string | undefined {
    if (door === undefined) return undefined;
    return door === this.#options.door ? path : `/${door}`;
  }

  /**
   * The path of ours that a request names, and the door behind it. Throws one HttpRefusal for everything that the caller may not use, whether
   * it exists or not. Sessions of a door that the config no longer has end.
   */
  async #pathFor(caller: Caller, pathname: string, signal: AbortSignal): Promise<Address> {
    const own = this.#addressOf(caller);
    // Before any door is looked up: the token says nothing about other addresses.
    if (own !== undefined && pathname !== own) throw nothingHere(own);
    const { person } = caller;
    const isWhole = pathname === path;
    const name = pathname.slice(1);
    const app = isWhole && !person ? undefined : await this.#unlocked(signal);
    const isOurs = isWhole || app?.config.doors.includes(name) === true;
    const door = isWhole ? this.#options.door : name;
    const people = this.#options.people?.people;
    const rights = person && (await people?.rightsOf(person.claims));
    if (isOurs && (!person || rights?.mayUse(door))) {
      if (person) people?.note(person, door);
      return { path: isWhole ? path : `/${name}`, door };
    }
    if (!person) {
      await this.#closeDoor(name);
      throw nothingHere(own);
    }
    // Another token of the person may still open the door.
    if (!isOurs || rights?.hasLost(door) !== false) await this.#people.leave(person, door);
    const why = person.claims.hasMoreGroups
      ? "The provider has left your groups out of the token, because they are too many"
      : "Your groups may not include it";
    throw new HttpRefusal(404, `Nothing is served at this path for you. ${why}`);
  }

  #doorNamed(name: string): Promise<OpenDoor> {
    const opening = this.#doors.get(name) ?? this.#openDoor(name);
    this.#doors.set(name, opening);
    return opening;
  }

  /** Undefined if the config is not trusted yet, so that nobody may know its doors. */
  async #unlocked(signal: AbortSignal): Promise<App | undefined> {
    try {
      const app = await this.#app.ready(signal);
      this.#watching ??= app.telemetry?.watchServing(this.#watched(app));
      return app;
    } catch {
      return undefined;
    }
  }

  async #openDoor(name: string): Promise<OpenDoor> {
    try {
      return await this.#opening(name);
    } catch (error) {
      this.#doors.delete(name);
      throw error;
    }
  }

  async #opening(door: string | undefined, person?: Person): Promise<OpenDoor> {
    const { people } = this.#options;
    const origin = people?.people.oidc?.address ?? new URL(this.url).origin;
    const app = await this.#options.openDoor(door, person && { person, origin });
    const opened = { app, ...placeFor(app, this.#options, door) };
    this.#opened.add(opened);
    return opened;
  }

  async #closeDoor(name: string): Promise<void> {
    const opened = await this.#doors.get(name)?.catch(() => undefined);
    this.#doors.delete(name);
    if (opened) await this.#close(opened);
  }

  async #close(opened: OpenDoor): Promise<void> {
    await closed(opened, this.#isDraining);
    this.#opened.delete(opened);
    await opened.app[Symbol.asyncDispose]();
  }
}

/** One of our paths. */
interface Address {
  path: string;
  /** The door behind it. Undefined for the whole config. */
  door: string | undefined;
}

/** A request whose sender and path are known. */
interface Arrived {
  request: Request;
  path: string;
  caller: Caller;
  stayOpen: StayOpen;
  /** Another replica has passed it on. */
  isForwarded: boolean;
}

interface OpenDoor extends Place {
  app: App;
}

/** `door` is the one that is served at a path of its own. */
function placeFor(app: App, options: FrontDoorOptions, door: string | undefined): Place {
  const { idleMs, log, replicas } = options;
  const place = JSON.stringify([configOwner(app.config.origin), door ?? options.door ?? null]);
  const sessions = new HttpSessions(app, options, log, replicas?.sessionsOf({ place, idleMs }));
  return { sessions, modern: new ModernRequests(app, options, log, { isConnected: sessions.isConnected, replicas }) };
}

/** `handsOver`: other replicas may continue the sessions. */
async function closed({ sessions, modern }: Place, handsOver: boolean): Promise<void> {
  await Promise.all([sessions.close({ handsOver }), modern.close()]);
}

/** `address` is the only path that the token of the request opens. */
function nothingHere(address: string | undefined): HttpRefusal {
  const where = address === undefined ? `the MCP endpoint is ${path}` : `the token opens only ${address}`;
  return new HttpRefusal(404, `Nothing is served at this path: ${where}`);
}

/** Throws an HttpRefusal if the request has no session of this place and of its token. */
async function sessionOf(
  { sessions }: Pick<Place, "sessions">,
  request: Request,
  caller: Caller,
): Promise<SessionTransport> {
  const id = request.headers.get("mcp-session-id");
  if (id === null) throw new HttpRefusal(400, "The header Mcp-Session-Id is missing");
  const version = request.headers.get("mcp-protocol-version");
  if (version !== null && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    const known = SUPPORTED_PROTOCOL_VERSIONS.join(", ");
    throw new HttpRefusal(
      400,
      `The protocol version ${JSON.stringify(version.slice(0, 50))} is not supported. Supported versions: ${known}`,
    );
  }
  return sessions.find(id, caller);
}

/** Throws an HttpRefusal if the client does not accept the answer's type. */
function accepts(request: Request, ...types: string[]): void {
  const accepted = (request.headers.get("accept") ?? "*/*").toLowerCase();
  const missing = types.find((type) => {
    const all = `${type.split("/")[0]}/*`;
    return ![type, all, "*/*"].some((each) => accepted.includes(each));
  });
  if (missing !== undefined) throw new HttpRefusal(406, `The Accept header must include ${types.join(" and ")}`);
}

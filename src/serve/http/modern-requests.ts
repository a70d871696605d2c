/**
 * Requests of MCP 2026-07-28 over HTTP. They belong to no session. Requests of one client use the same connections to servers, and
 * clients have connections of their own where it matters, so that no host is asked on behalf of another.
 */

import { ReadableStream } from "node:stream/web";
import {
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  createMcpHandler,
  InMemoryServerEventBus,
  type McpHttpHandler,
  type McpRequestContext,
  type McpServer,
  type RequestId,
  type Server,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import type { App } from "../../app/app.ts";
import { messageOf } from "../../base/errors.ts";
import { isObject } from "../../base/json-object.ts";
import { personMs } from "../../base/limits.ts";
import type { Log } from "../../base/log.ts";
import { atMost } from "../../base/time-limit.ts";
import type { RequestingAgent } from "../../programs/execution/asker.ts";
import { onAbort } from "../../servers/abort.ts";
import { CodeSession } from "../code-session.ts";
import { leftToOthers } from "../host-request.ts";
import type { Connections, ModernClient } from "../modern/client.ts";
import { modernCodeServer } from "../modern/code-mode.ts";
import { modernDirectServer } from "../modern/direct-mode.ts";
import { listenedTo, metaIn } from "../modern/envelope.ts";
import { ListenedResources } from "../modern/listened-resources.ts";
import { ModernHost } from "../modern/modern-host.ts";
import { ParkedRequests, type SharedStates } from "../modern/parked-requests.ts";
import { refusal, streamWithTasks } from "../modern/task-notices.ts";
import { Tasks } from "../modern/tasks.ts";
import { clientsOf } from "../owner.ts";
import { DirectAnswers } from "../proxy/direct-answers.ts";
import { sessionMode } from "../proxy/mode.ts";
import type { ChangeListener } from "../proxy/notices.ts";
import { SessionCount } from "../session-count.ts";
import { directInstructions } from "../surface/instructions.ts";
import { type Surface, surfaceOf } from "../surface/surface.ts";
import {
  appFor,
  type Caller,
  type ClientPlace,
  clientKey,
  hasPrivateServers,
  placesOf,
  placeToFree,
  requireValid,
} from "./clients.ts";
import { eventStreamHeaders, keepAlive, messageEvent } from "./event-stream.ts";
import { accessEnded, serverEnded, withForcedEnd } from "./forced-end.ts";
import { endedToken, HttpRefusal, lostAnswer } from "./refusal.ts";

/** The status that the SDK's server gives a request if it was closed before the answer. */
const closedInRequest = 499;

/** How often open requests without session are looked after, at least: often enough to end connections soon after their time. */
const maxRequestTendMs = 15_000;

export interface ModernLimits {
  /** Maximum number of clients of one token, and of its sessions of the older revisions. */
  maxSessions: number;
  /** A client without requests is forgotten after this time, and its connections end. */
  idleMs: number;
  /** Maximum number of concurrent calls of one client. Others wait. */
  maxCalls: number;
  /** Maximum number of subscriptions of one client. */
  maxRequests: number;
  /** Time for a host to come back with the answers to questions. Default one hour. */
  answerMs?: number;
}

/** Facts from outside of these requests. */
interface Others {
  /** Whether a session of the older revisions is open. */
  isConnected: RequestingAgent["isConnected"];
  replicas: { readonly states: SharedStates } | undefined;
}

/** Shared by all clients. */
interface Shared {
  app: App;
  limits: ModernLimits;
  log: Log;
  bus: ServerEventBus;
  /** Whether a server is not shared, as the config was at the last request. */
  hasPrivateServers: boolean;
  closing: AbortSignal;
  /** Undefined without other replicas. */
  states: SharedStates | undefined;
  serverFor: (client: Client, method: string) => McpServer | Server;
  /** In direct mode only. */
  answers: DirectAnswers | undefined;
}

export class ModernRequests {
  readonly #app: App;
  readonly #limits: ModernLimits;
  readonly #log: Log;
  readonly #closing = new AbortController();
  readonly #clients = new Map<string, Client>();
  /** The tasks of each client, which outlive its connections. */
  readonly #tasks = new Map<string, Tasks>();
  /** The signals of the tokens of clients, with what stops listening to them. */
  readonly #followed = new Map<AbortSignal, () => void>();
  readonly #ending = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  readonly #others: Others;
  #shared: Promise<Shared> | undefined;

  constructor(app: App, limits: ModernLimits, log: Log, others: Others) {
    this.#others = others;
    this.#app = app;
    this.#limits = limits;
    this.#log = log;
    this.#timer = setInterval(() => this.#tend(), Math.min(limits.idleMs / 2, maxRequestTendMs)).unref();
  }

  /** Clients that are connected, or were lately. */
  get size(): number {
    return this.#clients.size;
  }

  /** Calls that are being answered. */
  get running(): number {
    return [...this.#clients.values()].reduce((sum, { parked, tasks }) => sum + parked.running + tasks.working, 0);
  }

  /** `body` is the parsed body. Throws an HttpRefusal. */
  async answer(request: Request, body: unknown, caller: Caller): Promise<Response> {
    this.#shared ??= this.#open();
    const shared = await this.#shared;
    shared.hasPrivateServers = await hasPrivateServers(this.#app);
    requireValid(caller);
    const client = this.#clientOf(caller, clientKey(caller, nameIn(body)), shared);
    return client.answer(request, body, caller);
  }

  /** Cancels everything that runs. The hosts still get their answers. */
  cancel(): void {
    this.#closing.abort(this.#others.replicas ? leftToOthers : undefined);
  }

  /** Ends all streams and connections. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const stopListening of this.#followed.values()) stopListening();
    this.cancel();
    for (const [key, client] of this.#clients) this.#end(key, client);
    for (const tasks of this.#tasks.values()) tasks[Symbol.dispose]();
    await Promise.all(this.#ending);
  }

  /** The lists may not depend on the client, so the mode is decided once, and direct mode has one set of names. */
  async #open(): Promise<Shared> {
    const [app, limits, log] = [this.#app, this.#limits, this.#log];
    await app.reload?.refresh();
    const closing = this.#closing.signal;
    const bus = new InMemoryServerEventBus();
    const { states } = this.#others.replicas ?? {};
    const shared = { app, limits, log, bus, closing, states, hasPrivateServers: false };
    if (sessionMode(app) === "code") {
      const surface = await surfaceOf(app);
      const serverFor = (client: Client) => modernCodeServer(client.session(surface), client, surface.instructions);
      return { ...shared, serverFor, answers: undefined };
    }
    const count = new SessionCount(app, directInstructions(app));
    const answers = new DirectAnswers(app, count, listenerOf(bus), closing);
    const serverFor = (client: Client, method: string) =>
      modernDirectServer({ answers, client, app, closing: client.closing }, method);
    return { ...shared, serverFor, answers };
  }

  #clientOf(caller: Caller, key: string, shared: Shared): Client {
    const known = this.#clients.get(key);
    if (known) return known;
    const { maxSessions } = this.#limits;
    const own = placesOf(caller, this.#clients.values());
    if (own.length >= maxSessions) {
      const freed = placeToFree(own, { address: caller.address, client: key });
      if (!freed) throw new HttpRefusal(503, `All ${maxSessions} places are in use`, { "retry-after": "30" });
      this.#end(freed.client, freed);
    }
    this.#follow(caller);
    const client = new Client(shared, this.#tasksOf(key), caller, {
      client: key,
      isConnected: this.#others.isConnected,
    });
    this.#clients.set(key, client);
    return client;
  }

  /** Ends everything that a token began when it is no longer valid. */
  #follow({ owner, ended }: Caller): void {
    if (owner === undefined || !ended || this.#followed.has(ended)) return;
    const end = () => {
      this.#followed.delete(ended);
      for (const [key, client] of this.#clients) if (client.owner === owner) this.#end(key, client);
      for (const [key, tasks] of this.#tasks) {
        if (!key.startsWith(clientsOf(owner))) continue;
        tasks[Symbol.dispose]();
        this.#tasks.delete(key);
      }
    };
    this.#followed.set(ended, onAbort(ended, end));
  }

  #tasksOf(key: string): Tasks {
    const maxWorking = maxOpenCalls(this.#limits);
    const { states } = this.#others.replicas ?? {};
    const tasks =
      this.#tasks.get(key) ??
      new Tasks({ keepMs: personMs, maxWorking, maxKept: 2 * maxWorking, owner: key, replica: states?.replica });
    this.#tasks.set(key, tasks);
    return tasks;
  }

  #end(key: string, client: Client): void {
    this.#clients.delete(key);
    const ending = client.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #tend(): void {
    const before = performance.now() - this.#limits.idleMs;
    for (const [key, client] of this.#clients) {
      if (client.isInUse) client.usedAt = performance.now();
      else if (client.usedAt < before) this.#end(key, client);
    }
    for (const [key, tasks] of this.#tasks) if (tasks.size === 0 && !this.#clients.has(key)) this.#tasks.delete(key);
  }
}

function listenerOf(bus: ServerEventBus): ChangeListener {
  return {
    listChanged: (what) => bus.publish({ kind: `${what}_list_changed` }),
    resourceUpdated: (uri) => bus.publish({ kind: "resource_updated", uri }),
  };
}

/** The capabilities that servers learn. Everything else is dropped, so that few combinations exist. */
function usableCapabilities({ sampling, elicitation, roots }: ClientCapabilities): ClientCapabilities {
  const given = <T>(value: unknown, usable: T) => (value === undefined ? {} : usable);
  return {
    ...given(sampling, { sampling: given(sampling?.tools, { tools: {} }) }),
    ...given(elicitation, {
      elicitation: { ...given(elicitation?.form, { form: {} }), ...given(elicitation?.url, { url: {} }) },
    }),
    ...given(roots, { roots: {} }),
  };
}

/** The name that a client gives itself. It only keeps clients apart: the token decides who may call. */
function nameIn(body: unknown): string {
  const info = metaIn(body)[CLIENT_INFO_META_KEY];
  return isObject(info) ? String(info["name"]) : "";
}

/** Open calls of one client, including parked ones, which keep their memory. */
function maxOpenCalls({ maxCalls, maxRequests }: ModernLimits): number {
  return Math.min(4 * maxCalls, maxRequests);
}

/** One program that sends requests, as far as programs can be distinguished. */
class Client implements ModernClient, ClientPlace {
  readonly parked: ParkedRequests;
  readonly tasks: Tasks;
  readonly owner: string | undefined;
  readonly address: string;
  readonly client: string;
  /** Aborted when claudikins ends, and when the token is no longer valid. */
  readonly closing: AbortSignal;
  /** The time of its last request. */
  usedAt = performance.now();
  #subscriptions = 0;
  /** Number of requests without a response yet. */
  #answering = 0;
  readonly #shared: Shared;
  readonly #asker: RequestingAgent;
  readonly #ended: AbortSignal | undefined;
  /** Whose request came last. */
  #sender: Caller;
  readonly #handler: McpHttpHandler;
  /** By what the host supports: servers learn it when they are connected. */
  readonly #connections = new Map<string, Connections>();
  #session: CodeSession | undefined;
  readonly #listened: ListenedResources | undefined;

  constructor(
    shared: Shared,
    tasks: Tasks,
    caller: Caller,
    { client, isConnected }: Pick<ClientPlace, "client"> & Pick<RequestingAgent, "isConnected">,
  ) {
    const { limits, bus, log, serverFor, states } = shared;
    const { owner, address, ended, revoked } = caller;
    const { answerMs = personMs, maxCalls, maxRequests } = limits;
    this.#shared = shared;
    this.tasks = tasks;
    this.owner = owner;
    this.#ended = ended;
    this.#sender = caller;
    this.address = address;
    this.client = client;
    this.closing = ended ? AbortSignal.any([shared.closing, ended]) : shared.closing;
    this.#asker = { starter: { owner, client }, isConnected, ended: revoked };
    const { closing } = this;
    this.#listened = shared.answers && new ListenedResources(shared.answers, log);
    this.parked = new ParkedRequests({
      answerMs,
      maxRunning: maxCalls,
      maxOpen: maxOpenCalls(limits),
      closing,
      states,
    });
    const serverOf = ({ requestInfo }: McpRequestContext) =>
      serverFor(this, requestInfo?.headers.get("mcp-method") ?? "");
    this.#handler = createMcpHandler(serverOf, {
      legacy: "reject",
      bus,
      maxSubscriptions: maxRequests,
      onerror: (error) => log.debug(messageOf(error)),
    });
  }

  /** A request that waits for an answer of its host works as well: its program continues where it waits. */
  get isWorking(): boolean {
    return this.#answering + this.parked.size + this.tasks.working > 0;
  }

  get isInUse(): boolean {
    return this.#subscriptions > 0 || this.isWorking;
  }

  /** The client's session in code mode, which knows what the client has been told. */
  session(surface: Surface): CodeSession {
    this.#session ??= new CodeSession(this.#shared.app, surface, this.#asker);
    return this.#session;
  }

  connections(capabilities: ClientCapabilities): Connections {
    const usable = usableCapabilities(capabilities);
    const key = JSON.stringify(usable);
    const known = this.#connections.get(key) ?? this.#connect(usable);
    this.#connections.set(key, known);
    return known;
  }

  #connect(capabilities: ClientCapabilities): Connections {
    const { app: shared, answers, hasPrivateServers: hasPrivate } = this.#shared;
    const host = new ModernHost(capabilities, this.closing, () => this.#sender);
    const canBeAsked = Object.keys(capabilities).length > 0;
    const app = appFor(shared, { canBeAsked, isDirect: answers !== undefined, hasPrivate }, crypto.randomUUID());
    if (canBeAsked) app.pool.setHost({ responder: host });
    if (answers) app.pool.onListChanged((_, what) => answers.listChanged(what));
    return { app, host };
  }

  async answer(request: Request, body: unknown, sender: Caller): Promise<Response> {
    this.usedAt = performance.now();
    this.#sender = sender;
    const { resources, taskIds } = listenedTo(body) ?? {};
    const refused = taskIds && refusal(body);
    if (refused) return Response.json(refused, { status: 400 });
    this.#answering += 1;
    const answering = patientResponse(this.#fetch(request, body, sender));
    const response = await answering.finally(() => {
      this.#answering -= 1;
    });
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (!resources || !isStream) return response;
    const { signal } = request;
    const { closing } = this;
    this.#listen(resources, AbortSignal.any([signal, closing]));
    if (!taskIds) return response;
    return streamWithTasks(response, { id: Object(body).id, tasks: this.tasks, taskIds, signal, closing });
  }

  /** The answer. A request that ends with its token is refused as the next one will be. */
  async #fetch(request: Request, body: unknown, sender: Caller): Promise<Response> {
    // Each answer of the host belongs to the token that it came with.
    const authInfo = { token: "", clientId: "", scopes: [], extra: { sender } };
    const response = await this.#handler.fetch(request, { parsedBody: body, authInfo });
    const { id = null } = Object(body) as { id?: RequestId };
    if (response.body !== null) return this.#answeredAtLast(response, id);
    if (this.#ended?.aborted) return endedToken().response(id);
    if (response.status !== closedInRequest || request.signal.aborted) return response;
    return lostAnswer("claudikins ended while it worked on this request").response(id);
  }

  /** A stream that is ended before its answer has come ends with an error. */
  #answeredAtLast(response: Response, id: RequestId | null): Response {
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (!isStream || id === null) return response;
    const why = () => (this.#ended?.aborted ? accessEnded : this.closing.aborted ? serverEnded : undefined);
    return new Response(withForcedEnd(response.body as never, { ids: () => [id], why }) as never, response);
  }

  /** Keeps the client while it listens. */
  #listen(resources: readonly string[], signal: AbortSignal): void {
    this.#subscriptions += 1;
    const end = this.#listened?.begin(resources);
    onAbort(signal, () => {
      this.#subscriptions -= 1;
      end?.();
    });
  }

  async close(): Promise<void> {
    await this.#handler.close();
    const own = [...this.#connections.values()].filter(({ app }) => app !== this.#shared.app);
    await Promise.all(own.map(({ app }) => app[Symbol.asyncDispose]()));
  }
}

/** Answers a slow request with a stream of events, which is kept alive so that no proxy or client gives up. */
interface Times {
  /** The time that a result may take before a stream is opened. Until then, an error can still set the status. */
  quickMs: number;
  /** The time between two signs of life. It must be shorter than the idle times of the HTTP server and of proxies. */
  aliveMs: number;
}

const usualTimes: Times = { quickMs: 1_000, aliveMs: 10_000 };

/** Resolves with the response if it comes soon, and otherwise with a stream that ends with what it says. */
export async function patientResponse(
  answering: Promise<Response>,
  { quickMs, aliveMs } = usualTimes,
): Promise<Response> {
  const response = await within(quickMs, answering);
  return response ?? new Response(ReadableStream.from(events(answering, aliveMs)), { headers: eventStreamHeaders });
}

async function* events(answering: Promise<Response>, aliveMs: number): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (;;) {
    yield encoder.encode(keepAlive);
    const response = await within(aliveMs, answering);
    if (!response) continue;
    const isStream = response.headers.get("content-type") === eventStreamHeaders["content-type"];
    if (!isStream) yield encoder.encode(messageEvent(await response.text()));
    else if (response.body) yield* response.body;
    return;
  }
}

/** Undefined if the response does not come in this time. */
async function within(ms: number, answering: Promise<Response>): Promise<Response | undefined> {
  let response: Response | undefined;
  const done = answering.then((each) => {
    response = each;
  });
  await atMost(ms, done);
  return response;
}

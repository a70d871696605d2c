/** The connections to all servers, opened when they are needed and shared by all callers. */

import { ClaudikinsError } from "../base/errors.ts";
import type { JsonObject } from "../base/json-object.ts";
import type { ServerConfig } from "../config/load.ts";
import type { Label } from "../config/policy.ts";
import type { Call } from "../policy/call.ts";
import type { LabelReason } from "../policy/flow/label-rules.ts";
import type { SessionReads } from "../policy/flow/session-reads.ts";
import { inquiryOf, kindOf, type Method } from "../policy/outgoing.ts";
import type { Connection, ServerCapability } from "./connection/connect.ts";
import type { Lifecycle } from "./connection/lifecycle.ts";
import { CodeSignIns, PageSignIns, PersonSignIns } from "./connection/person-sign-in.ts";
import type { Request } from "./connection/send-request.ts";
import type { ServerIdentity } from "./connection/server-client.ts";
import { type ConnectionOptions, type Host, ServerConnections } from "./connection/server-connections.ts";
import { type ListListener, type LogListener, ServerNews } from "./connection/server-news.ts";
import type { UpdateListener } from "./connection/subscriptions.ts";
import { type Fault, faultOf, refusedCalls } from "./failures/fault.ts";
import type { ToolsListing } from "./lists/definitions.ts";
import { type ListingNotes, ServerLists } from "./lists/server-lists.ts";
import { PoolPolicy, type PoolPolicyOptions } from "./pool-policy.ts";
import type { ListedTool, ToolResult } from "./result.ts";
import type { ServerState } from "./state.ts";
import { type CallParams, ToolCalls } from "./tool-calls.ts";
import { redactTexts } from "./values/secrets.ts";

export interface PoolOptions extends ConnectionOptions, PoolPolicyOptions {
  /** Whether the agent is the user's own, and may be asked to sign the user in to a server. */
  asksToSignIn?: boolean | undefined;
}

export class Pool implements AsyncDisposable {
  readonly servers: ReadonlyMap<string, ServerConfig>;
  #host: Host;
  readonly #signIns: PersonSignIns | undefined;
  readonly #connections: ServerConnections;
  readonly #news: ServerNews;
  readonly #policy: PoolPolicy;
  readonly #lists: ServerLists;
  readonly #calls: ToolCalls;
  readonly #callListeners = new Set<(server: string) => void>();

  constructor(servers: ReadonlyMap<string, ServerConfig>, options: PoolOptions) {
    const { own, person, log, stored } = options;
    this.servers = servers;
    this.#host = { responder: person };
    const way = own ? new PageSignIns(own) : codeSignIns(options);
    this.#signIns = way && new PersonSignIns({ servers, way, responder: () => this.#host.responder });
    const toolsChanged = (server: string) => this.#policy.definitions.changed(server);
    this.#news = new ServerNews({ servers, connections: () => this.#connections, log, toolsChanged });
    const host = () => this.#host;
    const answering = () => ({ ...this.#host, responder: this.#policy.answering(this.#host.responder) });
    const connections = new ServerConnections(servers, options, answering, this.#news);
    this.#connections = connections;
    const list = (server: string) => this.#lists.toolsForPermit(server);
    const policy = new PoolPolicy({ servers, connections, stored, host, list }, options);
    this.#policy = policy;
    const listed = new WeakSet<Connection>();
    const refuse: PoolPolicy["permit"]["refuseMessage"] = (server, request) =>
      policy.permit.refuseMessage(server, request);
    this.#lists = new ServerLists({ servers, connections, log, listed, refuse });
    const unlistedCall = (server: string) => {
      for (const listener of this.#callListeners) listener(server);
    };
    this.#calls = new ToolCalls({ servers, connections, policy, stored, listed, unlistedCall });
  }

  /** The agent that the servers are connected for. */
  get host(): Host {
    return this.#host;
  }

  /** Call this when the agent has introduced itself. It applies to servers that are connected later. */
  setHost(host: Host): void {
    this.#host = { ...this.#host, ...host };
  }

  /** Call this after entries of `servers` were added, changed or removed. Running calls finish on their old connection. */
  replaced(names: readonly string[]): void {
    this.#connections.replaced(names);
    for (const name of names) this.#news.moveSubscriptions(name);
  }

  /** The data that the agent of the connection has read. */
  get reads(): SessionReads {
    return this.#policy.ownCaller.reads;
  }

  /** Whether the config or the server catalog says that a tool is private, by its own name. */
  isSaidPrivate(server: string, tool: string): boolean {
    return this.#policy.labels.isSaidPrivate(server, tool);
  }

  /** The labels of a tool's data, by its own name. Without a tool, those of the whole server. */
  labelsOf(server: string, tool: string | undefined): ReadonlySet<Label> {
    const { labels } = this.#policy;
    return tool === undefined ? labels.ofAll(server) : labels.of(server, tool);
  }

  /** The labels of a tool with their reasons, by its own name. Reads the server catalog if it has to. */
  explainLabels(server: string, tool: string): Promise<LabelReason[]> {
    return this.#policy.labels.explain(server, tool);
  }

  /** Whether a person is being asked whether a tool may be called. */
  get isAsking(): boolean {
    return this.#policy.isAsking;
  }

  /** The server's state. Starts nothing. Throws SERVER_NOT_FOUND. */
  state(name: string): ServerState {
    const { state } = this.#connections.of(name);
    const refused = this.#calls.refusals.of(name);
    return state.state === "ready" && refused > 0 ? { ...state, refused } : state;
  }

  /** The state, and for a server that is not started why it could not be connected last, by this or another process. */
  stateOrFailure(name: string): ServerState {
    const state = this.state(name);
    return (state.state === "idle" && this.#connections.lastFailure(this.servers.get(name)!)) || state;
  }

  /**
   * Why a server cannot be used now. If it was not started yet, the reason that can be seen without starting it, or why it could not be
   * connected last. Throws SERVER_NOT_FOUND.
   */
  fault(name: string): Fault | undefined {
    const state = this.state(name);
    const refused = this.#calls.refusals.before(name);
    const past = (fault: Fault) => ({ ...fault, lasting: false, isPast: true, missing: undefined });
    if (state.state !== "idle") return faultOf(state) ?? (refused > 0 ? past(refusedCalls(refused)) : undefined);
    const foreseen = this.#connections.foreseenFailure(name);
    if (foreseen) {
      const { why, hint, missing } = foreseen;
      return { why: `cannot start: ${why}`, remedy: hint, lasting: true, isPast: false, missing };
    }
    const before = this.#connections.lastFailure(this.servers.get(name)!);
    const fault = (before && faultOf(before)) ?? (refused > 0 ? refusedCalls(refused) : undefined);
    // Its cause may be gone.
    return fault && past(fault);
  }

  /** The states of all servers, in the order of the config. */
  states(): Map<string, ServerState> {
    return new Map(this.#connections.names.map((name) => [name, this.state(name)]));
  }

  /** How busy the servers are. */
  loads(): Map<string, { isConnected: boolean; queued: number }> {
    const of = ({ state: { state }, queued }: Lifecycle) => ({ isConnected: state === "ready", queued });
    return new Map(this.#connections.names.map((name) => [name, of(this.#connections.of(name))]));
  }

  /**
   * All tools of a server as it lists them, without the edits of the config. Throws SERVER_NOT_FOUND, NEEDS_VARIABLE,
   * SERVER_UNAVAILABLE, PROTOCOL_ERROR.
   */
  listTools(server: string, call: Call = {}, notes: ListingNotes = {}): Promise<ListedTool[]> {
    return this.#lists.tools(server, call, notes);
  }

  /** Begins a listing whose tools will be compared with the accepted definitions. */
  listingOf(server: string): ToolsListing {
    return this.#policy.verified.listing(server);
  }

  /** All resources, unchanged. Throws the errors of `listTools`. */
  listResources(server: string, call: Call = {}): Promise<JsonObject[]> {
    return this.#lists.entries(server, "resources/list", "resources", call);
  }

  /** All resource templates. Throws the errors of `listTools`. */
  listResourceTemplates(server: string, call: Call = {}): Promise<JsonObject[]> {
    return this.#lists.entries(server, "resources/templates/list", "resourceTemplates", call);
  }

  /** All prompts. Throws the errors of `listTools`. */
  listPrompts(server: string, call: Call = {}): Promise<JsonObject[]> {
    return this.#lists.entries(server, "prompts/list", "prompts", call);
  }

  /** The entries of all skills, unchanged. Throws the errors of `listTools`. */
  listSkills(server: string, call: Call = {}): Promise<JsonObject[]> {
    return this.#lists.entries(server, "skills/list", "skills", call);
  }

  /** The server's result of `resources/read`. Throws PROTOCOL_ERROR if there is no such resource. */
  readResource(server: string, uri: string, call: Call = {}): Promise<JsonObject> {
    const what = `${server}: the resource ${uri}`;
    return this.#inquire(server, { method: "resources/read", params: { uri } }, call, { what, offer: "resources" });
  }

  /** The server's result of `prompts/get`. Throws PROTOCOL_ERROR if there is no such prompt. */
  getPrompt(server: string, name: string, args: object, call: Call = {}): Promise<JsonObject> {
    const what = `${server}: the prompt ${name}`;
    const params = { name, arguments: args };
    return this.#inquire(server, { method: "prompts/get", params }, call, { what, offer: "prompts" });
  }

  /**
   * Sends any request, and returns the server's result. A call names its tool as agents do. Throws the errors of `listTools`, and
   * POLICY_DENIED.
   */
  async request(server: string, request: Request, call: Call = {}): Promise<JsonObject> {
    const { method, params } = request;
    if (method === "tools/call") {
      const name = String(params["name"]);
      return this.#send(server, { ...params, name, arguments: Object(params["arguments"]) }, call);
    }
    const what = `${method} of ${server}`;
    this.refuseRequest(server, request);
    if (kindOf(method) === "inquiry") return this.#inquire(server, request, call, { what });
    return this.#connections.use(server, what, call, (send) => send(request));
  }

  /** Sends a request with a text that an agent or a program has chosen. With `offer`, throws PROTOCOL_ERROR if the server has not announced it. */
  #inquire(
    server: string,
    request: Request,
    call: Call,
    { what, offer }: { what: string; offer?: ServerCapability },
  ): Promise<JsonObject> {
    const { _meta: _, ...args } = request.params;
    const outgoing = inquiryOf(server, request.method as Method, args);
    return this.#policy.permit.send(outgoing, call, (permission) =>
      this.#connections.use(server, what, call, async (send, connection) => {
        if (permission && permission.connection !== connection) return undefined;
        if (offer === undefined || connection.offers(offer)) return send(request);
        throw new ClaudikinsError("PROTOCOL_ERROR", `Server "${server}" has no ${offer}`, {
          hint: `Use its tools instead: it announced no ${offer}.`,
        });
      }),
    );
  }

  /**
   * Runs the work. If it fails because a person must sign in to the server, the person is asked where that is possible, and the work runs
   * once more. Throws what the work throws.
   */
  signedIn<T>(server: string, work: () => Promise<T>, call: Call): Promise<T> {
    return this.#signIns?.concerns(server) ? this.#signIns.during(server, work, call) : work();
  }

  /** Whether the server announced the capability. Undefined if it was never connected. */
  offers(server: string, what: ServerCapability): boolean | undefined {
    return this.#connections.last(server)?.offers(what);
  }

  /** The server, as it described itself at the start of its last connection. Undefined if it was never connected. */
  identity(server: string): ServerIdentity | undefined {
    const identity = this.#connections.last(server)?.identity;
    return identity && redactTexts(identity, this.#connections.redactor(server));
  }

  /** Whether the server said, when it was last connected, that it announces changes of its tools. */
  announcesTools(server: string): boolean {
    return this.#connections.last(server)?.announcesTools === true;
  }

  /** A copy of the value in which the secrets of the server's entry are replaced. */
  redacted<T>(server: string, value: T): T {
    return redactTexts(value, this.#connections.redactor(server));
  }

  /** Throws POLICY_DENIED if the config denies a request that another component is about to send, with the tool's own name. */
  refuseRequest(server: string, request: { method: string; params?: unknown }): void {
    this.#policy.permit.refuseMessage(server, request);
  }

  /** Throws POLICY_DENIED if the config denies the tool, which is named as agents name it. */
  refuseDenied(server: string, tool: string): void {
    this.#policy.permit.refuse(this.#calls.asked(server, tool, {}));
  }

  /**
   * Why a person would be asked about a call, or about another request, whose tool is `resources.read` or the like; undefined if nobody would.
   * `annotations` are the tool's. Throws what `callTool` throws before it asks anybody.
   */
  async wouldAsk(
    { server, method, params }: { server: string } & Request,
    annotations: JsonObject | undefined,
    call: Call = {},
  ): Promise<string | undefined> {
    const request =
      method === "tools/call"
        ? this.#calls.asked(server, String(params["name"]), Object(params["arguments"]))
        : inquiryOf(server, method as Method, params);
    return this.#policy.permit.wouldAsk(request, annotations, call);
  }

  /**
   * Calls a tool if the config, and if necessary a person, allows it. Every tool call goes through here. The tool and its arguments are those
   * that agents see. Returns the server's result, which may have `isError`. Throws if there is no result, POLICY_DENIED and TOOL_NOT_FOUND,
   * and INVALID_ARGUMENTS if an argument is passed that agents do not see.
   */
  callTool(server: string, tool: string, args: object | undefined, call: Call = {}): Promise<ToolResult> {
    const params = { name: tool, arguments: args, ...(call.meta ? { _meta: call.meta } : {}) };
    return this.#send(server, params, call);
  }

  #send(server: string, params: CallParams, call: Call): Promise<ToolResult> {
    return this.signedIn(server, () => this.#calls.call(server, params, call), call);
  }

  /**
   * Calls the listener when the server announces that the resource, or one below it, has changed, and after a lost
   * connection, because it may have changed meanwhile. The connection is kept, and reopened if it is lost, until the
   * returned function is called. Throws the errors of `readResource`.
   */
  async subscribe(server: string, uri: string, listener: UpdateListener, call: Call = {}) {
    const request = inquiryOf(server, "resources/subscribe", { uri });
    const { end } = await this.#policy.permit.send(request, call, async (permission) => {
      if (permission && permission.connection !== this.#connections.last(server)) return undefined;
      return { end: await this.#news.subscribe(server, uri, listener, call.signal) };
    });
    return end;
  }

  /** Keeps a server connected that is connected, until the returned function is called. Throws SERVER_NOT_FOUND. */
  keepConnected(server: string): () => void {
    return this.#connections.of(server).keep();
  }

  /** Calls the listener when a list of a server has changed. Returns a function that ends this. */
  onListChanged(listener: ListListener): () => void {
    return this.#news.onListChanged(listener);
  }

  /** Calls the listener once for each connection that has answered a call before its tools were listed. */
  onUnlistedCall(listener: (server: string) => void): void {
    this.#callListeners.add(listener);
  }

  /** Calls the listener with log messages of servers. Returns a function that ends this. */
  onLog(listener: LogListener): () => void {
    return this.#news.onLog(listener);
  }

  /** Sets the log level of all servers that have a log, now and when they are connected later. Never rejects. */
  setLogLevel(level: string): Promise<void> {
    return this.#news.setLogLevel(level);
  }

  /** Ends the server if it is not in use. The next call starts it again. Resolves when its process has ended. */
  async release(server: string): Promise<void> {
    await this.#connections.of(server).release();
  }

  /** Tells the connected servers that the agent's roots have changed. */
  rootsChanged(): void {
    for (const life of this.#connections.all) void life.connection?.then((each) => each.rootsChanged()).catch(() => {});
  }

  /** Ends all servers, including those that are still starting. The pool cannot be used afterwards. */
  async close(): Promise<void> {
    this.#news.close();
    await this.#connections.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function codeSignIns({
  asksToSignIn,
  credentialsFile,
  env,
  ownEnv = env,
  sealing,
}: PoolOptions): CodeSignIns | undefined {
  if (!asksToSignIn || credentialsFile === undefined) return undefined;
  const store = async () => {
    const { signInStore } = await import("./auth/sign-in-store.ts");
    return signInStore(credentialsFile, { env: ownEnv, sealing: sealing?.() });
  };
  return new CodeSignIns({ store, env: ownEnv });
}

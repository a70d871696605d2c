/** The connections to all servers, opened when they are needed and shared by all callers. */
import { ClaudikinsError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json-object.ts";
import type { Log } from "../base/log.ts";
import { metaWith, type TraceContext } from "../base/trace-context.ts";
import { accountNote } from "../config/accounts.ts";
import { isInView } from "../config/doors.ts";
import type { ServerConfig } from "../config/load.ts";
import { calledTool, type ServerEdits, sentArguments, type ToolEdit } from "../config/tool-edits.ts";
import { closingLine } from "../policy/decision.ts";
import { type Caller, noAgent } from "../policy/flow/caller.ts";
import { SessionReads } from "../policy/flow/session-reads.ts";
import { type LabelPatterns, ToolLabels } from "../policy/flow/tool-labels.ts";
import { Gate, type QueueChoice, type ToolCall } from "../policy/gate.ts";
import type { Asker } from "../policy/questions.ts";
import type { UsageQuotas } from "../policy/quotas.ts";
import { shownId } from "../policy/refusals.ts";
import type { CallOptions, ListToolsOptions } from "./call-options.ts";
import type { Connection, ServerCapability } from "./connect.ts";
import { objectJson } from "./decoding/large-json.ts";
import { type Fault, faultOf } from "./fault.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { logLevelMs } from "./limits.ts";
import { boundedPage, ToolBudget } from "./list-bounds.ts";
import { allPages } from "./list-pages.ts";
import { type ListedTools, LiveDefinitions } from "./live-definitions.ts";
import { noteReads } from "./noted-reads.ts";
import type { ListName, Notice } from "./notices.ts";
import { PersonSignIns } from "./person-sign-in.ts";
import { AuthRefusals } from "./refusals.ts";
import type { Request } from "./request.ts";
import { askerOf, type Responder } from "./responder.ts";
import { type ListedTool, objectsOf, readTools, type ToolResult } from "./result.ts";
import { redactTexts } from "./secrets.ts";
import type { ServerIdentity } from "./server-client.ts";
import { type ConnectionOptions, type Host, ServerConnections, type StoredTool } from "./server-connections.ts";
import type { ServerState } from "./state.ts";
import { Subscriptions, type UpdateListener } from "./subscriptions.ts";
import { type DefinitionCheck, type ToolsListing, VerifiedDefinitions } from "./verified-definitions.ts";

/** Called when a list of a server has changed. */
type ListListener = (server: string, what: ListName) => void;

/** Called with a log message of a server: `level`, `data` and perhaps `logger`, unchecked. */
export type LogListener = (server: string, message: JsonObject) => void;

export interface PoolOptions extends ConnectionOptions {
  /** The user at the terminal, who answers what the policy and servers ask. */
  person?: (Asker & Responder) | undefined;
  /** Returns the queue of a question about a call. Without it, no call waits, and no answer is recorded. */
  queueFor?: QueueChoice | undefined;
  /** Keeps calls within the quotas of the config. */
  quotas?: UsageQuotas | undefined;
  /** The data that the agent of the connection has read. */
  reads?: SessionReads | undefined;
  /** The labels that the server catalog gives the tools of a server. */
  catalogLabels?: ((server: ServerConfig) => Promise<LabelPatterns | undefined>) | undefined;
  /** A tool whose description seems to talk to the agent. */
  suspiciousTool?: (() => string | undefined) | undefined;
  /** The door and the person that the connections are for. */
  place?: { door: string; person: string } | undefined;
  /** Whether a tool is held because its definition changed. Undefined: none is. */
  definitions?: DefinitionCheck | undefined;
}

/** The params of `tools/call`. */
interface CallParams {
  [key: string]: unknown;
  name: string;
  arguments?: object | undefined;
}

type CalledTool = Omit<ToolCall, "args">;

export class Pool implements AsyncDisposable {
  readonly servers: ReadonlyMap<string, ServerConfig>;
  readonly #person: (Asker & Responder) | undefined;
  #host: Host;
  /** Questions that a person is asked now. */
  #asking = 0;
  readonly #refusals = new AuthRefusals();
  /** Given if the connections are for a person. */
  readonly #signIns: PersonSignIns | undefined;
  readonly #gate: Gate;
  readonly #labels: ToolLabels<ServerConfig>;
  /** The data that the agent of the connection has read. */
  readonly reads: SessionReads;
  /** The names of arguments, by the properties of their schemas. Asked for with each call if there are rules. */
  readonly #namesIn = new WeakMap<object, string[]>();
  readonly #quotas: UsageQuotas | undefined;
  readonly #definitions: LiveDefinitions;
  readonly #log: Log;
  readonly #stored: PoolOptions["stored"];
  readonly #connections: ServerConnections;
  readonly #subscriptions = new Map<string, Subscriptions>();
  readonly #listListeners = new Set<ListListener>();
  /** Connections over which tools were listed, or whose listeners got the failure. */
  readonly #listed = new WeakSet<Connection>();
  readonly #verified: VerifiedDefinitions;
  readonly #callListeners = new Set<(server: string) => void>();
  readonly #logListeners = new Set<LogListener>();
  /** The log level of servers that are connected later. */
  #logLevel: string | undefined;

  constructor(
    servers: ReadonlyMap<string, ServerConfig>,
    {
      person,
      queueFor,
      quotas,
      definitions,
      reads = new SessionReads(),
      catalogLabels,
      suspiciousTool = () => undefined,
      place,
      ...options
    }: PoolOptions,
  ) {
    this.servers = servers;
    this.#log = options.log;
    this.#stored = options.stored;
    this.#person = person;
    this.#quotas = quotas;
    this.#host = { responder: person };
    const { own } = options;
    this.#signIns = own && new PersonSignIns({ servers, own, responder: () => this.#host.responder });
    this.#connections = new ServerConnections(servers, options, () => this.#host, {
      connected: (server, connection) => {
        void this.#tellLogLevel(connection);
        this.#subscriptions.get(server)?.connected(connection);
      },
      lost: (server) => this.#subscriptions.get(server)?.lost(),
      notice: (server, notice) => this.#notice(server, notice),
    });
    this.reads = reads;
    this.#labels = new ToolLabels({
      servers,
      fromCatalog: catalogLabels,
      annotationsOf: (server, tool) => this.#lastListed(server, tool)?.annotations,
    });
    this.#gate = new Gate({
      policyOf: (server) => servers.get(server)?.policy,
      exists: (server, tool) => isInView(servers.get(server)?.view, tool),
      whyHeld: (server, tool) => this.#verified.whyHeld(server, tool),
      accountOf: (server) => accountNote(server, servers),
      asker: () => this.#currentAsker(),
      definition: (server, tool, asked) => this.#definitions.of(server, tool, asked),
      queueFor,
      labels: this.#labels,
      argumentNames: (server, tool) => this.#argumentNames(server, tool),
      suspiciousTool,
      place: place ?? { door: "", person: "" },
      caller: () => this.#ownCaller,
    });
    this.#definitions = new LiveDefinitions({
      entries: servers,
      list: (server) => this.#listForGate(server),
      connection: (server) => this.#connections.last(server),
    });
    this.#verified = new VerifiedDefinitions({
      accepted: definitions,
      lastConnection: (server) => this.#connections.last(server),
      changesOf: (server) => this.#definitions.changesOf(server),
    });
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
    for (const name of names) this.#moveSubscriptions(name);
  }

  /** Listeners stay, unless the server is gone or its resources are denied now. */
  #moveSubscriptions(name: string): void {
    const subscriptions = this.#subscriptions.get(name);
    if (!subscriptions) return;
    const server = this.servers.get(name);
    if (server && !(server.policy && closingLine(server.policy))) {
      subscriptions.moveTo(server, this.#connections.of(name));
      return;
    }
    subscriptions.close();
    this.#subscriptions.delete(name);
  }

  get #ownCaller(): Caller {
    return { reads: this.reads, agent: noAgent };
  }

  /** A tool by its own name, as it was last listed. */
  #lastListed(server: string, tool: string): StoredTool | undefined {
    const tools = this.#stored?.(server)?.tools;
    const edits = this.servers.get(server)?.edits;
    return tools?.find(({ name }) => (edits ? calledTool(edits, name, tools)?.tool : name) === tool);
  }

  /** Undefined if a call may have others, or if agents see an edited schema. */
  #argumentNames(server: string, tool: string): readonly string[] | undefined {
    const { inputSchema, edit } = this.#lastListed(server, tool) ?? {};
    const properties = inputSchema?.["properties"];
    if (!isObject(properties) || edit !== undefined) return undefined;
    return this.#namesIn.getOrInsertComputed(properties, () => Object.keys(properties));
  }

  /** Whether a person is being asked whether a tool may be called. */
  get isAsking(): boolean {
    return this.#asking > 0;
  }

  #currentAsker(): Asker | undefined {
    const { responder, mayApprove } = this.#host;
    const asker = this.#person ?? (mayApprove?.() === false ? undefined : askerOf(responder));
    if (!asker) return undefined;
    return {
      ask: async (...asked) => {
        this.#asking += 1;
        try {
          return await asker.ask(...asked);
        } finally {
          this.#asking -= 1;
        }
      },
    };
  }

  /** The server's state. Starts nothing. Throws SERVER_NOT_FOUND. */
  state(name: string): ServerState {
    const { state } = this.#connections.of(name);
    const refused = this.#refusals.of(name);
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
    if (state.state !== "idle") return faultOf(state);
    const foreseen = this.#connections.foreseenFailure(name);
    if (foreseen) {
      const { why, hint, missing } = foreseen;
      return { why: `cannot start: ${why}`, remedy: hint, lasting: true, isPast: false, missing };
    }
    const before = this.#connections.lastFailure(this.servers.get(name)!);
    const fault = before && faultOf(before);
    // Its cause may be gone.
    return fault && { ...fault, lasting: false, isPast: true, missing: undefined };
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
  async listTools(server: string, { onConnection, ...options }: ListToolsOptions = {}): Promise<ListedTool[]> {
    const { tools, budget } = await this.#tools(server, options, (connection) => {
      this.#listed.add(connection);
      onConnection?.(connection);
    });
    if (budget.isFull || budget.left > 0) this.#log.warn(`${server}: ${budget.problem}`);
    // Definitions are written to files. Names stay unchanged, or the tools could not be called.
    const redact = this.#connections.redactor(server);
    return tools.map((tool) => ({ ...redactTexts(tool, redact), name: tool.name }));
  }

  /** Begins a listing whose tools will be compared with the accepted definitions. */
  listingOf(server: string): ToolsListing {
    return this.#verified.listing(server);
  }

  /** All resources, unchanged. Throws the errors of `listTools`. */
  listResources(server: string, options: CallOptions = {}): Promise<JsonObject[]> {
    return this.#entries(server, "resources/list", "resources", options);
  }

  /** All resource templates. Throws the errors of `listTools`. */
  listResourceTemplates(server: string, options: CallOptions = {}): Promise<JsonObject[]> {
    return this.#entries(server, "resources/templates/list", "resourceTemplates", options);
  }

  /** All prompts. Throws the errors of `listTools`. */
  listPrompts(server: string, options: CallOptions = {}): Promise<JsonObject[]> {
    return this.#entries(server, "prompts/list", "prompts", options);
  }

  /** The entries of all skills, unchanged. Throws the errors of `listTools`. */
  listSkills(server: string, options: CallOptions = {}): Promise<JsonObject[]> {
    return this.#entries(server, "skills/list", "skills", options);
  }

  #entries(server: string, method: string, key: string, options: CallOptions): Promise<JsonObject[]> {
    return this.#list(server, method, (page) => objectsOf(boundedPage(page)[key]), options);
  }

  /** The server's result of `resources/read`. Throws PROTOCOL_ERROR if there is no such resource. */
  async readResource(server: string, uri: string, options: CallOptions = {}): Promise<JsonObject> {
    const what = `${server}: the resource ${uri}`;
    return this.#offered(server, "resources", { method: "resources/read", params: { uri } }, what, options);
  }

  /** The server's result of `prompts/get`. Throws PROTOCOL_ERROR if there is no such prompt. */
  async getPrompt(server: string, name: string, args: object, options: CallOptions = {}): Promise<JsonObject> {
    const what = `${server}: the prompt ${name}`;
    const params = { name, arguments: args };
    return this.#offered(server, "prompts", { method: "prompts/get", params }, what, options);
  }

  /**
   * Sends any request, and returns the server's result. A call names its tool as agents do. Throws the errors of `listTools`, and
   * POLICY_DENIED.
   */
  async request(server: string, request: Request, options: CallOptions = {}): Promise<JsonObject> {
    const { method, params } = request;
    if (method === "tools/call") {
      const name = String(params["name"]);
      return this.#call(server, { ...params, name, arguments: Object(params["arguments"]) }, options);
    }
    this.#gate.refuseRequest(server, request);
    return this.#reading(server, options, () =>
      this.#use(server, `${request.method} of ${server}`, options, (send) => send(request)),
    );
  }

  /**
   * Runs the work. If it fails because a person must sign in to the server with the person's own account, the person is asked, and the work
   * runs once more. Throws what the work throws.
   */
  signedIn<T>(server: string, work: () => Promise<T>, options: CallOptions): Promise<T> {
    return this.#signIns?.concerns(server) ? this.#signIns.during(server, work, options) : work();
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

  /** A copy of the value in which the secrets of the server's entry are replaced. */
  redacted<T>(server: string, value: T): T {
    return redactTexts(value, this.#connections.redactor(server));
  }

  /** Throws POLICY_DENIED if the config denies a request that another component is about to send, with the tool's own name. */
  refuseRequest(server: string, request: { method: string; params?: unknown }): void {
    this.#gate.refuseRequest(server, request);
  }

  /** Throws POLICY_DENIED if the config denies the tool, which is named as agents name it. */
  refuseDenied(server: string, tool: string): void {
    const edits = this.servers.get(server)?.edits;
    this.#gate.refuseDenied(edits ? this.#called(server, tool, edits) : { server, tool });
  }

  /**
   * Why a person would be asked about a call; undefined if nobody would. `annotations` are those of the tool. Throws what `callTool` throws
   * before it asks anybody.
   */
  async wouldAsk(
    { server, tool, args }: { server: string; tool: string; args: object },
    annotations: JsonObject | undefined,
    caller: Caller = this.#ownCaller,
  ): Promise<string | undefined> {
    await this.#prepared(server, caller);
    const edits = this.servers.get(server)?.edits;
    if (!edits) return this.#gate.wouldAsk({ server, tool, args }, annotations, caller);
    const { edit, ...called } = this.#called(server, tool, edits);
    const sent = edit ? sentArguments(edit, args, `${server}.${tool}`) : args;
    return this.#gate.wouldAsk({ ...called, args: sent }, annotations, caller);
  }

  /** Resolves when the gate can decide about calls of the server. Undefined if it can now. */
  #prepared(server: string, { reads }: Caller): Promise<unknown> | undefined {
    const loading = this.#gate.prepare(server);
    const { pending } = reads;
    return loading && pending ? Promise.all([loading, pending]) : (loading ?? pending);
  }

  /**
   * Calls a tool if the config, and if necessary a person, allows it. Every tool call goes through here. The tool and its arguments are those
   * that agents see. Returns the server's result, which may have `isError`. Throws if there is no result, POLICY_DENIED and TOOL_NOT_FOUND,
   * and INVALID_ARGUMENTS if an argument is passed that agents do not see.
   */
  callTool(server: string, tool: string, args: object | undefined, options: CallOptions = {}): Promise<ToolResult> {
    const params = { name: tool, arguments: args, ...(options.meta ? { _meta: options.meta } : {}) };
    return this.#call(server, params, options);
  }

  /** Not async, like `#use`. */
  #call(server: string, params: CallParams, options: CallOptions): Promise<JsonObject> {
    return this.signedIn(server, () => this.#callSignedIn(server, params, options), options);
  }

  #callSignedIn(server: string, params: CallParams, options: CallOptions): Promise<JsonObject> {
    const edits = this.servers.get(server)?.edits;
    if (edits) return this.#callEdited(server, edits, params, options);
    return this.#callCounted({ server, tool: params.name }, params, options);
  }

  async #callEdited(server: string, edits: ServerEdits, params: CallParams, options: CallOptions): Promise<JsonObject> {
    const { name } = params;
    const { edit, ...called } = this.#called(server, name, edits);
    const args = edit ? sentArguments(edit, params.arguments ?? {}, `${server}.${name}`) : params.arguments;
    const redact = edit && ((sent: object) => this.redacted(server, sent));
    return this.#callCounted({ ...called, redact }, { ...params, name: called.tool, arguments: args }, options);
  }

  /** The tool that agents know by this name. Throws TOOL_NOT_FOUND if they know it by another. */
  #called(server: string, name: string, edits: ServerEdits): CalledTool & { edit: ToolEdit | undefined } {
    const found = calledTool(edits, name, this.#stored?.(server)?.tools);
    if (!found) throw new ClaudikinsError("TOOL_NOT_FOUND", `${server} has no tool "${name}"`);
    return { server, ...found, shownAs: found.tool === name ? undefined : name };
  }

  /** Not async, like `#use`. */
  #callCounted(called: CalledTool, params: CallParams, options: CallOptions): Promise<JsonObject> {
    const { server } = called;
    if (!this.#quotas?.counts(server)) return this.#callPermitted(called, params, options);
    const counted = {
      server,
      execution: options.made?.execution,
      signal: options.signal,
      argumentBytes: () => Buffer.byteLength(JSON.stringify(params.arguments ?? {})),
      resultBytes: (result: JsonObject) => Buffer.byteLength(objectJson(result)),
    };
    return this.#quotas.call(counted, () => this.#callPermitted(called, params, options));
  }

  /** A permission counts only for its connection: a restarted server may be another program. */
  async #callPermitted(
    called: CalledTool,
    params: CallParams,
    options: CallOptions,
    attempts = 3,
  ): Promise<JsonObject> {
    const { server, tool } = called;
    const { caller = this.#ownCaller } = options;
    const isLocked = this.#verified.isLocked(server);
    const preparing = this.#prepared(server, caller);
    if (preparing) {
      this.#startMeanwhile(called, options);
      await preparing;
    }
    const verifying = isLocked ? this.#verified.verify(server, options.signal) : undefined;
    if (verifying) await verifying;
    const permission = this.#gate.permit({ ...called, args: params.arguments ?? {} }, { ...options, caller });
    const permitted = permission && (await permission);
    if (permitted && isLocked) {
      // The tool may have changed while a person was asked.
      await this.#verified.verify(server, options.signal);
      this.#gate.refuseDenied(called);
    }
    const using = this.#use<JsonObject | undefined>(server, shownId(called), options, async (send, connection) => {
      if (permitted && permitted.connection !== connection) return undefined;
      // The server was restarted. Its tools may be others now.
      if (isLocked && !this.#verified.isOver(server, connection)) return undefined;
      const noted = options.onSend?.(options.repeatable ?? false);
      if (noted) await noted;
      const sent = permitted && params.arguments ? { ...params, arguments: permitted.args } : params;
      const answer = send({ method: "tools/call", params: sent });
      return this.#listed.has(connection) ? answer : answer.then((each) => this.#unlisted(server, connection, each));
    });
    const labels = this.#labels.of(server, tool);
    const result = await (labels.size === 0 ? using : noteReads(using, { labels, source: shownId(called), caller }));
    if (result) {
      this.#refusals.see(server, result);
      return result;
    }
    if (attempts > 1) return this.#callPermitted(called, params, options, attempts - 1);
    const why = `${shownId(called)} was not called: its server keeps restarting`;
    throw new ClaudikinsError("SERVER_UNAVAILABLE", why);
  }

  /** Starts a server whose config has no rules, because nothing else can keep the call from it. */
  #startMeanwhile({ server }: CalledTool, options: CallOptions): void {
    if (!this.servers.get(server)?.policy) this.#use(server, server, options, async () => {}).catch(() => {});
  }

  #unlisted<T>(server: string, connection: Connection, result: T): T {
    if (!this.#listed.has(connection)) {
      this.#listed.add(connection);
      for (const listener of this.#callListeners) listener(server);
    }
    return result;
  }

  /**
   * Calls the listener when the server announces that the resource, or one below it, has changed, and after a lost
   * connection, because it may have changed meanwhile. The connection is kept, and reopened if it is lost, until the
   * returned function is called. Throws the errors of `readResource`.
   */
  async subscribe(server: string, uri: string, listener: UpdateListener, { signal }: CallOptions = {}) {
    this.#gate.permitOther(server, "resources");
    const life = this.#connections.of(server);
    let subscriptions = this.#subscriptions.get(server);
    if (!subscriptions) {
      subscriptions = new Subscriptions(this.servers.get(server)!, life, this.#log);
      this.#subscriptions.set(server, subscriptions);
    }
    return subscriptions.add(uri, listener, signal);
  }

  /** Calls the listener when a list of a server has changed. Returns a function that ends this. */
  onListChanged(listener: ListListener): () => void {
    this.#listListeners.add(listener);
    return () => void this.#listListeners.delete(listener);
  }

  /** Calls the listener once for each connection that has answered a call before its tools were listed. */
  onUnlistedCall(listener: (server: string) => void): void {
    this.#callListeners.add(listener);
  }

  /** Calls the listener with log messages of servers. Returns a function that ends this. */
  onLog(listener: LogListener): () => void {
    this.#logListeners.add(listener);
    return () => void this.#logListeners.delete(listener);
  }

  /** Sets the log level of all servers that have a log, now and when they are connected later. Never rejects. */
  async setLogLevel(level: string): Promise<void> {
    this.#logLevel = level;
    const ready = this.#connections.all.filter(({ state }) => state.state === "ready");
    await Promise.all(ready.map(async (life) => this.#tellLogLevel(await life.connection)));
  }

  /** Failures are ignored. */
  async #tellLogLevel(connection: Connection | undefined): Promise<void> {
    if (this.#logLevel === undefined || !connection?.offers("logging")) return;
    const request = { method: "logging/setLevel", params: { level: this.#logLevel } };
    await connection.request(request, { what: "logging/setLevel", timeoutMs: logLevelMs }).catch(() => {});
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
    for (const subscriptions of this.#subscriptions.values()) subscriptions.close();
    await this.#connections.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The tools for comparison with permissions. Does not count as a listing for the registry. */
  async #listForGate(server: string): Promise<ListedTools> {
    const connections = new Set<Connection>();
    const { tools } = await this.#tools(server, {}, (connection) => connections.add(connection));
    const [connection] = connections;
    return { tools, connection: connections.size === 1 ? connection : undefined };
  }

  async #tools(server: string, options: CallOptions, onConnection?: (connection: Connection) => void) {
    const budget = new ToolBudget();
    const view = this.servers.get(server)?.view;
    const read = (page: JsonObject) => budget.take(readTools(page, server)).filter(({ name }) => isInView(view, name));
    const asked = { ...options, isEnough: () => budget.isFull };
    return { tools: await this.#list(server, "tools/list", read, asked, onConnection), budget };
  }

  /** All pages of a list. Empty if the server does not have such a list. */
  async #list<T>(
    server: string,
    method: string,
    read: (page: JsonObject) => T[],
    { isEnough, ...options }: CallOptions & { isEnough?: () => boolean },
    onConnection?: (connection: Connection) => void,
  ): Promise<T[]> {
    const what = `${method} of ${server}`;
    const offer = method.split("/")[0] as ServerCapability;
    // Listing tools is always allowed, because the list is not shown.
    if (offer !== "tools") this.#gate.permitOther(server, offer);
    const ask = (params: JsonObject) =>
      this.#use(server, what, options, async (send, connection) => {
        onConnection?.(connection);
        return connection.offers(offer) ? send({ method, params }) : undefined;
      });
    return allPages({ server, method, ask, read, isEnough });
  }

  async #offered(server: string, offer: ServerCapability, request: Request, what: string, options: CallOptions) {
    this.#gate.permitOther(server, offer);
    const use = () =>
      this.#use(server, what, options, async (send, connection) => {
        if (connection.offers(offer)) return send(request);
        throw new ClaudikinsError("PROTOCOL_ERROR", `Server "${server}" has no ${offer}`, {
          hint: `Use its tools instead: it announced no ${offer}.`,
        });
      });
    return this.#reading(server, options, use);
  }

  /** Makes a request that is not of a tool. What it returns has the labels of all of the server. */
  async #reading<T extends JsonObject>(server: string, options: CallOptions, make: () => Promise<T>): Promise<T> {
    const { caller = this.#ownCaller } = options;
    const preparing = this.#prepared(server, caller);
    if (preparing) await preparing;
    const labels = this.#labels.ofAll(server);
    return labels.size === 0 ? make() : noteReads(make(), { labels, source: server, caller });
  }

  /** Not async, because each async function on the path of a call adds to its time. */
  #use<T>(
    server: string,
    what: string,
    options: CallOptions,
    work: (send: (request: Request) => Promise<JsonObject>, connection: Connection) => Promise<T>,
  ): Promise<T> {
    const timeoutMs = options.timeoutMs ?? this.servers.get(server)?.callTimeoutMs ?? 60_000;
    const asked = { ...options, what, timeoutMs };
    return this.#connections
      .of(server)
      .use(
        (connection) => work((request) => connection.request(inTrace(request, options.trace), asked), connection),
        asked,
      );
  }

  #notice(server: string, notice: Notice): void {
    if ("uri" in notice) this.#subscriptions.get(server)?.updated(notice.uri);
    else if ("message" in notice) {
      if (this.#logListeners.size === 0) return;
      const message = redactTexts(notice.message, this.#connections.redactor(server));
      for (const listener of this.#logListeners) listener(server, message);
    } else {
      if (notice.what === "tools") this.#definitions.changed(server);
      for (const listener of this.#listListeners) listener(server, notice.what);
    }
  }
}

function inTrace(request: Request, trace: TraceContext | undefined): Request {
  if (!trace) return request;
  const { _meta: meta } = request.params as { _meta?: JsonObject };
  return { ...request, params: { ...request.params, _meta: metaWith(meta, trace) } };
}

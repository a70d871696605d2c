/** Direct mode: answers an agent's requests from the servers' own tools, resources and prompts. */
import { LoggingLevelSchema } from "@modelcontextprotocol/core";
import { ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { App } from "../../app/app.ts";
import { messageOf, toClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { wholeOf } from "../../base/large-json.ts";
import { marksOf } from "../../servers/network/parameter-headers.ts";
import { textResult } from "../content/bounded-content.ts";
import type { HostRequest } from "../host-request.ts";
import { maxListenedResources } from "../limits.ts";
import { observedAnswer } from "../observed-answer.ts";
import type { SessionCount } from "../session-count.ts";
import { HostError, hostError, invalidParams, serverError, withoutOwnMeta } from "./answers.ts";
import { usablePrompt } from "./definitions.ts";
import { KnownLists } from "./known-lists.ts";
import { messageWith } from "./links.ts";
import { ExposedNames, type Original } from "./names.ts";
import { type ChangeListener, type HostLog, ListChanges, type What } from "./notices.ts";
import { type DirectCall, directCall, observedRequest } from "./observed-request.ts";
import { ProxiedResources } from "./resources.ts";
import { ProxiedTools } from "./tools.ts";

/** Entries of one page of a list. Many agents never ask for a second page, so a page is as large as a message may be. */
const directPageSize = 1_000;

/** One request of the agent, with what this mode adds. */
interface DirectRequest extends HostRequest {
  /** For the server of the request. */
  call: DirectCall;
  /** Where log messages go. */
  log: HostLog;
}

/** The extension for skills requires these fields, and only newer servers send them. */
const uncached = { ttlMs: 0, cacheScope: "private" };

export class DirectAnswers {
  readonly #app: App;
  /** Aborted when claudikins ends. */
  readonly #closing: AbortSignal;
  readonly #count: SessionCount;
  readonly #listener: ChangeListener;
  readonly #tools: ProxiedTools;
  readonly #prompts: ProxiedPrompts;
  readonly #resources: ProxiedResources;
  readonly #changes: ListChanges;
  /** The schemas with marked arguments, by the shown name of the tool. Undefined before they are needed. */
  #marked: ReadonlyMap<string, JsonObject> | undefined;
  /** The number of listeners for each resource. */
  readonly #listeners = new Map<string, number>();
  /** The resources that a session of an older revision has subscribed to. */
  readonly #subscribed = new Set<string>();
  /** The lists of the last requests for a first page, by method. */
  readonly #listed = new Map<string, readonly JsonObject[]>();

  /** Lists come over the connections of `app`. `listener` hears of changes. */
  constructor(app: App, count: SessionCount, listener: ChangeListener, closing: AbortSignal) {
    this.#app = app;
    this.#closing = closing;
    this.#count = count;
    this.#listener = listener;
    this.#changes = new ListChanges(listener);
    this.#tools = new ProxiedTools(app, () => this.#resources.shown());
    this.#prompts = new ProxiedPrompts(app, () => this.#changes.changed("prompts"));
    const changed = () => this.#changes.changed("resources");
    this.#resources = new ProxiedResources(app, changed, () => this.#tools.pages());
    this.#listenToServers();
  }

  /** Log messages about the request go to `log`. Throws a HostError, which has the fields of a JSON-RPC error. */
  async answer(request: HostRequest, log: HostLog): Promise<JsonObject> {
    using _ = this.#app.idleTimer.running();
    await this.#app.reload?.refresh();
    const answer = this.#answers.get(request.method);
    if (!answer) throw new HostError(ProtocolErrorCode.MethodNotFound, `Method not found: ${request.method}`);
    return await observedAnswer(request, request.app, this.#toolOf(request), async ({ trace }) =>
      withoutOwnMeta(await answer({ ...request, call: directCall(request, trace), log })),
    );
  }

  /** The tool that a call names, for telemetry. Undefined if there is none of that name. */
  #toolOf({ method, params, app: { telemetry } }: HostRequest): string | undefined {
    if (!telemetry || method !== "tools/call") return undefined;
    const found = this.#tools.definitions().find(({ name }) => name === params["name"]);
    return found && String(found["name"]);
  }

  /**
   * Subscribes to resources for a host of revision 2026-07-28. Returns a function that ends this. The SDK has confirmed the subscription
   * already, so a failure is only logged.
   */
  listen(uris: readonly string[]): () => void {
    const ended = new AbortController();
    const call = { app: this.#app, signal: AbortSignal.any([ended.signal, this.#closing]) };
    for (const uri of uris) void this.#subscribeFor(uri, call);
    return () => {
      ended.abort();
      for (const uri of uris) this.#unsubscribeFor(uri);
    };
  }

  async #subscribeFor(uri: string, call: DirectCall): Promise<void> {
    const count = this.#listeners.get(uri) ?? 0;
    this.#listeners.set(uri, count + 1);
    if (count > 0) return;
    try {
      await this.#resources.subscribe(uri, (updated) => this.#listener.resourceUpdated(updated), call);
      if (!this.#listeners.has(uri)) this.#resources.unsubscribe(uri);
    } catch (error) {
      if (!call.signal.aborted) this.#app.log.warn(`cannot subscribe to ${uri}: ${messageOf(error)}`);
    }
  }

  #unsubscribeFor(uri: string): void {
    const count = this.#listeners.get(uri) ?? 0;
    if (count > 1) this.#listeners.set(uri, count - 1);
    else {
      this.#listeners.delete(uri);
      this.#resources.unsubscribe(uri);
    }
  }

  /** A server has announced a change, perhaps over other connections. Changed tools are announced after they were listed. */
  listChanged(what: What): void {
    if (what !== "tools") this.#changes.changed(what);
  }

  #listenToServers(): void {
    const { pool, catalog, reload } = this.#app;
    pool.onListChanged((_, what) => this.listChanged(what));
    catalog.onChange(() => this.#toolsChanged());
    this.#app.onConfig(() => void this.#configChanged());
    // An agent that has the lists does not ask again by itself.
    reload?.watch();
  }

  #toolsChanged(): void {
    this.#marked = undefined;
    this.#changes.changed("tools", () => this.#tools.definitions());
  }

  /** The schema of a tool with arguments that are marked to be headers too. Undefined for other tools. */
  markedSchemaOf(tool: string): JsonObject | undefined {
    this.#marked ??= new Map(this.#tools.definitions().flatMap(markedSchema));
    return this.#marked.get(tool);
  }

  /** New servers are listed before the change is announced to the agent. */
  async #configChanged(): Promise<void> {
    await this.#tools.list(this.#closing).catch(() => {});
    this.#toolsChanged();
    this.#changes.changed("prompts");
    this.#changes.changed("resources");
  }

  readonly #answers = new Map<string, (asked: DirectRequest) => Promise<JsonObject>>([
    ["tools/list", (asked) => this.#listTools(asked)],
    ["tools/call", (asked) => this.#callTool(asked)],
    ["prompts/list", (asked) => this.#listPrompts(asked)],
    ["prompts/get", (asked) => this.#getPrompt(asked)],
    ["resources/list", (asked) => this.#listResources("resources", asked)],
    ["resources/templates/list", (asked) => this.#listResources("resourceTemplates", asked)],
    ["resources/read", (asked) => this.#readResource(asked)],
    ["skills/list", (asked) => this.#listSkills(asked)],
    ["skills/get", (asked) => this.#getSkill(asked)],
    ["resources/subscribe", (asked) => this.#subscribe(asked)],
    ["resources/unsubscribe", (asked) => this.#unsubscribe(asked)],
    ["completion/complete", (asked) => this.#complete(asked)],
    ["logging/setLevel", (asked) => this.#setLevel(asked)],
  ]);

  /** All pages of a list show the moment of the first request. `key` is the field of the list in the answer. */
  async #page(key: string, { method, params }: DirectRequest, list: () => Promise<JsonObject[]>): Promise<JsonObject> {
    const { cursor } = params;
    if (cursor === undefined) this.#listed.set(method, await list());
    const all = this.#listed.get(method) ?? [];
    const from = cursor === undefined ? 0 : Number(/^from (\d{1,9})$/.exec(String(cursor))?.[1]);
    if (cursor !== undefined && !(from > 0 && from < all.length)) {
      throw invalidParams("There is no such page: request the first one without a cursor");
    }
    const to = from + directPageSize;
    return { [key]: all.slice(from, to), ...(to < all.length ? { nextCursor: `from ${to}` } : {}) };
  }

  async #listTools(asked: DirectRequest): Promise<JsonObject> {
    const page = await this.#page("tools", asked, () => this.#tools.list(asked.call.signal));
    const definitions = this.#tools.definitions();
    this.#count.listed(definitions);
    this.#changes.shown("tools", definitions);
    asked.log.nameProblems("tools", this.#tools.problems);
    return page;
  }

  async #listPrompts(asked: DirectRequest): Promise<JsonObject> {
    const page = await this.#page("prompts", asked, () => this.#prompts.list(asked.call.signal));
    this.#changes.shown("prompts");
    asked.log.nameProblems("prompts", this.#prompts.lists.problems);
    return page;
  }

  async #listResources(key: "resources" | "resourceTemplates", asked: DirectRequest): Promise<JsonObject> {
    const page = await this.#page(key, asked, () => this.#resources.list(key, asked.call.signal));
    this.#changes.shown("resources");
    asked.log.nameProblems("resources", this.#resources.resources.problems);
    return page;
  }

  /** Changed skills are announced as changed resources. */
  async #listSkills(asked: DirectRequest): Promise<JsonObject> {
    const page = await this.#page("skills", asked, () => this.#resources.listSkills(asked.call.signal));
    this.#changes.shown("resources");
    asked.log.nameProblems("skills", this.#resources.skills.problems);
    return { ...uncached, ...page };
  }

  async #getSkill({ params, call }: DirectRequest): Promise<JsonObject> {
    const result = await this.#resources.getSkill(textOf(params, "uri"), withoutMeta(params), call);
    return { ...uncached, ...result };
  }

  async #callTool({ params, call, allowQuestions }: DirectRequest): Promise<JsonObject> {
    const original = await this.#tools.find(textOf(params, "name"), call.signal);
    const { server } = original;
    using _ = allowQuestions(server);
    const args = params["arguments"];
    if (args !== undefined && !isObject(args)) throw invalidParams("arguments must be an object");
    try {
      const result = await this.#tools.call(original, args, call);
      const content = wholeOf(result["content"]);
      const shown = this.#resources.shownBlocks(server, content);
      const known = shown === content ? result : { ...result, content: shown };
      return this.#resources.withShownPage(server, known);
    } catch (error) {
      const answered = serverError(error, server);
      if (answered) throw answered;
      // The model learns why the tool could not be called, and what to do. A program of the host can tell the cases apart by the code.
      const { code, text } = toClaudikinsError(error);
      return textResult(`${code}: ${text}`, true);
    }
  }

  async #getPrompt({ params, call, allowQuestions }: DirectRequest): Promise<JsonObject> {
    const original = await this.#prompts.find(textOf(params, "name"), call.signal);
    const { server } = original;
    using _ = allowQuestions(server);
    try {
      const prompt = await this.#prompts.get(original, withoutMeta(params), call);
      const messages = wholeOf(prompt["messages"]);
      if (!Array.isArray(messages)) return prompt;
      const shown = (blocks: unknown) => this.#resources.shownBlocks(server, blocks);
      return { ...prompt, messages: messages.map((message) => messageWith(message, shown)) };
    } catch (error) {
      throw hostError(error, server);
    }
  }

  async #readResource({ params, call, allowQuestions }: DirectRequest): Promise<JsonObject> {
    using _ = allowQuestions();
    return this.#resources.read(textOf(params, "uri"), withoutMeta(params), call);
  }

  async #subscribe({ params, call }: DirectRequest): Promise<JsonObject> {
    const tell = (uri: string) => this.#listener.resourceUpdated(uri);
    const uri = textOf(params, "uri");
    if (this.#subscribed.size >= maxListenedResources && !this.#subscribed.has(uri)) {
      const message = `A session may subscribe to ${maxListenedResources} resources. Unsubscribe from others first.`;
      throw invalidParams(message);
    }
    this.#subscribed.add(uri);
    try {
      await this.#resources.subscribe(uri, tell, call);
    } catch (error) {
      this.#subscribed.delete(uri);
      throw error;
    }
    return {};
  }

  async #unsubscribe({ params }: DirectRequest): Promise<JsonObject> {
    const uri = textOf(params, "uri");
    this.#subscribed.delete(uri);
    this.#resources.unsubscribe(uri);
    return {};
  }

  /** A server without completions has no values. We declare completions because some server may have them. */
  async #complete({ params, call }: DirectRequest): Promise<JsonObject> {
    const { ref, ...rest } = withoutMeta(params);
    const meant = isObject(ref) ? await this.#referenced(ref, call.signal) : undefined;
    if (!meant) throw invalidParams("ref must name an existing prompt or resource template");
    const { server } = meant;
    const { pool } = call.app;
    const nothing = { completion: { values: [] } };
    if (pool.offers(server, "completions") === false) return nothing;
    const request = { method: "completion/complete", params: { ref: meant.ref, ...rest } };
    try {
      return await pool.request(server, request, call);
    } catch (error) {
      if (pool.offers(server, "completions") === false) return nothing;
      throw hostError(error, server);
    }
  }

  async #referenced(ref: JsonObject, signal: AbortSignal): Promise<{ server: string; ref: JsonObject } | undefined> {
    if (ref["type"] === "ref/prompt") {
      const { server, name } = await this.#prompts.find(textOf(ref, "name"), signal);
      return { server, ref: { ...ref, name } };
    }
    if (ref["type"] !== "ref/resource") return undefined;
    const place = await this.#resources.findTemplate(textOf(ref, "uri"), signal);
    return place && { server: place.server, ref: { ...ref, uri: place.uri } };
  }

  async #setLevel({ params, call, log }: DirectRequest): Promise<JsonObject> {
    const { success, data: level } = LoggingLevelSchema.safeParse(params["level"]);
    if (!success) throw invalidParams(`level must be one of ${LoggingLevelSchema.options.join(", ")}`);
    log.level = level;
    await call.app.pool.setLogLevel(level);
    return {};
  }
}

function markedSchema({ name, inputSchema }: JsonObject): [string, JsonObject][] {
  const marks = marksOf(inputSchema);
  const isMarked = !("problem" in marks) && marks.size > 0;
  return isMarked ? [[String(name), inputSchema as JsonObject]] : [];
}

function textOf(params: JsonObject, key: string): string {
  const value = params[key];
  if (typeof value === "string" && value !== "") return value;
  throw invalidParams(`${key} must be a string`);
}

/** Removes the `_meta` that concerns the agent and us. The `meta` option carries the rest. */
function withoutMeta({ _meta: _, ...params }: JsonObject): JsonObject {
  return params;
}

/** The prompts of all servers. */
class ProxiedPrompts {
  readonly #names: ExposedNames;
  readonly lists: KnownLists;

  constructor(app: App, onLate: () => void) {
    this.#names = new ExposedNames(app.config.prefix, () => app.config.servers.keys());
    const list = (server: string) => app.pool.listPrompts(server);
    this.lists = new KnownLists(app, { offer: "prompts", list, usable: usablePrompt, key: "name" }, onLate);
  }

  async list(signal: AbortSignal): Promise<JsonObject[]> {
    await this.lists.ask(signal);
    return this.#named();
  }

  /** Finds the prompt that the agent names. */
  find(name: string, signal: AbortSignal): Promise<Original> {
    return this.#names.find("prompt", name, async () => {
      await this.lists.askOnce(signal);
      this.#named();
    });
  }

  get({ server, name }: Original, params: JsonObject, call: DirectCall): Promise<JsonObject> {
    return observedRequest(server, { method: "prompts/get", params: { ...params, name } }, call);
  }

  #named(): JsonObject[] {
    const all = [...this.lists.known].flatMap(([server, prompts]) =>
      prompts.map((prompt) => ({ prompt, original: { server, name: String(prompt["name"]) } })),
    );
    this.#names.assign(all.map(({ original }) => original));
    return all.map(({ prompt, original }) => ({ ...prompt, name: this.#names.nameOf(original) }));
  }
}

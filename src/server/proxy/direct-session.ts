/** Direct mode: one session in which the agent sees the servers' own tools, resources and prompts. */
import { LoggingLevelSchema } from "@modelcontextprotocol/core";
import { type Notification, type Progress, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import { wholeOf } from "../../clients/decoding/large-json.ts";
import { toClaudikinsError } from "../../errors.ts";
import { isObject, type JsonObject } from "../../json-object.ts";
import type { Toolbox } from "../../toolbox/toolbox.ts";
import { textResult } from "../content/content.ts";
import { type HostRequests, hostRequestsOf } from "../host.ts";
import { directInstructions } from "../instructions.ts";
import { SessionCount } from "../session-count.ts";
import { serverInfo } from "../surface.ts";
import { HostError, hostError, invalidParams, serverError } from "./answers.ts";
import { DirectServer } from "./direct-server.ts";
import { HostLog, ListChanges } from "./notices.ts";
import { ProxiedPrompts } from "./prompts.ts";
import { type AskOptions, ProxiedResources } from "./resources.ts";
import { ProxiedTools } from "./tools.ts";

/** One request of the agent. */
interface Asked {
  method: string;
  params: JsonObject;
  id: string | number;
  /** For the servers: the agent's signal, and where progress goes. */
  options: AskOptions;
}

/**
 * Makes the SDK's server of one session, not connected yet. `toolbox` must have connections of its own, since logs and
 * subscriptions belong to the session. Calls are cancelled when `closing` aborts.
 */
export function createDirectSession(toolbox: Toolbox, closing: AbortSignal): Server {
  return new DirectSession(toolbox, closing).server;
}

/** Many agents never ask for a second page, so a page is as large as a message may be. */
const pageSize = 1_000;

class DirectSession {
  readonly server: DirectServer;
  readonly #toolbox: Toolbox;
  /** Aborted when claudikins ends. */
  readonly #closing: AbortSignal;
  readonly #requests: HostRequests;
  readonly #count: SessionCount;
  readonly #tools: ProxiedTools;
  readonly #prompts: ProxiedPrompts;
  readonly #resources: ProxiedResources;
  readonly #log: HostLog;
  readonly #changes: ListChanges;
  /** The lists of the last requests for a first page, by method. */
  readonly #listed = new Map<string, readonly JsonObject[]>();

  constructor(toolbox: Toolbox, closing: AbortSignal) {
    this.#toolbox = toolbox;
    this.#closing = closing;
    const instructions = directInstructions(toolbox);
    const has = { listChanged: true };
    // The servers have not answered yet, so all capabilities are declared.
    const capabilities = {
      tools: has,
      prompts: has,
      resources: { ...has, subscribe: true },
      completions: {},
      logging: {},
    };
    this.server = new DirectServer(serverInfo, { capabilities, instructions });
    this.#requests = hostRequestsOf(this.server);
    this.#count = new SessionCount(toolbox, instructions);
    this.#log = new HostLog(this.server, this.#requests);
    this.#changes = new ListChanges(this.server);
    this.#tools = new ProxiedTools(toolbox);
    this.#prompts = new ProxiedPrompts(toolbox, () => this.#changes.changed("prompts"));
    this.#resources = new ProxiedResources(toolbox, () => this.#changes.changed("resources"));
    this.#listenToAgent();
    this.#listenToServers();
  }

  #listenToAgent(): void {
    // The SDK's own handlers drop unknown fields of results. These handlers pass results unchanged.
    this.server.removeRequestHandler("logging/setLevel");
    this.server.answerWith(async ({ method, params = {} }, { mcpReq: { id, signal, notify } }) => {
      using _ = this.#toolbox.restTimer.running();
      await this.#toolbox.reload?.refresh();
      const answer = this.#answers.get(method);
      if (!answer) throw new HostError(ProtocolErrorCode.MethodNotFound, `Method not found: ${method}`);
      const { progressToken, ...meta } = isObject(params["_meta"]) ? params["_meta"] : {};
      const onProgress = (progress: Progress) => {
        const notice = { method: "notifications/progress", params: { ...progress, progressToken } };
        void notify(notice as Notification).catch(() => {});
      };
      const options: AskOptions = {
        signal: AbortSignal.any([signal, this.#closing]),
        ...(progressToken === undefined ? {} : { onProgress }),
        ...(Object.keys(meta).length === 0 ? {} : { meta }),
      };
      return await answer({ method, params, id, options });
    });
    this.server.setNotificationHandler("notifications/roots/list_changed", () => this.#toolbox.pool.rootsChanged());
  }

  #listenToServers(): void {
    const { pool, catalog, reload } = this.#toolbox;
    pool.onLog((name, message) => this.#log.pass(name, message));
    // A server that announces changed tools is listed first.
    pool.onListChanged((_, what) => {
      if (what !== "tools") this.#changes.changed(what);
    });
    catalog.onChange(() => this.#changes.changed("tools", () => this.#tools.definitions()));
    this.#toolbox.onConfig(() => void this.#configChanged());
    // An agent that has the lists does not ask again by itself.
    reload?.watch();
  }

  /** New servers are listed before the agent is told. */
  async #configChanged(): Promise<void> {
    await this.#tools.list(this.#closing).catch(() => {});
    this.#changes.changed("tools", () => this.#tools.definitions());
    this.#changes.changed("prompts");
    this.#changes.changed("resources");
  }

  readonly #answers = new Map<string, (asked: Asked) => Promise<JsonObject>>([
    ["tools/list", (asked) => this.#listTools(asked)],
    ["tools/call", (asked) => this.#callTool(asked)],
    ["prompts/list", (asked) => this.#listPrompts(asked)],
    ["prompts/get", (asked) => this.#getPrompt(asked)],
    ["resources/list", (asked) => this.#listResources("resources", asked)],
    ["resources/templates/list", (asked) => this.#listResources("resourceTemplates", asked)],
    ["resources/read", (asked) => this.#readResource(asked)],
    ["resources/subscribe", (asked) => this.#subscribe(asked)],
    ["resources/unsubscribe", (asked) => this.#unsubscribe(asked)],
    ["completion/complete", (asked) => this.#complete(asked)],
    ["logging/setLevel", (asked) => this.#setLevel(asked)],
  ]);

  /** All pages of a list show the moment of the first request. `key` is the field of the list in the answer. */
  async #page(key: string, { method, params }: Asked, list: () => Promise<JsonObject[]>): Promise<JsonObject> {
    const { cursor } = params;
    if (cursor === undefined) this.#listed.set(method, await list());
    const all = this.#listed.get(method) ?? [];
    const from = cursor === undefined ? 0 : Number(/^from (\d{1,9})$/.exec(String(cursor))?.[1]);
    if (cursor !== undefined && !(from > 0 && from < all.length)) {
      throw invalidParams("There is no such page: request the first one without a cursor");
    }
    const to = from + pageSize;
    return { [key]: all.slice(from, to), ...(to < all.length ? { nextCursor: `from ${to}` } : {}) };
  }

  async #listTools(asked: Asked): Promise<JsonObject> {
    const page = await this.#page("tools", asked, () => this.#tools.list(asked.options.signal));
    const definitions = this.#tools.definitions();
    this.#count.listed(definitions);
    this.#changes.shown("tools", definitions);
    this.#log.nameProblems("tools", this.#tools.problems);
    return page;
  }

  async #listPrompts(asked: Asked): Promise<JsonObject> {
    const page = await this.#page("prompts", asked, () => this.#prompts.list(asked.options.signal));
    this.#changes.shown("prompts");
    this.#log.nameProblems("prompts", this.#prompts.lists.problems);
    return page;
  }

  async #listResources(key: "resources" | "resourceTemplates", asked: Asked): Promise<JsonObject> {
    const page = await this.#page(key, asked, () => this.#resources.list(key, asked.options.signal));
    this.#changes.shown("resources");
    this.#log.nameProblems("resources", this.#resources.resources.problems);
    return page;
  }

  async #callTool({ params, id, options }: Asked): Promise<JsonObject> {
    const original = await this.#tools.find(textOf(params, "name"), options.signal);
    const { server } = original;
    using _ = this.#requests.begin(id, server);
    const args = params["arguments"];
    if (args !== undefined && !isObject(args)) throw invalidParams("arguments must be an object");
    try {
      const result = await this.#tools.call(original, args, options);
      this.#resources.remember(server, wholeOf(result["content"]));
      return result;
    } catch (error) {
      const answered = serverError(error, server);
      if (answered) throw answered;
      // The model learns why the tool could not be called, and what to do.
      return textResult(toClaudikinsError(error).text, true);
    }
  }

  async #getPrompt({ params, id, options }: Asked): Promise<JsonObject> {
    const original = await this.#prompts.find(textOf(params, "name"), options.signal);
    const { server } = original;
    using _ = this.#requests.begin(id, server);
    try {
      const prompt = await this.#prompts.get(original, withoutMeta(params), options);
      const messages = wholeOf(prompt["messages"]);
      this.#resources.remember(server, Array.isArray(messages) ? messages.map((each) => Object(each).content) : []);
      return prompt;
    } catch (error) {
      throw hostError(error, server);
    }
  }

  async #readResource({ params, id, options }: Asked): Promise<JsonObject> {
    using _ = this.#requests.begin(id);
    return this.#resources.read(textOf(params, "uri"), withoutMeta(params), options);
  }

  async #subscribe({ params, options }: Asked): Promise<JsonObject> {
    const tell = (uri: string) => void this.server.sendResourceUpdated({ uri }).catch(() => {});
    await this.#resources.subscribe(textOf(params, "uri"), tell, options);
    return {};
  }

  async #unsubscribe({ params }: Asked): Promise<JsonObject> {
    this.#resources.unsubscribe(textOf(params, "uri"));
    return {};
  }

  /** A server without completions has no values. We declare completions because some server may have them. */
  async #complete({ params, options }: Asked): Promise<JsonObject> {
    const { ref, ...rest } = withoutMeta(params);
    const meant = isObject(ref) ? await this.#referenced(ref, options.signal) : undefined;
    if (!meant) throw invalidParams("ref must name an existing prompt or resource template");
    const { server } = meant;
    const { pool } = this.#toolbox;
    const nothing = { completion: { values: [] } };
    if (pool.offers(server, "completions") === false) return nothing;
    const request = { method: "completion/complete", params: { ref: meant.ref, ...rest } };
    try {
      return await pool.request(server, request, options);
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

  async #setLevel({ params }: Asked): Promise<JsonObject> {
    const { success, data: level } = LoggingLevelSchema.safeParse(params["level"]);
    if (!success) throw invalidParams(`level must be one of ${LoggingLevelSchema.options.join(", ")}`);
    this.#log.level = level;
    await this.#toolbox.pool.setLogLevel(level);
    return {};
  }
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

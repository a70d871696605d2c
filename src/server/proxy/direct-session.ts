/** Direct mode: one session in which the agent sees the servers' own tools, resources and prompts. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  ErrorCode,
  LoggingLevelSchema,
  type Progress,
  RootsListChangedNotificationSchema,
  type ServerNotification,
} from "@modelcontextprotocol/sdk/types.js";
import { wholeOf } from "../../clients/decoding/large-json.ts";
import { isObject, type JsonObject } from "../../json-object.ts";
import type { Toolbox } from "../../toolbox/toolbox.ts";
import { version } from "../../version.ts";
import { type HostRequests, hostRequestsOf } from "../host-requests.ts";
import { SessionCount } from "../session-count.ts";
import { failedCall, HostError, hostError, invalidParams, serverError } from "./answers.ts";
import { HostLog } from "./host-log.ts";
import { directInstructions } from "./instructions.ts";
import { ListChanges } from "./list-changes.ts";
import { Pages } from "./pages.ts";
import { ProxiedPrompts } from "./prompts.ts";
import { type AskOptions, ProxiedResources } from "./resources.ts";
import { ProxiedTools } from "./tools.ts";

interface Surroundings {
  toolbox: Toolbox;
  server: Server;
  /** The agent's open requests. */
  requests: HostRequests;
  count: SessionCount;
  /** Aborted when claudikins ends. */
  closing: AbortSignal;
}

/** One request of the agent. */
interface Asked {
  method: string;
  params: JsonObject;
  id: string | number;
  signal: AbortSignal;
  notify: (method: string, params: JsonObject) => Promise<void>;
}

/**
 * Makes the SDK's server of one session, not connected yet. `toolbox` must have connections of its own, since logs and
 * subscriptions belong to the session. The servers have not answered yet, so all capabilities are declared.
 */
export function createDirectSession(toolbox: Toolbox, closing: AbortSignal): Server {
  const has = { listChanged: true };
  const instructions = directInstructions(toolbox);
  const server = new Server(
    { name: "claudikins", title: "claudikins", version },
    {
      capabilities: { tools: has, prompts: has, resources: { ...has, subscribe: true }, completions: {}, logging: {} },
      instructions,
    },
  );
  const count = new SessionCount(toolbox, instructions);
  const session = new DirectSession({ toolbox, server, requests: hostRequestsOf(server), count, closing });
  // The SDK's own handlers drop unknown fields of results. These handlers pass results unchanged.
  server.removeRequestHandler("logging/setLevel");
  server.fallbackRequestHandler = ({ method, params = {} }, { requestId: id, signal, sendNotification }) =>
    session.answer({
      method,
      params,
      id,
      signal,
      notify: (of, words) => sendNotification({ method: of, params: words } as ServerNotification),
    });
  server.setNotificationHandler(RootsListChangedNotificationSchema, () => toolbox.pool.rootsChanged());
  return server;
}

class DirectSession {
  readonly #around: Surroundings;
  readonly #tools: ProxiedTools;
  readonly #prompts: ProxiedPrompts;
  readonly #resources: ProxiedResources;
  readonly #log: HostLog;
  readonly #changes: ListChanges;
  readonly #pages = new Map<string, Pages>();

  constructor(around: Surroundings) {
    this.#around = around;
    const { toolbox, server, requests } = around;
    this.#log = new HostLog(server, requests);
    this.#changes = new ListChanges(server);
    this.#tools = new ProxiedTools(toolbox);
    this.#prompts = new ProxiedPrompts(toolbox, () => this.#changes.changed("prompts"));
    this.#resources = new ProxiedResources(toolbox, () => this.#changes.changed("resources"));
    toolbox.pool.onLog((name, message) => this.#log.pass(name, message));
    toolbox.pool.onListChanged((_, what) => {
      if (what !== "tools") this.#changes.changed(what);
    });
    // A server that announces changed tools is listed first.
    toolbox.onConfig(() => void this.#configChanged());
    // An agent that has the lists does not ask again by itself.
    toolbox.reload?.watch();
    toolbox.catalog.onChange(() => this.#changes.changed("tools", () => this.#tools.definitions()));
  }

  async answer(asked: Asked): Promise<JsonObject> {
    await this.#around.toolbox.reload?.refresh();
    const answer = this.#answers.get(asked.method);
    if (!answer) throw new HostError(ErrorCode.MethodNotFound, `Method not found: ${asked.method}`);
    return answer(asked);
  }

  readonly #answers = new Map<string, (asked: Asked) => Promise<JsonObject>>([
    ["tools/list", (asked) => this.#listTools(asked)],
    ["tools/call", (asked) => this.#callTool(asked)],
    ["prompts/list", (asked) => this.#list("prompts", "prompts", asked, () => this.#prompts.list(asked.signal))],
    ["prompts/get", (asked) => this.#getPrompt(asked)],
    [
      "resources/list",
      (asked) => this.#list("resources", "resources", asked, () => this.#resources.list(asked.signal)),
    ],
    [
      "resources/templates/list",
      (asked) => this.#list("resourceTemplates", "resources", asked, () => this.#resources.listTemplates(asked.signal)),
    ],
    ["resources/read", (asked) => this.#readResource(asked)],
    ["resources/subscribe", (asked) => this.#subscribe(asked)],
    ["resources/unsubscribe", (asked) => this.#unsubscribe(asked)],
    ["completion/complete", (asked) => this.#complete(asked)],
    ["logging/setLevel", (asked) => this.#setLevel(asked)],
  ]);

  /** New servers are listed before the agent is told. */
  async #configChanged(): Promise<void> {
    await this.#tools.list(this.#around.closing).catch(() => {});
    this.#changes.changed("tools", () => this.#tools.definitions());
    this.#changes.changed("prompts");
    this.#changes.changed("resources");
  }

  async #listTools(asked: Asked): Promise<JsonObject> {
    const answer = await this.#list("tools", "tools", asked, () => this.#tools.list(asked.signal));
    const definitions = this.#tools.definitions();
    this.#around.count.listed(definitions);
    this.#changes.shown("tools", definitions);
    this.#log.nameProblems("tools", this.#tools.problems);
    return answer;
  }

  async #callTool(asked: Asked): Promise<JsonObject> {
    const { params, signal } = asked;
    const original = await this.#tools.find(textOf(params, "name"), signal);
    const { server } = original;
    using _ = this.#around.requests.begin(asked.id, server);
    const args = params["arguments"];
    if (args !== undefined && !isObject(args)) throw invalidParams("arguments must be an object");
    try {
      const result = await this.#tools.call(original, args, this.#optionsOf(asked));
      this.#resources.remember(server, wholeOf(result["content"]));
      return result;
    } catch (error) {
      const answered = serverError(error, server);
      if (answered) throw answered;
      return failedCall(error);
    }
  }

  async #getPrompt(asked: Asked): Promise<JsonObject> {
    const original = await this.#prompts.find(textOf(asked.params, "name"), asked.signal);
    const { server } = original;
    using _ = this.#around.requests.begin(asked.id, server);
    try {
      const prompt = await this.#prompts.get(original, withoutMeta(asked.params), this.#optionsOf(asked));
      const messages = wholeOf(prompt["messages"]);
      this.#resources.remember(server, Array.isArray(messages) ? messages.map((each) => Object(each).content) : []);
      return prompt;
    } catch (error) {
      throw hostError(error, server);
    }
  }

  async #readResource(asked: Asked): Promise<JsonObject> {
    using _ = this.#around.requests.begin(asked.id);
    return this.#resources.read(textOf(asked.params, "uri"), withoutMeta(asked.params), this.#optionsOf(asked));
  }

  async #subscribe(asked: Asked): Promise<JsonObject> {
    const tell = (uri: string) => void this.#around.server.sendResourceUpdated({ uri }).catch(() => {});
    await this.#resources.subscribe(textOf(asked.params, "uri"), tell, this.#optionsOf(asked));
    return {};
  }

  async #unsubscribe({ params }: Asked): Promise<JsonObject> {
    this.#resources.unsubscribe(textOf(params, "uri"));
    return {};
  }

  /** A server without completions has no values. We declare completions because some server may have them. */
  async #complete(asked: Asked): Promise<JsonObject> {
    const { ref, ...rest } = withoutMeta(asked.params);
    const meant = isObject(ref) ? await this.#referenced(ref, asked.signal) : undefined;
    if (!meant) throw invalidParams("ref must name an existing prompt or resource template");
    const { server } = meant;
    const nothing = { completion: { values: [] } };
    if (this.#around.toolbox.pool.offers(server, "completions") === false) return nothing;
    const request = { method: "completion/complete", params: { ref: meant.ref, ...rest } };
    try {
      return await this.#around.toolbox.pool.request(server, request, this.#optionsOf(asked));
    } catch (error) {
      if (this.#around.toolbox.pool.offers(server, "completions") === false) return nothing;
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
    await this.#around.toolbox.pool.setLogLevel(level);
    return {};
  }

  async #list(
    key: string,
    what: "tools" | "prompts" | "resources",
    { params, method }: Asked,
    list: () => Promise<JsonObject[]>,
  ): Promise<JsonObject> {
    const pages = this.#pages.get(method) ?? new Pages(key);
    this.#pages.set(method, pages);
    const page = await pages.page(params["cursor"], list);
    this.#changes.shown(what);
    if (what === "prompts") this.#log.nameProblems(what, this.#prompts.lists.problems);
    if (what === "resources") this.#log.nameProblems(what, this.#resources.resources.problems);
    return page;
  }

  #optionsOf({ params, signal, notify }: Asked): AskOptions {
    const { progressToken, ...meta } = isObject(params["_meta"]) ? params["_meta"] : {};
    const onProgress = (progress: Progress) =>
      void notify("notifications/progress", { ...progress, progressToken }).catch(() => {});
    return {
      signal: AbortSignal.any([signal, this.#around.closing]),
      ...(progressToken === undefined ? {} : { onProgress }),
      ...(Object.keys(meta).length === 0 ? {} : { meta }),
    };
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

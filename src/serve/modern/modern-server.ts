/**
 * The MCP server towards hosts of revision 2026-07-28, in code mode and in direct mode. Its requests belong to no session: each says
 * what its host supports, and a question of a server ends the request, which the host sends again with the answer.
 */
import {
  type CallToolRequest,
  type ClientCapabilities,
  type LoggingLevel,
  McpServer,
  type Notification,
  ProtocolErrorCode,
  type Result,
  SERVER_INFO_META_KEY,
  type ServerCapabilities,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { App } from "../../app/app.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import type { FollowedExecution } from "../../programs/running-execution.ts";
import { objectsOf } from "../../servers/result.ts";
import { withTasks } from "../../servers/tasks-extension.ts";
import { CodeServer } from "../code-server.ts";
import type { CodeSession } from "../code-session.ts";
import { directInstructions } from "../instructions.ts";
import { taskAfterMs } from "../limits.ts";
import { HostError } from "../proxy/answers.ts";
import { passedExtensions } from "../proxy/apps.ts";
import type { DirectAnswers } from "../proxy/direct-answers.ts";
import { askOptions, directCapabilities } from "../proxy/direct-session.ts";
import { HostLog } from "../proxy/notices.ts";
import { anyHost, cacheHint, serverInfo } from "../surface.ts";
import { executeCode } from "../tools/execute-code.ts";
import { capabilitiesOf, identityOf, logLevelOf } from "./envelope.ts";
import type { ModernHost } from "./modern-host.ts";
import type { OpenRequest } from "./open-request.ts";
import type { ParkedRequests, TaskRules } from "./parked-requests.ts";
import { type Tasks, takesTasks } from "./tasks.ts";

export interface Connections {
  /** The app whose pool has the connections. */
  app: App;
  /** Answers what the servers of these connections ask. */
  host: ModernHost;
}

/** One program that sends requests, as far as it can be told from others. */
export interface ModernClient {
  parked: ParkedRequests;
  tasks: Tasks;
  /** The connections for a request of a host with these capabilities. */
  connections(capabilities: ClientCapabilities): Connections;
}

/** Announces tasks, which only this era has. */
class ModernCodeServer extends CodeServer {
  override getCapabilities(): ServerCapabilities {
    return withTasks(super.getCapabilities());
  }
}

/** Makes the SDK's server for one request or one connection in code mode, not connected yet. */
export function modernCodeServer(session: CodeSession, client: ModernClient, instructions: string): CodeServer {
  const cacheHints = { "tools/list": cacheHint, "server/discover": cacheHint };
  const server = new ModernCodeServer(() => session.skills(), { instructions, cacheHints });
  server.setRequestHandler("tools/list", () => ({ tools: session.tools(anyHost) }));
  const call = (params: CallToolRequest["params"], context: ServerContext, rules: TaskRules | undefined) => {
    const hasProgress = params._meta?.progressToken !== undefined;
    return async (open: OpenRequest) => {
      const { app, host } = client.connections(open.capabilities);
      using _ = host.begin(open);
      using _long = rules && soon(app, () => open.takesLong());
      const sendProgress = (progress: number, message: string) => {
        open.statusMessage = message;
        const { progressToken } = open;
        if (progressToken === undefined) return;
        open.notify({ method: "notifications/progress", params: { progressToken, progress, message } });
      };
      const onExecution = (execution: FollowedExecution) => {
        open.execution = execution;
      };
      return await session.call({
        params,
        capabilities: anyHost,
        host: identityOf(context),
        app,
        signal: open.signal,
        task: rules && { isTask: true, claim: client.tasks.claimOf(open.secret), onExecution },
        sendProgress: hasProgress || rules ? sendProgress : undefined,
      });
    };
  };
  client.tasks.serve(server, async ({ execution, claim }, context) => {
    const rules = taskRules(client, context, { whenAsked: true });
    const { app } = client.connections(capabilitiesOf(context));
    const executions = await app.executions();
    if (!rules || app.isLocked || !(await executions.stored.hasClaim(execution, claim, app))) return undefined;
    const params = { name: executeCode.name, arguments: { resume: execution } };
    const open = client.parked.begin({ method: "tools/call", params }, context, call(params, context, rules));
    open.execution = await executions.follow(execution, app, session.asker).catch(() => undefined);
    return open;
  });
  server.setRequestHandler("tools/call", ({ method, params }, context) => {
    const rules = taskRules(client, context, { whenAsked: true });
    const work = call(params, context, rules);
    return client.parked.round({ method, params }, context, work, rules) as Promise<Result & { content: [] }>;
  });
  return server;
}

function soon({ config }: App, then: () => void): Disposable {
  const { answerAfterMs = taskAfterMs } = config.executions;
  if (answerAfterMs === false) return nothing;
  const timer = setTimeout(then, Math.min(answerAfterMs, taskAfterMs));
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/** Undefined if the host does not know tasks. */
function taskRules(
  { tasks }: ModernClient,
  context: ServerContext,
  rules: Omit<TaskRules, "tasks">,
): TaskRules | undefined {
  return takesTasks(capabilitiesOf(context)) ? { tasks, ...rules } : undefined;
}

/**
 * The SDK's server of direct mode. Arguments that a tool marks with `x-mcp-header` must be equal in the request's headers (MCP
 * 2026-07-28, basic/transports/streamable-http, "Server Validation"). The SDK checks this only for tools that it knows.
 */
class HeaderCheckedServer extends McpServer {
  readonly #schemaOf: (tool: string) => JsonObject | undefined;

  /** `schemaOf` returns the schema of a tool with marked arguments. */
  constructor(instructions: string, schemaOf: (tool: string) => JsonObject | undefined) {
    super(serverInfo, { instructions });
    // Given to the constructor, these would add handlers for the SDK's own tools, prompts and resources.
    this.server.registerCapabilities(withTasks(directCapabilities));
    this.#schemaOf = schemaOf;
  }

  override toolInputSchemaJson(name: string): JsonObject | undefined {
    return this.#schemaOf(name);
  }
}

/** Requests during which a server may ask the host. */
const roundMethods: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

const otherMethods = [
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "skills/list",
  "skills/get",
  "completion/complete",
];

/** Whether direct mode answers such a request itself. The SDK answers the others. */
function isDirectMethod(method: string): boolean {
  return roundMethods.has(method) || otherMethods.includes(method);
}

/**
 * Makes the SDK's server for one connection in direct mode, not connected yet, or for one request. Then `method` is the request's:
 * for unknown methods the server gets no handler, so that the SDK answers with the status 404.
 */
export function modernDirectServer(
  answers: DirectAnswers,
  client: ModernClient,
  app: App,
  closing: AbortSignal,
  method?: string,
): McpServer {
  const checked = new HeaderCheckedServer(directInstructions(app), (tool) => answers.markedSchemaOf(tool));
  const { server } = checked;
  server.removeRequestHandler("logging/setLevel");
  client.tasks.serve(server);
  if (method !== undefined && !isDirectMethod(method)) return checked;
  // The SDK's own handlers drop unknown fields of results. This handler passes results unchanged.
  server.fallbackRequestHandler = async ({ method, params = {} }, context) => {
    const { signal, notify } = context.mcpReq;
    if (!isDirectMethod(method)) throw new HostError(ProtocolErrorCode.MethodNotFound, "Method not found");
    if (roundMethods.has(method)) {
      const work = (open: OpenRequest) => answerRound(answers, client, { method, params }, open, logLevelOf(context));
      // Only a task of a server makes one of ours: all other calls end as the server ends them.
      const rules = method === "tools/call" ? taskRules(client, context, { whenAsked: false }) : undefined;
      return await client.parked.round({ method, params }, context, work, rules);
    }
    // A server that is connected for a list may be called later, so it is told what the host supports.
    connectionsOf(client, capabilitiesOf(context));
    const options = askOptions(params, AbortSignal.any([signal, closing]), app, notify);
    const log = new HostLog(logLevelOf(context) ? notify : () => {}, logLevelOf(context));
    return answers.answer({ method, params, options, log, begin: () => nothing });
  };
  return checked;
}

const nothing: Disposable = { [Symbol.dispose]: () => {} };

/** In direct mode, servers are told about extensions too. */
function connectionsOf(client: ModernClient, capabilities: ClientCapabilities): Connections {
  const connections = client.connections(capabilities);
  connections.app.pool.setHost({ extensions: passedExtensions(capabilities) });
  return connections;
}

async function answerRound(
  answers: DirectAnswers,
  client: ModernClient,
  { method, params }: { method: string; params: JsonObject },
  open: OpenRequest,
  level: LoggingLevel | undefined,
): Promise<JsonObject> {
  const { app, host } = connectionsOf(client, open.capabilities);
  const notify = (notification: Notification) => open.notify(notification);
  // Without a level, the host wants no log messages.
  const log = new HostLog(level ? notify : () => {}, level);
  using _ = level ? listeningTo(app, log) : nothing;
  if (level) await app.pool.setLogLevel(level);
  const { signal } = open;
  const asking = askOptions(params, signal, app, notify);
  const options = { ...asking, onBecameTask: () => open.takesLong() };
  const ask = async () =>
    withoutServer(await answers.answer({ method, params, options, log, begin: (about) => host.begin(open, about) }));
  try {
    return await ask();
  } catch (error) {
    if (!needsPages(error)) throw error;
    using _open = host.begin(open);
    await openPages(error.data, host, signal);
  }
  try {
    // The server has refused the request until the pages were opened, so this repeats nothing.
    return await ask();
  } catch (error) {
    throw needsPages(error) ? notOpened() : error;
  }
}

/** Whether it is the error of the older era that names pages. The newer era has no such error. */
function needsPages(error: unknown): error is HostError {
  return error instanceof HostError && error.code === ProtocolErrorCode.UrlElicitationRequired;
}

function notOpened(): HostError {
  return new HostError(
    ProtocolErrorCode.InvalidRequest,
    "The server waits for a page to be opened: open it, then try again",
  );
}

/** To the host, we are the server that answers. */
function withoutServer({ _meta: meta, ...result }: JsonObject): JsonObject {
  if (!isObject(meta)) return result;
  const { [SERVER_INFO_META_KEY]: _, ...rest } = meta;
  return { ...result, _meta: rest };
}

function listeningTo(app: App, log: HostLog): Disposable {
  const stop = app.pool.onLog((server, message) => log.pass(server, message));
  return { [Symbol.dispose]: stop };
}

/** Asks for the pages that a server of the older era named in an error. Throws a HostError if a page is not opened. */
async function openPages(data: unknown, host: ModernHost, signal: AbortSignal): Promise<void> {
  const pages = objectsOf(isObject(data) ? data["elicitations"] : undefined);
  const opened = await Promise.all(
    pages.map(async ({ message, url, elicitationId }) => {
      const params = { mode: "url", message, url, elicitationId } as Parameters<ModernHost["elicit"]>[0];
      const { action } = await host.elicit(params, { server: "", signal });
      return action === "accept";
    }),
  );
  if (opened.length > 0 && opened.every(Boolean)) return;
  throw notOpened();
}

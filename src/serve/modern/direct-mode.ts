/**
 * Direct mode for hosts of revision 2026-07-28. A request belongs to no session: it says what its host supports. A question of a server
 * ends the request, which the host sends again with the answer.
 */
import {
  McpServer,
  type Notification,
  ProtocolErrorCode,
  SERVER_INFO_META_KEY,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { App } from "../../app/app.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { withTasks } from "../../servers/connection/tasks-extension.ts";
import { objectsOf } from "../../servers/result.ts";
import type { HostRequest, ReceivedRequest } from "../host-request.ts";
import { HostError } from "../proxy/answers.ts";
import { passedExtensions } from "../proxy/apps.ts";
import type { DirectAnswers } from "../proxy/direct-answers.ts";
import { directCapabilities } from "../proxy/direct-session.ts";
import { HostLog } from "../proxy/notices.ts";
import { directInstructions } from "../surface/instructions.ts";
import { serverInfo } from "../surface/surface.ts";
import { type ModernClient, openRequest, plainRequest, taskRules } from "./client.ts";
import { capabilitiesOf, logLevelOf } from "./envelope.ts";
import type { ModernHost } from "./modern-host.ts";
import type { OpenRequest } from "./open-request.ts";
import type { TaskRules } from "./parked-requests.ts";

/** What every request of a server needs. */
interface DirectParts {
  answers: DirectAnswers;
  client: ModernClient;
  /** The app that the lists come from. */
  app: App;
  /** Aborted when claudikins ends. */
  closing: AbortSignal;
}

/**
 * Makes the SDK's server for one connection, not connected yet, or for one request. Then `method` is the request's: for unknown methods
 * the server gets no handler, so that the SDK answers with the status 404.
 */
export function modernDirectServer(parts: DirectParts, method?: string): McpServer {
  const { answers, client, app } = parts;
  const checked = new HeaderCheckedServer(directInstructions(app), (tool) => answers.markedSchemaOf(tool));
  const { server } = checked;
  server.removeRequestHandler("logging/setLevel");
  client.tasks.serve(server);
  if (method !== undefined && !isDirectMethod(method)) return checked;
  // The SDK's own handlers drop unknown fields of results. This handler passes results unchanged.
  server.fallbackRequestHandler = (received, context) => answer(parts, received, context);
  return checked;
}

/**
 * The SDK's server. Arguments that a tool marks with `x-mcp-header` must be equal in the request's headers (MCP 2026-07-28,
 * basic/transports/streamable-http, "Server Validation"). The SDK checks this only for tools that it knows.
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

async function answer(parts: DirectParts, received: ReceivedRequest, context: ServerContext): Promise<JsonObject> {
  const { method } = received;
  if (!isDirectMethod(method)) throw new HostError(ProtocolErrorCode.MethodNotFound, "Method not found");
  const { answers, client, app, closing } = parts;
  if (roundMethods.has(method)) {
    // Only a task of a server makes one of ours: all other calls end as the server ends them.
    const rules = method === "tools/call" ? taskRules(client, context, { whenAsked: false }) : undefined;
    return await client.parked.round(received, context, (open) => answerOpen(parts, open, rules), rules);
  }
  // A server that is connected for a list may be called later, so it must know what the host supports.
  const capabilities = capabilitiesOf(context);
  tellExtensions(client.connections(capabilities).app, capabilities);
  return answers.answer(
    plainRequest({ app, owner: client.owner }, received, context, closing),
    logOf(context, context.mcpReq.notify),
  );
}

/** Lets servers know which extensions the host supports. */
function tellExtensions({ pool }: App, capabilities: HostRequest["capabilities"]): void {
  pool.setHost({ extensions: passedExtensions(capabilities) });
}

/** Without a level, the host wants no log messages. */
function logOf(context: ServerContext, notify: (notification: Notification) => unknown): HostLog {
  const level = logLevelOf(context);
  return new HostLog(level ? notify : () => {}, level);
}

async function answerOpen(
  { answers, client }: DirectParts,
  open: OpenRequest,
  rules: TaskRules | undefined,
): Promise<JsonObject> {
  const request = openRequest(client, open, rules);
  const { app, signal } = request;
  tellExtensions(app, request.capabilities);
  const log = logOf(open.firstContext, (notification) => open.notify(notification));
  using _ = log.level && listenTo(app, log);
  if (log.level) await app.pool.setLogLevel(log.level);
  const ask = async () => withoutServer(await answers.answer(request, log));
  try {
    return await ask();
  } catch (error) {
    if (!needsPages(error)) throw error;
    using _questions = request.allowQuestions();
    await openPages(error.data, client.connections(open.capabilities).host, signal);
  }
  try {
    // The server has refused the request until the pages were opened, so this repeats nothing.
    return await ask();
  } catch (error) {
    throw needsPages(error) ? notOpened() : error;
  }
}

/** Passes the log messages of servers. Dispose of the result to end this. */
function listenTo({ pool }: App, log: HostLog): Disposable {
  return { [Symbol.dispose]: pool.onLog((server, message) => log.pass(server, message)) };
}

/** Whether it is the error of the older era that names pages. The newer era has no such error. */
function needsPages(error: unknown): error is HostError {
  return error instanceof HostError && error.code === ProtocolErrorCode.UrlElicitationRequired;
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

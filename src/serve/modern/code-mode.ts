/**
 * Code mode for hosts of revision 2026-07-28. A request belongs to no session: it says what its host supports. A call that takes long
 * becomes a task, if the host knows tasks.
 */
import type { CallToolResult, Result, ServerCapabilities, ServerContext } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../base/json-object.ts";
import { withTasks } from "../../servers/connection/tasks-extension.ts";
import { CodeServer } from "../code-server.ts";
import type { CodeSession } from "../code-session.ts";
import type { ReceivedRequest } from "../host-request.ts";
import { anyHost, cacheHint } from "../surface/surface.ts";
import { executeCode } from "../tools/execute-code.ts";
import { type ModernClient, openRequest, taskRules } from "./client.ts";
import { capabilitiesOf } from "./envelope.ts";
import type { OpenRequest } from "./open-request.ts";
import type { TaskRules } from "./parked-requests.ts";
import type { StoredTask } from "./tasks.ts";

/** Makes the SDK's server for one request or one connection, not connected yet. */
export function modernCodeServer(session: CodeSession, client: ModernClient, instructions: string): CodeServer {
  const cacheHints = { "tools/list": cacheHint, "server/discover": cacheHint };
  const server = new ModernCodeServer(() => session.skills(), { instructions, cacheHints });
  const calls = new ClientCalls(session, client);
  server.setRequestHandler("tools/list", () => ({ tools: session.tools(anyHost) }));
  server.setRequestHandler("tools/call", (received, context) => calls.answer(received, context));
  client.tasks.serve(server, (stored, context) => calls.revive(stored, context));
  return server;
}

/** Announces tasks, which only this era has. */
class ModernCodeServer extends CodeServer {
  override getCapabilities(): ServerCapabilities {
    return withTasks(super.getCapabilities());
  }
}

/** The calls of one client. */
class ClientCalls {
  readonly #session: CodeSession;
  readonly #client: ModernClient;

  constructor(session: CodeSession, client: ModernClient) {
    this.#session = session;
    this.#client = client;
  }

  /** Answers one round of a call. */
  async answer(received: ReceivedRequest, context: ServerContext): Promise<Result & { content: [] }> {
    const rules = this.#rules(context);
    const work = (open: OpenRequest) => this.#work(open, rules);
    const resume = ({ id, secret }: { id: string; secret: string }) => this.#resume(id, secret, context, rules);
    const result = await this.#client.parked.round(received, context, work, rules, resume);
    return result as Result & { content: [] };
  }

  /** Follows the stored execution of a request that another replica has had. Undefined if there is none of this client. */
  async #resume(id: string, secret: string, context: ServerContext, rules: TaskRules | undefined) {
    const { app } = this.#client.connections(capabilitiesOf(context));
    const executions = await app.executions();
    const claim = this.#client.tasks.claimOf(secret);
    if (app.isLocked || !(await executions.stored.hasClaim(id, claim, app))) return undefined;
    const params = { name: executeCode.name, arguments: { resume: id } };
    return (open: OpenRequest) => this.#work(open, rules, params);
  }

  /** Follows a stored execution, whose task was begun by an earlier process. Undefined if there is none with this claim. */
  async revive({ execution, claim }: StoredTask, context: ServerContext): Promise<OpenRequest | undefined> {
    const rules = this.#rules(context);
    const { app } = this.#client.connections(capabilitiesOf(context));
    const executions = await app.executions();
    if (!rules || app.isLocked || !(await executions.stored.hasClaim(execution, claim, app))) return undefined;
    const params = { name: executeCode.name, arguments: { resume: execution } };
    const received = { method: "tools/call", params };
    const open = this.#client.parked.begin(received, context, (begun) => this.#work(begun, rules));
    open.execution = await executions.follow(execution, app, this.#session.asker).catch(() => undefined);
    return open;
  }

  #rules(context: ServerContext): TaskRules | undefined {
    return taskRules(this.#client, context, { whenAsked: true });
  }

  /** The lists may not depend on the host, so neither do the tools that it may call. */
  async #work(open: OpenRequest, rules: TaskRules | undefined, params?: JsonObject): Promise<CallToolResult> {
    const request = openRequest(this.#client, open, rules);
    return await this.#session.call({ ...request, params: params ?? request.params, capabilities: anyHost });
  }
}

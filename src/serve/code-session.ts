/** Code mode for one agent, in every era of the protocol: our two or three tools, their calls, and what was counted and said before. */
import {
  type CallToolRequest,
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type Tool,
} from "@modelcontextprotocol/server";
import type { App } from "../app/app.ts";
import { toClaudikinsError } from "../base/errors.ts";
import type { Asker } from "../programs/asker.ts";
import { textResult, withFigures } from "./content/bounded-content.ts";
import { ProgressReporter } from "./progress.ts";
import { SessionCount } from "./session-count.ts";
import { servedSkills } from "./skills/served-skills.ts";
import { type Surface, toolsFor } from "./surface.ts";
import type { HostIdentity, ToolCallContext } from "./tools/call-context.ts";
import { callExecuteCode } from "./tools/execute-code.ts";
import { callExecuteTask } from "./tools/execute-task.ts";
import { callSearchTools } from "./tools/search-tools.ts";

type Handler = (
  args: Record<string, unknown>,
  app: App,
  signal: AbortSignal,
  context?: ToolCallContext,
) => Promise<CallToolResult>;

const handlers: ReadonlyMap<string, Handler> = new Map([
  ["search_tools", callSearchTools],
  ["execute_code", callExecuteCode],
  ["execute_task", callExecuteTask],
]);

interface CodeCall {
  params: CallToolRequest["params"];
  /** The agent's. */
  capabilities: object | undefined;
  host: HostIdentity | undefined;
  /** Where the call finds its servers. It may be locked. */
  app: App;
  signal: AbortSignal;
  task?: Pick<ToolCallContext, "isTask" | "claim" | "onExecution"> | undefined;
  /** Sends one notification of progress. Undefined if the agent wants none. */
  sendProgress: ((progress: number, message: string) => void) | undefined;
}

export class CodeSession {
  /** The agent. */
  readonly asker: Asker;
  readonly #surface: Surface;
  #count: SessionCount;
  /** The app that is counted in: once the config is trusted, the unlocked one. */
  #app: App;
  /** Unusable servers that the model has been told about. */
  readonly #toldServers = new Set<string>();
  #toldProblem: string | undefined;

  constructor(app: App, surface: Surface, asker: Asker, count?: SessionCount) {
    this.asker = asker;
    this.#app = app;
    this.#surface = surface;
    this.#count = count ?? new SessionCount(app, surface.instructions);
  }

  /** `capabilities` are the agent's. */
  tools(capabilities: object | undefined): Tool[] {
    const tools = toolsFor(this.#surface, capabilities);
    this.#count.listed(tools);
    return tools;
  }

  /** The text of each skill by its URI. Those of a workspace are served once its config is trusted. */
  skills(): ReadonlyMap<string, string> {
    return servedSkills(this.#app.isLocked ? undefined : this.#app.config.folders);
  }

  rootsChanged(): void {
    this.#app.pool.rootsChanged();
  }

  /** Every failure of a call is a result. Throws a ProtocolError if there is no such tool. */
  async call({ params, capabilities, host, app, signal, task, sendProgress }: CodeCall): Promise<CallToolResult> {
    const names = toolsFor(this.#surface, capabilities).map(({ name }) => name);
    const call = names.includes(params.name) ? handlers.get(params.name) : undefined;
    if (!call) {
      const message = `There is no tool "${params.name}", only ${names.join(" and ")}`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
    const reporter = sendProgress && new ProgressReporter(sendProgress);
    const onProgress = reporter && ((line: string) => reporter.report(line));
    try {
      const args = params.arguments ?? {};
      const startedAt = performance.now();
      const opened = await this.#unlocked(app, capabilities, signal);
      using _work = opened.restTimer.running();
      await opened.reload?.refresh();
      const called = await call(args, opened, signal, {
        onProgress,
        told: this.#toldServers,
        host,
        asker: this.asker,
        ...task,
      });
      const result = withFigures(this.#withProblem(called, opened.reload?.problem), startedAt);
      this.#count.answered(params.name, args, result);
      return result;
    } catch (thrown) {
      return textResult(toClaudikinsError(thrown).text, true);
    } finally {
      reporter?.end();
    }
  }

  /** Throws CONFIG_NOT_TRUSTED while the app is locked. */
  async #unlocked(app: App, capabilities: object | undefined, signal: AbortSignal): Promise<App> {
    const opened = await app.unlock(signal);
    // A locked app has a ledger of its own. Another call may have unlocked it meanwhile.
    if (opened.ledger !== this.#app.ledger) {
      this.#app = opened;
      this.#count = new SessionCount(opened, this.#surface.instructions);
      this.#count.listed(toolsFor(this.#surface, capabilities));
    }
    return opened;
  }

  /** Reports a problem with a changed config once. */
  #withProblem(result: CallToolResult, problem: string | undefined): CallToolResult {
    const isNew = problem !== undefined && problem !== this.#toldProblem;
    this.#toldProblem = problem;
    return isNew ? { ...result, content: [...result.content, { type: "text", text: `Note: ${problem}` }] } : result;
  }
}

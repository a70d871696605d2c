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
import { hasTriggers } from "../programs/events/places.ts";
import { ownerIn, type RequestingAgent } from "../programs/execution/asker.ts";
import { textResult, withFigures } from "./content/bounded-content.ts";
import type { HostRequest } from "./host-request.ts";
import { observedAnswer } from "./observed-answer.ts";
import { SessionCount } from "./session-count.ts";
import { servedSkills } from "./skills/served-skills.ts";
import { type Surface, toolsFor } from "./surface/surface.ts";
import type { ToolCallContext } from "./tools/call-context.ts";
import { callExecuteCode } from "./tools/execute-code.ts";
import { callExecuteTask } from "./tools/execute-task.ts";
import { callSearchTools } from "./tools/search-tools.ts";

/** Time between two notifications about progress: at most ten per second. */
const progressGapMs = 100;

/** A call that has no result after this time becomes a task. Before, it ends sooner without one. */
const taskAfterMs = 5_000;

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

export class CodeSession {
  /** The agent. */
  readonly asker: RequestingAgent;
  readonly #surface: Surface;
  #count: SessionCount;
  /** The app that is counted in: once the config is trusted, the unlocked one. */
  #app: App;
  /** Unusable servers that answers have mentioned. */
  readonly #mentionedServers = new Set<string>();
  /** The observed types that answers have told, by the ids of the tools. */
  readonly #saidTypes = new Map<string, string>();
  #mentionedProblem: string | undefined;
  /** Whether an answer has told what saved programs did before. */
  #hasToldNews = false;

  constructor(app: App, surface: Surface, asker: RequestingAgent, count?: SessionCount) {
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

  /** The text of each skill by its URI. A workspace's skills are served once its config is trusted. */
  skills(): ReadonlyMap<string, string> {
    return servedSkills(this.#app.isLocked ? undefined : this.#app.config.folders);
  }

  rootsChanged(): void {
    this.#app.pool.rootsChanged();
  }

  /** Answers `tools/call`, whose parameters the SDK has checked. Every failure is a result, except a ProtocolError for an unknown tool. */
  async call(request: HostRequest): Promise<CallToolResult> {
    const { name, arguments: args = {} } = request.params as CallToolRequest["params"];
    const handler = this.#handlerOf(name, request.capabilities);
    using _questions = request.allowQuestions();
    using _late = laterAsTask(request);
    const reporter = reporterOf(request);
    const onProgress = reporter && ((line: string) => reporter.report(line));
    const { capabilities, identity, signal, task, claimed } = request;
    try {
      const startedAt = performance.now();
      const app = await this.#unlocked(request.app, capabilities, signal);
      using _work = app.idleTimer.running();
      const said = { mentioned: this.#mentionedServers, saidTypes: this.#saidTypes };
      const context = { onProgress, ...said, identity, asker: this.asker, task, claimed };
      const called = await observedAnswer(request, app, name, (observed) =>
        handler(args, app, signal, { ...context, ...observed }),
      );
      const told = this.#hasToldNews ? called : await this.#withNews(called, app);
      const result = withFigures(this.#withProblem(told, request.app.waitsFor ?? app.reload?.problem), startedAt);
      this.#count.answered(name, args, result);
      return result;
    } catch (thrown) {
      return textResult(toClaudikinsError(thrown).text, true);
    } finally {
      reporter?.end();
    }
  }

  #handlerOf(tool: string, capabilities: object | undefined): Handler {
    const names = toolsFor(this.#surface, capabilities).map(({ name }) => name);
    const handler = names.includes(tool) ? handlers.get(tool) : undefined;
    if (handler) return handler;
    const message = `There is no tool "${tool}", only ${names.join(" and ")}`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  }

  /** Throws CONFIG_NOT_TRUSTED while the app is locked. */
  async #unlocked(app: App, capabilities: object | undefined, signal: AbortSignal): Promise<App> {
    const opened = await app.ready(signal);
    // A locked app has a ledger of its own. Another call may have unlocked it meanwhile.
    if (opened.ledger !== this.#app.ledger) {
      this.#app = opened;
      this.#count = new SessionCount(opened, this.#surface.instructions);
      this.#count.listed(toolsFor(this.#surface, capabilities));
    }
    return opened;
  }

  /** Adds what saved programs have done, to the first answer of the session and if the user has asked for it. Programs are the user's. */
  async #withNews(result: CallToolResult, app: App): Promise<CallToolResult> {
    this.#hasToldNews = true;
    if (!hasTriggers(app.config.savedPrograms) || !isUser(this.asker, app)) return result;
    const { agentNews } = await import("../programs/events/agent-news.ts");
    const text = await agentNews(app).catch(() => undefined);
    return text === undefined ? result : { ...result, content: [...result.content, { type: "text", text }] };
  }

  /** Reports a problem with the config once. */
  #withProblem(result: CallToolResult, problem: string | undefined): CallToolResult {
    const isNew = problem !== undefined && problem !== this.#mentionedProblem;
    this.#mentionedProblem = problem;
    return isNew ? { ...result, content: [...result.content, { type: "text", text: `Note: ${problem}` }] } : result;
  }
}

/** Whether the agent is the user's, and not that of a token or a person. */
function isUser({ starter }: RequestingAgent, { config }: App): boolean {
  return ownerIn(starter) === undefined && config.person === undefined;
}

/** Ends the request with a task when its answer would come late. Undefined if that may not happen. */
function laterAsTask({ app, task }: HostRequest): Disposable | undefined {
  const { answerAfterMs = taskAfterMs } = app.config.executions;
  if (!task || answerAfterMs === false) return undefined;
  const timer = setTimeout(() => task.takesLong(), Math.min(answerAfterMs, taskAfterMs));
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/** Undefined if the host does not want to know what the request does. */
function reporterOf({ sendProgress, task }: HostRequest): ProgressReporter | undefined {
  if (!sendProgress && !task) return undefined;
  return new ProgressReporter((progress, message) => {
    task?.onStatus(message);
    sendProgress?.({ progress, message });
  });
}

/**
 * Sends `notifications/progress` for one call. The notifications stay in order, are limited in rate, include the last one, and end
 * before the answer.
 */
export class ProgressReporter {
  readonly #send: (progress: number, message: string) => void;
  #count = 0;
  #message = "";
  #sent = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ended = false;

  constructor(send: (progress: number, message: string) => void) {
    this.#send = send;
  }

  /** Reports one more step. If steps come too fast, only the last one is sent, with the number of all. */
  report(message: string): void {
    if (this.#ended) return;
    this.#count += 1;
    this.#message = message;
    const restMs = this.#sentAt + progressGapMs - performance.now();
    if (restMs <= 0) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), restMs);
  }

  /** Call this before the answer is sent. */
  end(): void {
    if (this.#count > this.#sent) this.#flush();
    clearTimeout(this.#timer);
    this.#ended = true;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sent = this.#count;
    this.#sentAt = performance.now();
    this.#send(this.#count, this.#message);
  }
}

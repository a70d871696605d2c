/**
 * The extension `io.modelcontextprotocol/tasks` of MCP 2026-07-28: a call that takes long ends with a task, and its work goes on. The
 * host asks for the state of the task, and answers its questions.
 */
import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { tasksExtension, withTasks } from "../../clients/tasks-extension.ts";
import { messageOf } from "../../errors.ts";
import { isObject, type JsonObject } from "../../json-object.ts";
import { capabilitiesOf } from "./envelope.ts";
import type { OpenRequest } from "./open-request.ts";

/** The suggested time between two requests for the state, in milliseconds. */
const pollIntervalMs = 1_000;

export interface TasksOptions {
  /** Time that the outcome of a task is kept, in milliseconds. */
  keepMs: number;
  /** Maximum number of tasks that work. Requests beyond it do not become tasks. */
  maxWorking: number;
  /** Maximum number of tasks. Beyond it, the outcome that ended first is dropped. */
  maxKept: number;
}

type End =
  | { status: "completed"; result: JsonObject }
  | { status: "failed"; error: JsonObject }
  | { status: "cancelled" };

/** The state of a task, as the protocol has it. */
export interface TaskState extends JsonObject {
  taskId: string;
  status: End["status"] | "working" | "input_required";
}

class Task {
  readonly id: string;
  readonly open: OpenRequest;
  readonly #createdAt = Date.now();
  readonly #keepMs: number;
  #changedAt = this.#createdAt;
  #end: End | undefined;
  #status: TaskState["status"] = "working";

  constructor(id: string, open: OpenRequest, keepMs: number) {
    this.id = id;
    this.open = open;
    this.#keepMs = keepMs;
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  end(end: End): void {
    this.#end ??= end;
  }

  /** The fields of every state, which the host also gets when the task is created. */
  get head(): TaskState {
    const { status } = this.#end ?? { status: this.open.questions > 0 ? "input_required" : "working" };
    if (status !== this.#status) this.#changedAt = Date.now();
    this.#status = status;
    const { statusMessage } = this.open;
    return {
      taskId: this.id,
      status,
      ...(statusMessage === undefined || this.#end ? {} : { statusMessage }),
      createdAt: new Date(this.#createdAt).toISOString(),
      lastUpdatedAt: new Date(this.#changedAt).toISOString(),
      // As long as it works, it may take any time.
      ttlMs: this.#end ? this.#changedAt - this.#createdAt + this.#keepMs : null,
      pollIntervalMs,
    };
  }

  get state(): TaskState {
    const { head } = this;
    if (head.status === "input_required") return { ...head, inputRequests: this.open.asked };
    return { ...head, ...this.#end };
  }
}

/** The tasks of one client. */
export class Tasks implements Disposable {
  readonly #options: TasksOptions;
  readonly #tasks = new Map<string, Task>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #listeners = new Set<(state: TaskState) => void>();

  constructor(options: TasksOptions) {
    this.#options = options;
  }

  /** Tasks that have not ended. */
  get working(): number {
    return [...this.#tasks.values()].filter(({ hasEnded }) => !hasEnded).length;
  }

  /** All tasks, with those whose outcome is kept. */
  get size(): number {
    return this.#tasks.size;
  }

  get hasRoom(): boolean {
    return this.working < this.#options.maxWorking;
  }

  /** Makes a task of a request whose host supports it. Returns the result of the request. */
  adopt(open: OpenRequest): Result {
    const task = new Task(open.id, open, this.#options.keepMs);
    this.#tasks.set(task.id, task);
    open.becomeTask(() => this.#changed(task));
    void open.work.then(
      (result) => this.#ended(task, { status: "completed", result: { resultType: "complete", ...result } }),
      (error: unknown) => this.#ended(task, { status: "failed", error: errorShape(error) }),
    );
    return { resultType: "task", ...task.head };
  }

  /** Undefined if there is no such task. */
  state(id: string): TaskState | undefined {
    return this.#tasks.get(id)?.state;
  }

  /** Calls the listener with each change of a task. Returns a function that ends this. */
  onChange(listener: (state: TaskState) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Handles the requests of the extension. */
  serve(server: Pick<Server, "setRequestHandler">): void {
    server.setRequestHandler("tasks/get", { params }, ({ taskId }, context) => this.#named(taskId, context).state);
    server.setRequestHandler("tasks/update", { params }, ({ taskId }, context) => {
      this.#named(taskId, context).open.answer(context.mcpReq.inputResponses ?? {});
      return {};
    });
    server.setRequestHandler("tasks/cancel", { params }, ({ taskId }, context) => {
      const task = this.#named(taskId, context);
      task.open.cancel();
      this.#ended(task, { status: "cancelled" });
      return {};
    });
  }

  /** Throws a ProtocolError if the host does not announce the extension, or has no such task. */
  #named(id: string, context: ServerContext): Task {
    if (!takesTasks(capabilitiesOf(context))) throw tasksRequired();
    const task = this.#tasks.get(id);
    if (!task) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such task, or it has expired");
    task.open.capabilities = capabilitiesOf(context);
    return task;
  }

  #ended(task: Task, end: End): void {
    if (task.hasEnded) return;
    task.end(end);
    this.#changed(task);
    this.#timers.set(task.id, setTimeout(() => this.#drop(task.id), this.#options.keepMs).unref());
    const ended = [...this.#tasks.values()].filter(({ hasEnded }) => hasEnded);
    if (this.#tasks.size > this.#options.maxKept && ended[0]) this.#drop(ended[0].id);
  }

  #drop(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.#tasks.delete(id);
  }

  #changed(task: Task): void {
    if (this.#listeners.size === 0) return;
    const { state } = task;
    for (const listener of this.#listeners) listener(state);
  }

  [Symbol.dispose](): void {
    for (const id of this.#tasks.keys()) this.#drop(id);
  }
}

const params = z.object({ taskId: z.string() });

/** Whether a host with these capabilities may be given a task. */
export function takesTasks(capabilities: { extensions?: unknown }): boolean {
  return isObject(capabilities.extensions) && isObject(capabilities.extensions[tasksExtension]);
}

/** The error for hosts that use tasks without announcing the extension. */
export function tasksRequired(): MissingRequiredClientCapabilityError {
  return new MissingRequiredClientCapabilityError({ requiredCapabilities: withTasks({}) });
}

/** The error that the request would have been answered with. */
function errorShape(error: unknown): JsonObject {
  const { code, data } = Object(error) as { code?: unknown; data?: unknown };
  return {
    code: Number.isSafeInteger(code) ? code : ProtocolErrorCode.InternalError,
    message: messageOf(error),
    ...(data === undefined ? {} : { data }),
  };
}

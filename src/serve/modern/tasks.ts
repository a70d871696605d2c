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
import { messageOf } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { sha256 } from "../../base/sha256.ts";
import { tasksExtension, withTasks } from "../../servers/connection/tasks-extension.ts";
import { capabilitiesOf } from "./envelope.ts";
import { type OpenRequest, senderOf } from "./open-request.ts";

/** The suggested time between two requests for the state of a task. */
const taskPollMs = 1_000;

interface TasksOptions {
  /** Time that the outcome of a task is kept, in milliseconds. */
  keepMs: number;
  /** Maximum number of tasks that work. Requests beyond it do not become tasks. */
  maxWorking: number;
  /** Maximum number of tasks. Beyond it, the outcome that ended first is dropped. */
  maxKept: number;
  /** The client. Only it can find its stored tasks. */
  owner: string;
  /** The name of this replica, if there are others. */
  replica?: string | undefined;
}

const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const ofExecution = new RegExp(`^([0-9a-z]+)\\.(${uuid})$`);
const ofReplica = new RegExp(`^(${uuid})\\.${uuid}$`);

/** What the id of a task says: its stored execution, or the replica that has it in memory. */
export function partsOfTask(id: unknown): { execution?: string; secret?: string; replica?: string } {
  if (typeof id !== "string") return {};
  const [, execution, secret] = ofExecution.exec(id) ?? [];
  if (execution !== undefined && secret !== undefined) return { execution, secret };
  const [, replica] = ofReplica.exec(id) ?? [];
  return replica === undefined ? {} : { replica };
}

/** What the id of a task says about its execution in the store. */
export interface StoredTask {
  execution: string;
  claim: string;
}

/** Begins a request that follows a stored execution. Undefined if there is none with this claim. */
type Reviver = (stored: StoredTask, context: ServerContext) => Promise<OpenRequest | undefined>;

type TaskEnd =
  | { status: "completed"; result: JsonObject }
  | { status: "failed"; error: JsonObject }
  | { status: "cancelled" };

/** The state of a task, as the protocol has it. */
export interface TaskState extends JsonObject {
  taskId: string;
  status: TaskEnd["status"] | "working" | "input_required";
}

/** Listeners read the state only to send it to the host: reading it allows the host to answer its questions. */
type TaskListener = (task: { readonly id: string; readonly state: TaskState }) => void;

class Task {
  readonly id: string;
  readonly open: OpenRequest;
  readonly #createdAt: number;
  readonly #keepMs: number;
  #changedAt = Date.now();
  #end: TaskEnd | undefined;
  #status: TaskState["status"] = "working";

  constructor(id: string, open: OpenRequest, keepMs: number) {
    this.id = id;
    this.open = open;
    this.#keepMs = keepMs;
    this.#createdAt = open.execution?.startedAt ?? this.#changedAt;
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  end(end: TaskEnd): void {
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
      pollIntervalMs: taskPollMs,
    };
  }

  /** The state for the host, with the questions that it may answer from now on. */
  get state(): TaskState {
    const { head } = this;
    if (head.status === "input_required") return { ...head, inputRequests: this.open.show() };
    return { ...head, ...this.#end };
  }
}

/** The tasks of one client. */
export class Tasks implements Disposable {
  readonly #options: TasksOptions;
  readonly #tasks = new Map<string, Task>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #listeners = new Set<TaskListener>();
  readonly #reviving = new Map<string, Promise<OpenRequest | undefined>>();

  constructor(options: TasksOptions) {
    this.#options = options;
  }

  /** Tasks that have not ended. */
  get working(): number {
    return [...this.#tasks.values()].filter(({ hasEnded }) => !hasEnded).length;
  }

  /** All tasks, including the ones that have ended. */
  get size(): number {
    return this.#tasks.size;
  }

  get hasRoom(): boolean {
    return this.working < this.#options.maxWorking;
  }

  /** Makes a task of a request. The host must support tasks. Returns the result of the request. */
  adopt(open: OpenRequest): Promise<Result> {
    const { execution, secret } = open;
    const { replica } = this.#options;
    const own = replica === undefined ? open.id : `${replica}.${open.id}`;
    return this.#add(execution ? `${execution.id}.${secret}` : own, open);
  }

  async #add(id: string, open: OpenRequest): Promise<Result> {
    const task = new Task(id, open, this.#options.keepMs);
    this.#tasks.set(task.id, task);
    // From now on, the execution outlives this process.
    const stored = open.execution?.handOut();
    open.becomeTask(() => this.#changed(task));
    /** When claudikins ends, the execution does not, and another process can say how it has ended. */
    const goesOn = () => open.signal.aborted && open.execution !== undefined;
    void open.work.then(
      (result) => goesOn() || this.#ended(task, { status: "completed", result: { resultType: "complete", ...result } }),
      (error: unknown) => goesOn() || this.#ended(task, { status: "failed", error: errorShape(error) }),
    );
    await stored;
    return { resultType: "task", ...task.head };
  }

  /** The claim of an execution that may become a task with this secret. */
  claimOf(secret: string): string {
    return sha256(`${secret}\n${this.#options.owner}`);
  }

  /** Calls the listener after each change of a task. Returns a function that ends this. */
  onChange(listener: TaskListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Handles the requests of the extension. `revive` finds tasks of earlier processes. */
  serve(server: Pick<Server, "setRequestHandler">, revive?: Reviver): void {
    const named = (id: string, context: ServerContext) => this.#named(id, context, revive);
    server.setRequestHandler(
      "tasks/get",
      { params },
      async ({ taskId }, context) => (await named(taskId, context)).state,
    );
    server.setRequestHandler("tasks/update", { params }, async ({ taskId }, context) => {
      (await named(taskId, context)).open.answer(context.mcpReq.inputResponses ?? {}, senderOf(context));
      return {};
    });
    server.setRequestHandler("tasks/cancel", { params }, async ({ taskId }, context) => {
      const task = await named(taskId, context);
      task.open.execution?.cancel();
      task.open.cancel();
      this.#ended(task, { status: "cancelled" });
      return {};
    });
  }

  /** Throws a ProtocolError if the host does not announce the extension, or has no such task. */
  async #named(id: string, context: ServerContext, revive: Reviver | undefined): Promise<Task> {
    if (!takesTasks(capabilitiesOf(context))) throw tasksRequired();
    const task = this.#tasks.get(id) ?? (revive && (await this.#revived(id, context, revive)));
    if (!task) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such task, or it has expired");
    task.open.capabilities = capabilitiesOf(context);
    return task;
  }

  /** A task of an earlier process: its execution is in the store. Two requests may ask for it at once. */
  async #revived(id: string, context: ServerContext, revive: Reviver): Promise<Task | undefined> {
    const { execution, secret } = partsOfTask(id);
    if (execution === undefined || secret === undefined) return undefined;
    const reviving = this.#reviving.get(id) ?? revive({ execution, claim: this.claimOf(secret) }, context);
    this.#reviving.set(id, reviving);
    const open = await reviving.finally(() => this.#reviving.delete(id));
    if (open && !this.#tasks.has(id)) await this.#add(id, open);
    return this.#tasks.get(id);
  }

  #ended(task: Task, end: TaskEnd): void {
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
    for (const listener of this.#listeners) listener(task);
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

/**
 * Follows a call that its server answers as a task, until the task has ended: asks for its state, answers its questions, and cancels it
 * with the call (extension `io.modelcontextprotocol/tasks` of MCP 2026-07-28).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { isObject, type JsonObject } from "../../base/json-object.ts";

/** Requests for the state of a task that may fail in a row, because a network may be away for a while. */
const maxTaskPollFailures = 3;

/** Time for the server to take note that a task was cancelled. */
const taskCancelMs = 5_000;

export interface TaskServer {
  /** Sends a request. Rejects with ProtocolError if the server answers with an error. */
  send(
    method: "tasks/get" | "tasks/update" | "tasks/cancel",
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonObject>;
  /** Answers a question. */
  answer(key: string, question: JsonObject, signal: AbortSignal): Promise<unknown>;
  /** Called when the call has become a task, and with each state of it. */
  onState(message: string | undefined): void;
}

/** The time between two requests for the state, in milliseconds, if the server suggests none, and its bounds. */
const pollMs = { usual: 1_000, min: 20, max: 60_000 };

/** Resolves with the result of the call. Rejects with ProtocolError if the task failed, and when `signal` is aborted. */
export async function resultOfTask(created: JsonObject, server: TaskServer, signal: AbortSignal): Promise<JsonObject> {
  const { taskId } = created;
  if (typeof taskId !== "string") throw new SdkError(SdkErrorCode.InvalidResult, "the server's task has no taskId");
  const failed = new AbortController();
  const over = AbortSignal.any([signal, failed.signal]);
  const questions = new TaskQuestions(taskId, server, over, (error) => failed.abort(error));
  try {
    let task = created;
    for (let failures = 0; ; ) {
      server.onState(typeof task["statusMessage"] === "string" ? task["statusMessage"] : undefined);
      await sleep(delayOf(task), undefined, { signal: over });
      try {
        task = await server.send("tasks/get", { taskId }, over);
        failures = 0;
      } catch (error) {
        failures += 1;
        if (error instanceof ProtocolError || over.aborted || failures >= maxTaskPollFailures) throw error;
        continue;
      }
      switch (task["status"]) {
        case "completed":
          return Object(task["result"]) as JsonObject;
        case "failed":
          throw errorIn(task["error"]);
        case "cancelled":
          throw new ProtocolError(ProtocolErrorCode.InternalError, "the server has cancelled its task");
        default:
          questions.replace(
            task["status"] === "input_required" && isObject(task["inputRequests"]) ? task["inputRequests"] : {},
          );
      }
    }
  } catch (error) {
    if (over.aborted) void server.send("tasks/cancel", { taskId }, AbortSignal.timeout(taskCancelMs)).catch(() => {});
    throw failed.signal.aborted ? failed.signal.reason : error;
  } finally {
    questions.withdraw();
  }
}

function delayOf({ pollIntervalMs }: JsonObject): number {
  const suggested = typeof pollIntervalMs === "number" && pollIntervalMs > 0 ? pollIntervalMs : pollMs.usual;
  return Math.min(Math.max(suggested, pollMs.min), pollMs.max);
}

function errorIn(error: unknown): ProtocolError {
  const { code, message, data } = Object(error) as JsonObject;
  const known = Number.isSafeInteger(code) ? Number(code) : ProtocolErrorCode.InternalError;
  return new ProtocolError(known, typeof message === "string" ? message : "the server's task failed", data);
}

/** The questions of one task. Each is answered once, as soon as its answer is there. */
class TaskQuestions {
  readonly #open = new Map<string, AbortController>();
  readonly #answered = new Set<string>();
  readonly #taskId: string;
  readonly #server: TaskServer;
  readonly #signal: AbortSignal;
  readonly #onFailure: (error: unknown) => void;

  constructor(taskId: string, server: TaskServer, signal: AbortSignal, onFailure: (error: unknown) => void) {
    this.#taskId = taskId;
    this.#server = server;
    this.#signal = signal;
    this.#onFailure = onFailure;
  }

  /** Starts new questions, and withdraws questions that the server no longer asks. */
  replace(asked: JsonObject): void {
    for (const key of this.#open.keys()) if (!Object.hasOwn(asked, key)) this.#end(key);
    for (const [key, question] of Object.entries(asked)) {
      if (!isObject(question) || this.#open.has(key) || this.#answered.has(key)) continue;
      const withdrawn = new AbortController();
      this.#open.set(key, withdrawn);
      void this.#answer(key, question, withdrawn.signal);
    }
  }

  withdraw(): void {
    for (const key of this.#open.keys()) this.#end(key);
  }

  #end(key: string): void {
    this.#open.get(key)?.abort();
    this.#open.delete(key);
  }

  async #answer(key: string, question: JsonObject, withdrawn: AbortSignal): Promise<void> {
    try {
      const answer = await this.#server.answer(key, question, AbortSignal.any([withdrawn, this.#signal]));
      if (withdrawn.aborted) return;
      this.#answered.add(key);
      this.#open.delete(key);
      const inputResponses = { [key]: answer };
      await this.#server.send("tasks/update", { taskId: this.#taskId, inputResponses }, this.#signal);
    } catch (error) {
      if (!withdrawn.aborted) this.#onFailure(error);
    }
  }
}

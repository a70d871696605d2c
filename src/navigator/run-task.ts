/** Runs a task given in words: chooses one tool, fills in its arguments, and calls it. Keeps no state between tasks. */

import { ClaudikinsError } from "../errors.ts";
import type { Parts } from "../execution/parts.ts";
import type { JsonObject } from "../json-object.ts";
import { toolId } from "../registry/model.ts";
import { oneLine } from "../visible-text.ts";
import { AskedModel, refuseCancelled } from "./asked-model.ts";
import { fillIn } from "./fill-in.ts";
import { makeCall } from "./make-call.ts";
import type { Model, TaskFailed, TaskOptions, TaskOutcome, TaskReceipt } from "./model.ts";
import type { ServerTool } from "./options.ts";
import { walk } from "./walk.ts";

/** Longer tasks would cost their tokens again at every level. */
const maxTaskChars = 20_000;
/** Maximum number of unavailable servers that a failure names. */
const maxMissed = 5;

/** Never throws: a failure, also a cancelled task, is an outcome with `error.type`, a code of `errors.ts`, and the steps so far. */
export async function runTask(options: TaskOptions, model: Model, parts: Parts): Promise<TaskOutcome> {
  const signal = options.signal ?? new AbortController().signal;
  const run = new Run(options, signal, new AskedModel(model, signal), parts);
  try {
    return await run.run();
  } catch (error) {
    if (error instanceof ClaudikinsError) return run.failed(error);
    throw error;
  }
}

class Run {
  readonly #options: TaskOptions;
  readonly #signal: AbortSignal;
  readonly #model: AskedModel;
  readonly #parts: Parts;
  readonly #startedAt = performance.now();
  #tool: string | undefined;
  #callMs: number | undefined;

  constructor(options: TaskOptions, signal: AbortSignal, model: AskedModel, parts: Parts) {
    this.#options = options;
    this.#signal = signal;
    this.#model = model;
    this.#parts = parts;
  }

  async run(): Promise<TaskOutcome> {
    const task = checkedTask(this.#options.task);
    const problems = await this.#parts.catalog.fetchMissing(this.#signal);
    refuseCancelled(this.#signal);
    const { found, isAny, near } = await walk(task, this.#parts, this.#model, this.tell);
    if (!found) throw noTool(isAny, near, problems);
    const tool = toolId(found.server.name, found.tool.name);
    this.#tool = tool;
    const { askForMissing, dryRun } = this.#options;
    const filled = await fillIn(found, { task, askForMissing, signal: this.#signal }, this.#model);
    if ("needs" in filled) {
      const hint = "Repeat the task with these values in it.";
      return {
        ...this.failed(new ClaudikinsError("INVALID_ARGUMENTS", filled.why, { hint })),
        needs_input: filled.needs,
      };
    }
    const { args } = filled;
    const planned = { success: true, tool_used: tool, arguments: args } as const;
    if (dryRun) {
      this.#parts.pool.refuseDenied(found.server.name, found.tool.name);
      return { ...planned, dry_run: true, receipt: this.#receipt };
    }
    refuseCancelled(this.#signal);
    const result = await this.#called(found, args);
    return { ...planned, result, receipt: this.#receipt };
  }

  async #called(found: ServerTool, args: JsonObject): Promise<unknown> {
    this.tell(`calling ${this.#tool}`);
    const calledAt = performance.now();
    try {
      return await makeCall(found, args, { parts: this.#parts, signal: this.#signal, tell: this.tell });
    } finally {
      this.#callMs = Math.round(performance.now() - calledAt);
    }
  }

  failed({ code, message, hint }: ClaudikinsError): TaskFailed {
    return {
      success: false,
      ...(this.#tool === undefined ? {} : { tool_used: this.#tool }),
      error: { type: code, message, ...(hint === undefined ? {} : { suggestion: hint }) },
      receipt: this.#receipt,
    };
  }

  /** Reports a line. Names in it may contain control characters. */
  readonly tell = (line: string): void => this.#options.onProgress?.(oneLine(line, 200));

  get #receipt(): TaskReceipt {
    const callMs = this.#callMs === undefined ? {} : { callMs: this.#callMs };
    return { ...this.#model.receipt, ...callMs, totalMs: Math.round(performance.now() - this.#startedAt) };
  }
}

function checkedTask(task: string): string {
  const text = task.trim();
  if (text === "") throw new ClaudikinsError("USAGE", "The task is empty", { hint: "Say in one sentence what to do." });
  if (text.length <= maxTaskChars) return text;
  throw new ClaudikinsError("USAGE", `The task has ${text.length} characters; the limit is ${maxTaskChars}`);
}

function noTool(isAny: boolean, near: string[], problems: ReadonlyMap<string, string>): ClaudikinsError {
  const nearest = near.length > 0 ? `Nearest: ${near.join(", ")}.` : undefined;
  const missed = [...problems].slice(0, maxMissed).map(([name, why]) => `Not asked: ${name} (${why}).`);
  if (problems.size > maxMissed) missed.push(`${problems.size - maxMissed} more servers were not asked either.`);
  const hint = [nearest, ...missed].filter((each) => each !== undefined).join(" ");
  return new ClaudikinsError("TOOL_NOT_FOUND", isAny ? "No tool fits the task" : "No tools are known", {
    hint: hint || undefined,
  });
}

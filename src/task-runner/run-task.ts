/** Runs a task given in words: chooses one tool, fills in its arguments, and calls it. Keeps no state between tasks. */
import { ClaudikinsError } from "../base/errors.ts";
import { oneLine } from "../base/visible-text.ts";
import type { Parts } from "../programs/parts.ts";
import { toolId } from "../tools/model.ts";
import { AskedModel, refuseCancelled } from "./asked-model.ts";
import { fillIn } from "./fill-in.ts";
import { makeCall } from "./make-call.ts";
import type { Model, TaskFailed, TaskOptions, TaskOutcome, TaskReceipt } from "./model.ts";
import { walk } from "./walk.ts";

/** Characters of a task. Longer ones would cost their tokens again at every level. */
const maxTaskChars = 20_000;

/** Maximum number of unavailable servers that a failure names. */
const maxMissedServers = 5;

/** Never throws: a failure, also a cancelled task, is an outcome with `error.type`, a code of `errors.ts`, and the steps so far. */
export async function runTask(options: TaskOptions, model: Model, parts: Parts): Promise<TaskOutcome> {
  const { askForMissing, dryRun, trace, signal = new AbortController().signal } = options;
  const asked = new AskedModel(model, signal);
  const startedAt = performance.now();
  let tool: string | undefined;
  let callMs: number | undefined;
  try {
    const task = checkedTask(options.task);
    const problems = await parts.catalog.listMissing(signal);
    refuseCancelled(signal);
    const { found, isAny, near } = await walk(task, parts, asked, tell);
    if (!found) throw noTool(isAny, near, problems);
    tool = toolId(found.server.name, found.tool.name);
    const filled = await fillIn(found, { task, askForMissing, signal }, asked);
    if ("needs" in filled) {
      const hint = "Repeat the task with these values in it.";
      return {
        ...failed(new ClaudikinsError("INVALID_ARGUMENTS", filled.why, { hint })),
        needs_input: filled.needs,
      };
    }
    const planned = { success: true, tool_used: tool, arguments: filled.args } as const;
    if (dryRun) {
      parts.pool.refuseDenied(found.server.name, found.tool.name);
      return { ...planned, dry_run: true, receipt: receipt() };
    }
    refuseCancelled(signal);
    tell(`calling ${tool}`);
    const calledAt = performance.now();
    const result = await makeCall(found, filled.args, { parts, signal, trace, tell }).finally(() => {
      callMs = Math.round(performance.now() - calledAt);
    });
    return { ...planned, result, receipt: receipt() };
  } catch (error) {
    if (error instanceof ClaudikinsError) return failed(error);
    throw error;
  }

  function failed({ code, message, hint }: ClaudikinsError): TaskFailed {
    return {
      success: false,
      ...(tool === undefined ? {} : { tool_used: tool }),
      error: { type: code, message, ...(hint === undefined ? {} : { suggestion: hint }) },
      receipt: receipt(),
    };
  }

  /** Reports a line. Names in it may contain control characters. */
  function tell(line: string): void {
    options.onProgress?.(oneLine(line, 200));
  }

  function receipt(): TaskReceipt {
    const totalMs = Math.round(performance.now() - startedAt);
    return { ...asked.receipt, ...(callMs === undefined ? {} : { callMs }), totalMs };
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
  const missed = [...problems].slice(0, maxMissedServers).map(([name, why]) => `Not asked: ${name} (${why}).`);
  if (problems.size > maxMissedServers)
    missed.push(`${problems.size - maxMissedServers} more servers were not asked either.`);
  const hint = [nearest, ...missed].filter((each) => each !== undefined).join(" ");
  return new ClaudikinsError("TOOL_NOT_FOUND", isAny ? "No tool fits the task" : "No tools are known", {
    hint: hint || undefined,
  });
}

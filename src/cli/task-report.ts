/** What became of a task, as `run` says it: the value or the call on stdout, the way there and the receipt on stderr. */
import { randomUUID } from "node:crypto";
import { ClaudikinsError, type ErrorCode } from "../errors.ts";
import type { TaskOutcome, TaskPlanned, TaskStep } from "../navigator/model.ts";
import { taskReceiptText } from "../navigator/receipt-text.ts";
import { shellWord } from "../shell-word.ts";
import { dim, paint } from "./colours.ts";
import type { Io } from "./io.ts";
import { keptValue } from "./outcome-report.ts";
import { errorJson, errorText } from "./report.ts";

export interface TaskForm {
  json: boolean;
  colours: boolean;
  workspace: string;
}

/** The exit code: that of what went wrong; 2 where the task does not say all that the tool needs. */
export async function writeTask(outcome: TaskOutcome, { json, colours, workspace }: TaskForm, io: Io) {
  const error = outcome.success ? undefined : taskError(outcome.error);
  if (json) {
    if (error) await io.stderr.write(errorJson(error, { outcome }));
    else await io.stdout.write(`${JSON.stringify(outcome)}\n`);
    return error?.exitCode ?? 0;
  }
  if (error) await io.stderr.write(errorText(error, colours));
  else if ("dry_run" in outcome) await writePlan(outcome, io);
  else if ("result" in outcome) {
    const { shown, notes } = keptValue(outcome.result, workspace, randomUUID());
    await io.stderr.write(notes);
    await io.stdout.write(shown);
  }
  await io.stderr.write(`${paint(taskReceiptText(outcome), dim, colours)}\n`);
  return error?.exitCode ?? 0;
}

export function taskError({ type, message, suggestion }: { type: string; message: string; suggestion?: string }) {
  return new ClaudikinsError(type as ErrorCode, message, { hint: suggestion });
}

/** The call stands there as a command, so that it can be made as it is. */
async function writePlan({ receipt, tool_used, arguments: args }: TaskPlanned, io: Io): Promise<void> {
  await io.stderr.write(receipt.steps.map(stepText).join(""));
  const given = Object.keys(args).length === 0 ? "" : ` ${shellWord(JSON.stringify(args))}`;
  await io.stdout.write(`claudikins call ${shellWord(tool_used)}${given}\n`);
}

function stepText({ level, choice, options, offered, skipped }: TaskStep): string {
  const from = offered === undefined ? `of ${options}` : `of ${options}, ${offered} offered`;
  const how = level === "arguments" ? "" : ` (${skipped ? "the only one" : from})`;
  return `${level.padEnd(9)}  ${choice || "none"}${how}\n`;
}

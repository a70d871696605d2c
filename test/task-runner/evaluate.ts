/** How often the walk finds a right tool, and how often search ranks one first, for the same requests. */

import type { App } from "../../src/app/app.ts";
import type { Model, TaskReceipt } from "../../src/task-runner/model.ts";
import { runTask } from "../../src/task-runner/run-task.ts";
import { search } from "../../src/tools/search/search.ts";

export interface Request {
  text: string;
  /** The ids of the right tools. */
  right: ReadonlySet<string>;
}

export interface Walks {
  /** The share of right answers, from 0 to 1. */
  right: number;
  /** The average, without arguments. */
  tokens: number;
  modelCalls: number;
  missed: { request: Request; walked: string }[];
}

export function searchShare(requests: readonly Request[], app: App): number {
  const right = requests.filter(({ text, right }) => right.has(search(text, 1, app.catalog).tools[0]?.id ?? ""));
  return right.length / requests.length;
}

export async function walks(requests: readonly Request[], app: App, model: Model): Promise<Walks> {
  const missed: Walks["missed"] = [];
  const all = { tokens: 0, modelCalls: 0 };
  for (const request of requests) {
    const { tool_used: walked = "", receipt } = await runTask({ task: request.text, dryRun: true }, model, app);
    if (!request.right.has(walked)) missed.push({ request, walked });
    const { tokens, modelCalls } = costs(receipt);
    all.tokens += tokens;
    all.modelCalls += modelCalls;
  }
  const count = requests.length;
  return { right: 1 - missed.length / count, tokens: all.tokens / count, modelCalls: all.modelCalls / count, missed };
}

function costs({ steps }: TaskReceipt): { tokens: number; modelCalls: number } {
  const walked = steps.filter(({ level, skipped }) => level !== "arguments" && !skipped);
  return { tokens: walked.reduce((sum, { tokens }) => sum + tokens, 0), modelCalls: walked.length };
}

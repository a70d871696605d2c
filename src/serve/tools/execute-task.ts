/** The MCP tool `execute_task`: a small model picks one tool for a task in words and calls it. */
import type { CallToolResult, ContentBlock, ElicitRequestFormParams, Tool } from "@modelcontextprotocol/server";
import type { App } from "../../app/app.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { largeJsonChars } from "../../base/limits.ts";
import { withoutMedia } from "../../base/media.ts";
import type { Config } from "../../config/load.ts";
import { hasForms, type Responder } from "../../servers/connection/responder.ts";
import type { FilledForm, Model, TaskOptions, TaskOutcome } from "../../task-runner/model.ts";
import { fittingJson, type OutputOptions, textResult } from "../content/bounded-content.ts";
import { contentInWorker } from "../content/work.ts";
import type { ToolCallContext } from "./call-context.ts";

export const executeTask: Tool = {
  name: "execute_task",
  title: "Execute a task",
  description: "A small model picks one tool for a task in words, fills in its arguments and calls it.",
  inputSchema: {
    type: "object",
    properties: { task: { type: "string" }, dry_run: { type: "boolean" } },
    required: ["task"],
  },
  annotations: { destructiveHint: true, openWorldHint: true },
};

/** Whether an agent gets the tool: the config turns it on, and there is a model, of the config or of the agent. */
export function offersTasks({ executeTask: isOn, llm }: Config, host: { sampling: boolean }): boolean {
  return isOn && (llm !== undefined || host.sampling);
}

export async function callExecuteTask(
  args: Record<string, unknown>,
  app: App,
  signal: AbortSignal,
  { onProgress, trace, identity, asker }: ToolCallContext = {},
): Promise<CallToolResult> {
  const { task, dry_run: dryRun = false } = args;
  if (typeof task !== "string" || task.trim() === "")
    return textResult('execute_task needs "task": what to do, in one sentence', true);
  if (typeof dryRun !== "boolean") return textResult('"dry_run" must be true or false', true);
  const [model, { runTask }, { taskReceiptText }] = await Promise.all([
    modelFor(app),
    import("../../task-runner/run-task.ts"),
    import("../../task-runner/model.ts"),
  ]);
  const askForMissing = formsOf(app.pool.host.responder);
  const agent = { name: identity?.name ?? "", version: identity?.version ?? "" };
  const caller = { reads: app.pool.reads, agent, owner: asker?.starter?.owner };
  const outcome = await runTask({ task, dryRun, signal, trace, caller, onProgress, askForMissing }, model, app);
  const { folders, limits } = app.config;
  const { workspace, bases } = folders;
  const options = { maxChars: limits.outputChars, workspace, bases };
  const { value, media } = withoutMedia(shown(outcome));
  const text = await shownJson(value, options, app);
  return textResult(`${text}\n\n${taskReceiptText(outcome)}`, !outcome.success, media as ContentBlock[]);
}

/** A worker shows data that may go into a file, because the workspace is measured before. */
async function shownJson(value: unknown, options: OutputOptions, app: App): Promise<string> {
  const json = JSON.stringify(value);
  const small = json.length > largeJsonChars ? undefined : fittingJson(value, options);
  if (small !== undefined) return small;
  const { content } = await contentInWorker(json, { id: crypto.randomUUID(), options });
  await (await app.sharedWorkspace())?.keep();
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** Leaves out the arguments of a call that was made: the agent need not read them. */
function shown(outcome: TaskOutcome): object {
  if (!outcome.success) {
    const { success, tool_used, error, needs_input } = outcome;
    return { success, ...(tool_used ? { tool_used } : {}), error, ...(needs_input ? { needs_input } : {}) };
  }
  if ("dry_run" in outcome) {
    const { success, dry_run, tool_used, arguments: args } = outcome;
    return { success, dry_run, tool_used, arguments: args };
  }
  const { success, tool_used, result } = outcome;
  return { success, tool_used, result };
}

/** Chooses the model. Throws NEEDS_VARIABLE and NEEDS_SECRET. */
async function modelFor({ config, pool, log, env }: App): Promise<Model> {
  if (config.llm) {
    const { modelOf } = await import("../../task-runner/openai-model.ts");
    return modelOf(config.llm, env, { log });
  }
  const { responder } = pool.host;
  if (!responder?.sample || !responder.capabilities.sampling)
    throw new ClaudikinsError("MODEL_UNAVAILABLE", "No model is configured, and the host offers none");
  const { samplingModel } = await import("../../task-runner/sampling-model.ts");
  return samplingModel(responder.sample.bind(responder));
}

/** Undefined if the agent cannot show forms. */
function formsOf(responder: Responder | undefined): TaskOptions["askForMissing"] {
  if (!hasForms(responder)) return undefined;
  return async (message, schema, signal): Promise<FilledForm> => {
    const requestedSchema = schema as ElicitRequestFormParams["requestedSchema"];
    const asked = { server: "claudikins", signal };
    const { action, content } = await responder.elicit({ mode: "form", message, requestedSchema }, asked);
    return { action, content };
  };
}

/** `claudikins run`: a task in words; a small model picks the tool, and it is called. */

import { randomUUID } from "node:crypto";
import { maxTimeoutMs } from "../../config/defaults.ts";
import type { Environment } from "../../config/environment.ts";
import { entryNamed, type Llm, llmOf, type Preset, presets } from "../../config/llm.ts";
import { ClaudikinsError, type ErrorCode } from "../../errors.ts";
import { argumentsOf } from "../../execution/call-arguments.ts";
import { openLog } from "../../log.ts";
import {
  type FilledForm,
  type TaskOptions,
  type TaskOutcome,
  type TaskPlanned,
  type TaskStep,
  taskReceiptText,
} from "../../navigator/model.ts";
import { shellWord } from "../../shell-word.ts";
import { dim, hasColours, paint } from "../colours.ts";
import { command, commonArgs, several } from "../command.ts";
import { TerminalAsker } from "../consent.ts";
import { daemonArgs } from "../daemon-flag.ts";
import { duration } from "../flags.ts";
import type { Io } from "../io.ts";
import { keptValue } from "../outcome-report.ts";
import { Activity } from "../progress.ts";
import { errorJson, errorText } from "../report.ts";
import {
  about,
  anything,
  byName,
  either,
  list,
  named,
  number,
  oneOf,
  record,
  text,
  texts,
  yesOrNo,
} from "../shapes.ts";
import { terminalHost } from "../terminal-host.ts";
import { trustArgs } from "../trust-prompt.ts";

const step = record({
  level: oneOf("category", "server", "tool", "arguments"),
  options: number,
  "offered?": number,
  choice: text,
  skipped: yesOrNo,
  tokens: number,
  ms: number,
  "retried?": yesOrNo,
  "asked?": texts,
});

const receipt = named(
  "Receipt",
  record({
    model: text,
    steps: list(named("Step", step)),
    modelCalls: number,
    tokens: record({ prompt: number, completion: number, isEstimate: yesOrNo }),
    "callMs?": number,
    totalMs: number,
  }),
);

const done = { success: { const: true }, tool_used: text, arguments: byName(anything), receipt };

const failed = {
  success: { const: false },
  "tool_used?": text,
  "needs_input?": record({ schema: anything, known: byName(anything), missing: texts }),
  error: record({ type: text, message: text, "suggestion?": text }),
  receipt,
};

export default command({
  description: "Run a task given in words: a small model picks one tool and its arguments, and claudikins calls it.",
  args: {
    task: {
      type: "positional",
      required: true,
      description: "The task, or - to read it from standard input",
      ...several,
    },
    "dry-run": {
      type: "boolean",
      description: "Show which call would be made and how it was chosen, without making it",
    },
    model: {
      type: "string",
      valueHint: "name",
      description: "Use another model of the configured endpoint, or preset/model if no endpoint is configured",
    },
    timeout: { type: "string", valueHint: "time", description: "Give up after this time, such as 5s or 2m" },
    ...daemonArgs,
    ...trustArgs,
    ...commonArgs,
  },
  json: either(
    record({ ...done, result: anything }),
    about("With --dry-run", record({ ...done, dry_run: { const: true } })),
  ),
  jsonFailure: { "outcome?": record({ ...failed }) },
  examples: [
    `claudikins run "what is the status of order ord_00042?"`,
    `claudikins run --dry-run "refund order ord_00042"`,
    `claudikins run "list the three latest paid orders" --json`,
    `echo "how much did we sell in March 2025?" | claudikins run -`,
    `claudikins run --model cerebras/gpt-oss-120b "what is low in stock?"`,
  ],
  async run(args, io) {
    const timeoutMs = args.timeout === undefined ? undefined : duration(maxTimeoutMs)(args.timeout, "--timeout");
    const task = await taskOf(args.task, io);
    const { openToolbox } = await import("../session.ts");
    await using toolbox = await openToolbox(io, args, { sharing: "shell" });
    const llm = chosenLlm(toolbox.config.llm, args.model, io.env);
    const [{ openAiModel }, { runTask }] = await Promise.all([
      import("../../navigator/openai-model.ts"),
      import("../../navigator/run-task.ts"),
    ]);
    const model = openAiModel(llm, { log: await openLog(io.env["CLAUDIKINS_LOG"]) });
    const activity = new Activity(io.stderr);
    using asker = TerminalAsker.of(io, activity);
    toolbox.pool.asker = asker;
    toolbox.pool.responder = terminalHost(asker, io);
    const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    const options: TaskOptions = {
      task,
      dryRun: args["dry-run"] === true,
      signal: timeout ? AbortSignal.any([io.interrupted, timeout]) : io.interrupted,
      onProgress: activity.onProgress,
      askForMissing: asker && ((message, schema) => askAtTerminal(message, schema, activity, asker.linesFor(io))),
    };
    const outcome = await runTask(options, model, toolbox).finally(() => activity.end());
    if (!outcome.success && timeout?.aborted && !io.interrupted.aborted) {
      const message = `The task did not finish within ${args.timeout}`;
      outcome.error = { type: "CALL_TIMEOUT", message, suggestion: "Allow more time: --timeout 2m" };
    }
    const { workspace } = toolbox.config.folders;
    return writeTask(outcome, { json: args.json === true, colours: hasColours(io.stderr, io), workspace }, io);
  },
});

async function taskOf(words: string[], io: Io): Promise<string> {
  const text = words.length === 1 && words[0] === "-" ? await io.stdin.text() : words.join(" ");
  if (text.trim() !== "") return text;
  throw new ClaudikinsError("USAGE", "The task is empty", {
    hint: 'Describe the task in a sentence: claudikins run "list the open orders"',
  });
}

/** Asks like `call --interactive`. The end of the input cancels the form. */
async function askAtTerminal(message: string, schema: object, activity: Activity, io: Io): Promise<FilledForm> {
  const inputSchema = schema as Record<string, unknown>;
  const resume = activity.pause();
  try {
    const { askArguments } = await import("../ask-arguments.ts");
    await io.stderr.write(`${message}\n`);
    const { args } = argumentsOf(await askArguments({ inputSchema }, [], io), inputSchema);
    return { action: "accept", content: { ...args } };
  } catch (error) {
    const isClosed = error instanceof ClaudikinsError && error.code === "CANCELLED" && !io.interrupted.aborted;
    if (!isClosed) throw error;
    return { action: "cancel" };
  } finally {
    resume();
  }
}

/** `named` is a model of the configured endpoint, or a preset with or without a model if no endpoint is configured. */
function chosenLlm(configured: Llm | undefined, named: string | undefined, env: Environment): Llm {
  if (configured) return named === undefined ? configured : { ...configured, model: named };
  const entry = named === undefined ? undefined : entryNamed(named);
  if (entry) return llmOf(entry, env);
  const what = named === undefined ? "No model is configured" : `No model is configured, and ${named} is not a preset`;
  throw new ClaudikinsError("USAGE", `${what}\n\n${howToConfigure(env)}`, {
    hint: 'To choose a model for one run: claudikins run --model cerebras "your task"',
  });
}

/** The configuration examples, which fit on one screen. */
function howToConfigure(env: Environment): string {
  const entries = Object.entries<Preset>(presets).map(([name, { model, variable }]) => {
    const isSet = variable !== undefined && env[variable] ? " (set)" : "";
    const key = variable === undefined ? "on this machine, needs no key" : `key in ${variable}${isSet}`;
    return [`"llm": { "preset": "${name}" }`, `${model}; ${key}`] as const;
  });
  const width = Math.max(...entries.map(([entry]) => entry.length));
  return `A small model picks the tool and its arguments. Add one of these lines to claudikins.json, next to "mcpServers":

${entries.map(([entry, about]) => `  ${entry.padEnd(width)}  ${about}`).join("\n")}

To use another model of an endpoint, or any endpoint compatible with OpenAI's chat completions:

  "llm": { "preset": "openrouter", "model": "qwen/qwen3-8b" }
  "llm": { "baseUrl": "https://llm.example.com/v1", "apiKey": "\${MY_KEY}", "model": "small" }

With "executeTask": true next to it, agents also get the tool execute_task.`;
}

interface TaskForm {
  json: boolean;
  colours: boolean;
  workspace: string;
}

/** Writes the outcome and returns the exit code: 2 if the task lacks a required argument. */
async function writeTask(outcome: TaskOutcome, { json, colours, workspace }: TaskForm, io: Io) {
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

function taskError({ type, message, suggestion }: { type: string; message: string; suggestion?: string }) {
  return new ClaudikinsError(type as ErrorCode, message, { hint: suggestion });
}

/** Writes the steps, and the call as a command that can be run. */
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

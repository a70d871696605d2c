/** `claudikins run`: a task in words; a small model picks the tool, and it is called. */
import { randomUUID } from "node:crypto";
import { ClaudikinsError, type ErrorCode } from "../../base/errors.ts";
import { either } from "../../base/json-shape.ts";
import { openLog } from "../../base/log.ts";
import { shellWord } from "../../base/shell-word.ts";
import type { Environment } from "../../config/environment.ts";
import { maxTimeoutMs } from "../../config/limits.ts";
import { entryNamed, type Llm, llmOf, type Preset, presets } from "../../config/llm.ts";
import { argumentsOf } from "../../programs/argument-words.ts";
import type { OutputFolders } from "../../sandbox/host/outputs.ts";
import {
  type FilledForm,
  plannedShape,
  type TaskOptions,
  type TaskOutcome,
  type TaskPlanned,
  type TaskStep,
  taskDoneShape,
  taskFailedShape,
  taskReceiptText,
} from "../../task-runner/model.ts";
import { type CommandAnswer, command, flag, option, place, several } from "../command.ts";
import { daemonArgs, viewArgs } from "../flags/config-flags.ts";
import { duration } from "../flags/flags.ts";
import type { Io } from "../io.ts";
import { keptValue } from "../output/outcome.ts";
import { errorText, writeAnswer } from "../output/report.ts";
import { commandTrace } from "../telemetry.ts";
import { personAtTerminal } from "../terminal/at-terminal.ts";
import { Activity } from "../terminal/progress.ts";
import { canAsk } from "../terminal/prompt.ts";
import { dim } from "../terminal/terminal-output.ts";

export default command({
  description: "Run a task given in words: a small model picks one tool and its arguments, and claudikins calls it.",
  args: {
    task: place("The task, or - to read it from standard input", { required: true, ...several }),
    "dry-run": flag("Show which call would be made and how it was chosen, without making it"),
    model: option("Use another model of the configured endpoint, or preset/model if no endpoint is configured", {
      valueHint: "name",
    }),
    timeout: option("Give up after this time, such as 5s or 2m", {
      valueHint: "time",
      parse: (text: string, flag: string) => ({ text, ms: duration(maxTimeoutMs)(text, flag) }),
    }),
    ...daemonArgs,
    ...viewArgs,
  },
  json: either(taskDoneShape, plannedShape),
  jsonFailure: { "outcome?": taskFailedShape },
  examples: [
    `claudikins run "what is the status of order ord_00042?"`,
    `claudikins run --dry-run "refund order ord_00042"`,
    `claudikins run "list the three latest paid orders" --json`,
    `echo "how much did we sell in March 2025?" | claudikins run -`,
    `claudikins run --model cerebras/gpt-oss-120b "what is low in stock?"`,
  ],
  async run(args, io) {
    const task = await taskOf(args.task, io);
    const { openApp } = await import("../open-app.ts");
    await using app = await openApp(io, args, {
      sharing: "shell",
      ownMeanwhile: true,
      observed: {},
      person: personAtTerminal(() => activity, io),
    });
    const llm = chosenLlm(app.config.llm, args.model, io.env);
    const [{ modelOf }, { runTask }] = await Promise.all([
      import("../../task-runner/openai-model.ts"),
      import("../../task-runner/run-task.ts"),
    ]);
    const model = await modelOf(llm, io.env, { log: await openLog(io.env["CLAUDIKINS_LOG"]) });
    const activity = new Activity(io.stderr);
    const timeout = args.timeout && AbortSignal.timeout(args.timeout.ms);
    const options: TaskOptions = {
      task,
      dryRun: args["dry-run"] === true,
      trace: commandTrace(io.env),
      signal: timeout ? AbortSignal.any([io.interrupted, timeout]) : io.interrupted,
      onProgress: activity.onProgress,
      askForMissing: canAsk(io) ? (message, schema) => filledForm(message, schema, activity, io) : undefined,
    };
    const outcome = await runTask(options, model, app).finally(() => activity.end());
    if (!outcome.success && timeout?.aborted && !io.interrupted.aborted) {
      const message = `The task did not finish within ${args.timeout?.text}`;
      outcome.error = { type: "CALL_TIMEOUT", message, suggestion: "Allow more time: --timeout 2m" };
    }
    const { folders } = app.config;
    const answer = args.json
      ? { failure: failureOf(outcome), beside: { outcome }, json: outcome }
      : await taskAnswer(outcome, folders, io);
    return await writeAnswer(answer, args.json, io);
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
async function filledForm(message: string, schema: object, activity: Activity, io: Io): Promise<FilledForm> {
  const inputSchema = schema as Record<string, unknown>;
  const resume = activity.pause();
  try {
    const { askArguments } = await import("../call/ask-arguments.ts");
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

/** A task that lacks a required argument ends with exit code 2. */
function failureOf(outcome: TaskOutcome): ClaudikinsError | undefined {
  if (outcome.success) return undefined;
  const { type, message, suggestion } = outcome.error;
  return new ClaudikinsError(type as ErrorCode, message, { hint: suggestion });
}

async function taskAnswer(outcome: TaskOutcome, folders: OutputFolders, { stderr }: Io): Promise<CommandAnswer> {
  const note = `${dim(taskReceiptText(outcome))}\n`;
  const failure = failureOf(outcome);
  if (failure) return { failure, note: errorText(failure, stderr) + note };
  if ("dry_run" in outcome) {
    await stderr.write(outcome.receipt.steps.map(stepText).join(""));
    return { text: callText(outcome), note };
  }
  if (!("result" in outcome)) return { note };
  const { shown, notes } = await keptValue(outcome.result, folders, randomUUID());
  await stderr.write(notes);
  return { text: shown, note };
}

/** The call as a command that can be run. */
function callText({ tool_used, arguments: args }: TaskPlanned): string {
  const given = Object.keys(args).length === 0 ? "" : ` ${shellWord(JSON.stringify(args))}`;
  return `claudikins call ${shellWord(tool_used)}${given}\n`;
}

function stepText({ level, choice, options, offered, skipped }: TaskStep): string {
  const from = offered === undefined ? `of ${options}` : `of ${options}, ${offered} offered`;
  const how = level === "arguments" ? "" : ` (${skipped ? "the only one" : from})`;
  return `${level.padEnd(9)}  ${choice || "none"}${how}\n`;
}

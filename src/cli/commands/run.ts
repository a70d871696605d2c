/** `claudikins run`: a task in words; a small model picks the tool, and it is called. */

import { maxTimeoutMs } from "../../config/defaults.ts";
import { ClaudikinsError } from "../../errors.ts";
import { argumentsOf } from "../../execution/call-arguments.ts";
import { openLog } from "../../log.ts";
import type { FilledForm, TaskOptions } from "../../navigator/model.ts";
import { hasColours } from "../colours.ts";
import { command, commonArgs, several } from "../command.ts";
import { TerminalAsker } from "../consent.ts";
import { daemonArgs } from "../daemon-flag.ts";
import { parseDuration } from "../flags.ts";
import type { Io } from "../io.ts";
import { Activity } from "../progress.ts";
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
import { chosenLlm } from "../task-model.ts";
import { writeTask } from "../task-report.ts";
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
    const timeoutMs = args.timeout === undefined ? undefined : parseDuration(args.timeout, "--timeout", maxTimeoutMs);
    const task = await taskOf(args.task, io);
    const { openToolbox } = await import("../session.ts");
    await using toolbox = await openToolbox(io, args, { sharing: "shell" });
    const llm = chosenLlm(toolbox.config.llm, args.model, io.env);
    const [{ OpenAiModel }, { runTask }] = await Promise.all([
      import("../../navigator/openai-model.ts"),
      import("../../navigator/run-task.ts"),
    ]);
    const model = new OpenAiModel(llm, { log: await openLog(io.env["CLAUDIKINS_LOG"]) });
    const activity = new Activity(io.stderr);
    using asker = TerminalAsker.of(io, activity);
    toolbox.pool.asker = asker;
    toolbox.pool.host = terminalHost(asker, io);
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

/** As `call --interactive` does. Who types no answer closes the form. */
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

/** `claudikins exec`: runs TypeScript from a file, the command line or standard input. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "../../base/errors.ts";
import { about, either, named, record, text } from "../../base/json-shape.ts";
import { megabyte } from "../../base/units.ts";
import { defaultLimits } from "../../config/defaults.ts";
import type { CallTape } from "../../programs/recordings/tape.ts";
import type { OutputFolders } from "../../sandbox/host/outputs.ts";
import { Sandbox } from "../../sandbox/sandbox.ts";
import { command, flag, option, place } from "../command.ts";
import { mayUseDaemon, runInDaemon, silentDaemon } from "../daemon/with-daemon.ts";
import { daemonArgs, viewArgs } from "../flags/config-flags.ts";
import { oneWordOf } from "../flags/flags.ts";
import { dryRunArgs, dryRunOf, flaggedLimits, limitArgs } from "../flags/limit-flags.ts";
import { recordArgs } from "../flags/trace-recorder.ts";
import { besideWire, openWire, wireArgs } from "../flags/wire-flags.ts";
import type { Io } from "../io.ts";
import { doneShape, outcomeAnswer, outcomeShapes, outputText } from "../output/outcome.ts";
import { writeAnswer } from "../output/report.ts";
import { outputPlace } from "../output/result-files.ts";
import { commandTrace } from "../telemetry.ts";
import { personAtTerminal } from "../terminal/at-terminal.ts";
import { Activity } from "../terminal/progress.ts";
import { dim } from "../terminal/terminal-output.ts";

export default command({
  description: "Run TypeScript that calls tools. The returned value goes to stdout; logs and the receipt go to stderr.",
  args: {
    file: place("A TypeScript file, or - for standard input", { required: false, complete: "file" }),
    eval: option("Run this code instead of a file", { short: "e", valueHint: "code" }),
    check: option("How to treat calls that are certainly wrong: error, warn or off (default error)", {
      valueHint: "mode",
      ...oneWordOf(["error", "warn", "off"]),
    }),
    output: option(outputText, { valueHint: "file" }),
    detach: flag("Run the code in the background, and print the id of the execution"),
    ...dryRunArgs,
    ...limitArgs,
    ...wireArgs,
    ...recordArgs,
    "record-file": option("Also write the calls with their results to a recording, for claudikins mock", {
      valueHint: "file",
      complete: "file",
    }),
    ...daemonArgs,
    ...viewArgs,
  },
  examples: [
    `claudikins exec report.ts`,
    `claudikins exec -e 'return (await demo.list_orders({ status: "paid" })).total'`,
    `echo 'return 6 * 7' | claudikins exec -`,
    `claudikins exec report.ts --wire`,
    `claudikins exec screenshot.ts --output page.png`,
    `claudikins exec nightly.ts --detach`,
    `claudikins exec report.ts --dry-run`,
    `claudikins exec report.ts --record-file report.recording.json`,
  ],
  json: either(doneShape, named("Detached", about("With --detach", record({ execution: text })))),
  jsonFailure: outcomeShapes.jsonFailure,
  async run(args, io) {
    const limits = flaggedLimits(args);
    if (args.detach) {
      const other = attached.find((name) => args[name] !== undefined && args[name] !== false);
      if (other) throw new ClaudikinsError("USAGE", `--detach cannot be used with --${other}`);
      const { runDetached } = await import("../daemon/with-daemon.ts");
      const source = await readSource(args.file, args.eval, io);
      const id = await runDetached({ source, limits, check: args.check }, args, io);
      return { json: { execution: id }, text: `${id}\n`, note: `For its outcome: claudikins executions wait ${id}\n` };
    }
    if (args.output !== undefined) outputPlace(args.output, io.cwd);
    const source = await readSource(args.file, args.eval, io);
    if (args["record-file"] !== undefined && args["dry-run"]) {
      throw new ClaudikinsError("USAGE", "--record-file cannot be used with --dry-run");
    }
    let flags = args;
    if (!args.record && args["record-file"] === undefined && !args["dry-run"] && mayUseDaemon(args, io)) {
      const done = await runInDaemon({ source, limits, check: args.check }, args, io);
      if (done === "silent") flags = { ...args, "no-daemon": true };
      else if (done)
        return await writeAnswer(await outcomeAnswer(done.outcome, formOf(args, done.folders), io), args.json, io);
    }
    // The worker starts on another core while the rest is loaded.
    using sandbox = new Sandbox({ keptWorkers: 0 });
    sandbox.warm((limits.memoryMb ?? defaultLimits.memoryMb) * megabyte);
    const [{ openApp }, { countMark, outcomeInShell }] = await Promise.all([
      import("../open-app.ts"),
      import("../../app/shell-execution.ts"),
      import("../../programs/execution/executions.ts"),
    ]);
    await using wire = await openWire(args, io);
    await using app = await openApp(io, flags, {
      sandbox,
      sharing: "shell",
      ownMeanwhile: true,
      waitsForApprovals: true,
      trace: wire?.trace,
      recording: args,
      observed: {},
      person: personAtTerminal(() => activity, io),
    });
    if (flags !== args) app.log.warn(silentDaemon);
    const activity = new Activity(besideWire(args, io), "Running");
    const { onProgress } = activity;
    const trace = commandTrace(io.env);
    const tape = args["record-file"] === undefined ? undefined : await newTape();
    const asked = { source, tape, limits, check: args.check, dryRun: dryRunOf(args), trace, onProgress };
    const outcome = await outcomeInShell(asked, app, io.interrupted).finally(() => activity.end());
    countMark(app, source);
    const answer = await outcomeAnswer(outcome, formOf(args, app.config.folders), io);
    if (args.record) answer.note += `${dim(`[recorded: claudikins executions show ${app.recorder?.lastId}]`)}\n`;
    const file = args["record-file"];
    if (!tape || file === undefined) return await writeAnswer(answer, args.json, io);
    const { withRecording } = await import("../output/record-file.ts");
    return await writeAnswer(await withRecording(answer, file, { tape, code: source }, app, io), args.json, io);
  },
});

async function newTape(): Promise<CallTape> {
  const { CallTape } = await import("../../programs/recordings/tape.ts");
  return new CallTape();
}

function formOf(
  args: { json?: boolean | undefined; output?: string | undefined; file?: string | undefined },
  folders: OutputFolders,
) {
  const { json = false, output, file } = args;
  return { json, output, folders, file: file === "-" ? undefined : file };
}

/** Flags of a command that sees the outcome. */
const attached = ["output", "wire", "wire-file", "record", "record-file", "no-daemon", "dry-run"] as const;

async function readSource(file: string | undefined, code: string | undefined, io: Io): Promise<string> {
  if (code !== undefined && file !== undefined) {
    throw new ClaudikinsError("USAGE", "Give a file or --eval, not both");
  }
  if (code !== undefined) return code;
  if (file === undefined) {
    throw new ClaudikinsError("USAGE", "No code to run", {
      hint: "Give a file, --eval 'code', or - to read standard input. For all options: claudikins exec --help",
    });
  }
  if (file === "-") return io.stdin.text();
  try {
    return await readFile(resolve(io.cwd, file), "utf8");
  } catch (cause) {
    const why = systemCodeOf(cause) === "ENOENT" ? "the file does not exist" : messageOf(cause);
    throw new ClaudikinsError("FILE_NOT_FOUND", `Cannot read ${file}: ${why}`, { cause });
  }
}

/** `claudikins exec`: runs TypeScript from a file, the command line or standard input. */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { defaultLimits } from "../../config/defaults.ts";
import { ClaudikinsError, messageOf, systemCodeOf } from "../../errors.ts";
import { Sandbox } from "../../sandbox/sandbox.ts";
import { hasColours } from "../colours.ts";
import { command, commonArgs } from "../command.ts";
import { TerminalAsker } from "../consent.ts";
import { daemonArgs } from "../daemon-flag.ts";
import { oneWordOf } from "../flags.ts";
import type { Io } from "../io.ts";
import { limitArgs, limitsOf } from "../limit-flags.ts";
import { writeOutcome } from "../outcome-report.ts";
import { doneShape, failedShape, filesShape } from "../outcome-shape.ts";
import { Activity } from "../progress.ts";
import { recordArgs, recordedLine, recordTo } from "../record-flag.ts";
import { outcomeError } from "../report.ts";
import { outputPlace } from "../result-files.ts";
import { countExecution } from "../shell-count.ts";
import { terminalHost } from "../terminal-host.ts";
import { trustArgs } from "../trust-prompt.ts";
import { besideWire, openWire, wireArgs } from "../wire-flags.ts";

export default command({
  description: "Run TypeScript that calls tools. The returned value goes to stdout; logs and the receipt go to stderr.",
  args: {
    file: {
      type: "positional",
      required: false,
      description: "A TypeScript file, or - for standard input",
      complete: "file",
    },
    eval: { type: "string", short: "e", valueHint: "code", description: "Run this code instead of a file" },
    check: {
      type: "string",
      valueHint: "mode",
      description: "How to treat calls that are certainly wrong: error, warn or off (default error)",
      ...oneWordOf(["error", "warn", "off"]),
    },
    output: {
      type: "string",
      valueHint: "file",
      description:
        "Write the result to this file: the image, sound or file that the code returns or displays, else the value",
    },
    ...limitArgs,
    ...wireArgs,
    ...recordArgs,
    ...daemonArgs,
    ...trustArgs,
    ...commonArgs,
  },
  examples: [
    `claudikins exec report.ts`,
    `claudikins exec -e 'return (await demo.list_orders({ status: "paid" })).total'`,
    `echo 'return 6 * 7' | claudikins exec -`,
    `claudikins exec report.ts --wire`,
    `claudikins exec screenshot.ts --output page.png`,
  ],
  json: doneShape,
  jsonFailure: { "outcome?": failedShape, "files?": filesShape },
  async run(args, io) {
    if (args.output !== undefined) outputPlace(args.output, io.cwd);
    const limits = limitsOf(args);
    // The worker starts on another core while the rest is loaded.
    using sandbox = new Sandbox({ keptWorkers: 0 });
    sandbox.warm((limits.memoryMb ?? defaultLimits.memoryMb) * 1_048_576);
    const [{ execute }, { openToolbox }] = await Promise.all([
      import("../../execution/execute.ts"),
      import("../session.ts"),
    ]);
    const source = await readSource(args.file, args.eval, io);
    await using wire = await openWire(args, io);
    await using toolbox = await openToolbox(io, args, { sandbox, sharing: "shell" });
    toolbox.pool.trace = wire?.trace;
    await recordTo(toolbox, "exec", args, io);
    const activity = new Activity(besideWire(args, io.stderr), "Running");
    const { onProgress } = activity;
    using asker = TerminalAsker.of(io, activity);
    toolbox.pool.asker = asker;
    toolbox.pool.responder = terminalHost(asker, io);
    const running = execute({ source, limits, check: args.check, signal: io.interrupted, onProgress }, toolbox);
    const outcome = await running.finally(() => activity.end());
    countExecution(toolbox, source);
    const colours = hasColours(io.stderr, io);
    const { workspace } = toolbox.config.folders;
    await writeOutcome(outcome, { json: args.json === true, output: args.output, workspace, colours }, io);
    if (args.record && !args.json) await io.stderr.write(recordedLine(toolbox, colours));
    return outcome.ok ? 0 : outcomeError(outcome).exitCode;
  },
});

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

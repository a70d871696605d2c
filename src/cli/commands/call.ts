/** `claudikins call`: calls one tool, through the daemon or directly. */

import { maxTimeoutMs } from "../../config/defaults.ts";
import { serverFolder } from "../../config/discover.ts";
import { checkTrust, isAnsweredFor } from "../../config/trust/require.ts";
import { DaemonClient } from "../../daemon/client.ts";
import type { WrittenCall } from "../../daemon/messages.ts";
import { shellSessionOf } from "../../daemon/protocol.ts";
import { ClaudikinsError, toClaudikinsError } from "../../errors.ts";
import type { Called, ToolCall } from "../../execution/call.ts";
import { type ResultForm, writeResult } from "../call-report.ts";
import { readCall } from "../call-words.ts";
import { command, commonArgs, pairs } from "../command.ts";
import { daemonArgs, usesDaemon } from "../daemon-flag.ts";
import { duration } from "../flags.ts";
import type { Io } from "../io.ts";
import { filesShape } from "../outcome-shape.ts";
import { Activity } from "../progress.ts";
import { canAsk } from "../prompt.ts";
import { outputPlace } from "../result-files.ts";
import { anything, record, text } from "../shapes.ts";
import { askingForTrust, type ConfigFlags, trustArgs } from "../trust-prompt.ts";
import { besideWire, openWire, showsWire, type WireFlags, wireArgs } from "../wire-flags.ts";

export default command({
  description: "Call one tool and print its result. The daemon keeps the server ready for the next call.",
  args: {
    tool: {
      type: "positional",
      required: true,
      description: "server.tool, or the two names as separate words",
      complete: "tool",
    },
    arguments: {
      type: "positional",
      required: false,
      description: "name=text, name:=json, name=@file, '{…}' or @file.json; - reads JSON from standard input",
      complete: "parameter",
      ...pairs,
    },
    args: {
      type: "string",
      valueHint: "json",
      description: "All arguments as one JSON object, @file, or - for standard input",
    },
    interactive: { type: "boolean", short: "i", description: "Ask for each argument that is not given" },
    output: {
      type: "string",
      short: "o",
      valueHint: "file",
      description: "Write the result, or the images in it, to a file",
      complete: "file",
    },
    raw: { type: "boolean", description: "Print the complete result as the server sent it" },
    timeout: {
      type: "string",
      valueHint: "time",
      description: "Give up after this time, such as 5s or 2m",
      parse: duration(maxTimeoutMs),
    },
    ...wireArgs,
    ...daemonArgs,
    ...trustArgs,
    ...commonArgs,
  },
  examples: [
    "claudikins call demo.get_order order_id=ord_00042",
    "claudikins call demo.list_orders status=paid limit=3 --json",
    `claudikins call demo.list_orders '{"status": "paid", "limit": 3}'`,
    `echo '{"order_id": "ord_00042"}' | claudikins call demo.get_order -`,
    `claudikins call demo.render_chart title=Stock -o chart.png \\\n      points:='[{"label": "mugs", "value": 12}]'`,
    "claudikins call demo.sales_report --interactive",
  ],
  json: record({
    ok: { const: true },
    server: text,
    tool: text,
    "value?": anything,
    "files?": filesShape,
  }),
  async run(args, io) {
    if (args.raw && args.json) throw new ClaudikinsError("USAGE", "Use --raw or --json, not both");
    if (args.output !== undefined) outputPlace(args.output, io.cwd);
    const words = await readCall([args.tool, ...args.arguments], args.args, io);
    const wanted: ToolCall = { ...words, timeoutMs: args.timeout };
    if (args.interactive) wanted.given = await withAnswers(wanted, args, io);
    // Only this process can show a person the progress of the call, or ask what the server wants to know.
    const isAway = usesDaemon(args, io.env) && !isWatched(args, io) && !io.stderr.isTerminal;
    const called = await (isAway ? callInDaemon : callHere)(wanted, args, io);
    const form: ResultForm = { raw: args.raw === true, json: args.json === true, output: args.output };
    return writeResult(called, form, io);
  },
});

type Flags = WireFlags & ConfigFlags;

/** Whether messages are shown. The messages between the daemon and its servers cannot be seen here. */
function isWatched(flags: Flags, { env }: Io): boolean {
  return showsWire(flags) || ["debug", "info"].includes(env["CLAUDIKINS_LOG"] ?? "");
}

/** Makes the call in the daemon, or here if there can be no daemon. */
async function callInDaemon(wanted: ToolCall, flags: Flags, io: Io): Promise<Called> {
  const { cwd, env } = io;
  const options = { flag: flags.config, trust: flags.trust, cwd, env };
  const origin = await askingForTrust(flags, io, () => checkTrust(options));
  const client = new DaemonClient(origin.kind === "demo" ? undefined : origin.file, env, isAnsweredFor(options));
  try {
    const body: WrittenCall = { ...wanted, cwd: serverFolder(origin, cwd, env), session: shellSessionOf(env) };
    return (await client.post("/call", body, io.interrupted)) as Called;
  } catch (error) {
    const { code } = toClaudikinsError(error);
    // Without a usable daemon, this command starts the servers itself.
    if (code !== "FILE_NOT_WRITABLE") throw error;
  }
  return callHere(wanted, flags, io);
}

/** Makes the call in this process, with servers of the daemon if it may be used. */
async function callHere(wanted: ToolCall, flags: Flags, io: Io): Promise<Called> {
  const [{ call }, { openToolbox }, { TerminalAsker }, { terminalHost }] = await Promise.all([
    import("../../execution/call.ts"),
    import("../session.ts"),
    import("../consent.ts"),
    import("../terminal-host.ts"),
  ]);
  await using wire = await openWire(flags, io);
  await using toolbox = await openToolbox(io, flags, { sharing: "shell" });
  toolbox.pool.trace = wire?.trace;
  const activity = new Activity(besideWire(flags, io.stderr), waitingText(wanted));
  const { onProgress } = activity;
  using asker = TerminalAsker.of(io, activity);
  toolbox.pool.asker = asker;
  toolbox.pool.responder = terminalHost(asker, io);
  const calling = call(wanted, toolbox, { signal: io.interrupted, onProgress });
  return await calling.finally(() => activity.end());
}

function waitingText({ target, tool }: ToolCall): string {
  return `${[target, tool].filter(Boolean).join(" ")}: waiting for an answer`;
}

/** The given arguments and the person's answers. */
async function withAnswers(wanted: ToolCall, flags: Flags, io: Io): Promise<ToolCall["given"]> {
  if (!canAsk(io)) {
    throw new ClaudikinsError("USAGE", "--interactive needs a terminal", {
      hint: "Pass the arguments on the command line: claudikins call --help",
    });
  }
  const [{ describe }, { openToolbox }, { askArguments }, { TerminalAsker }, { terminalHost }] = await Promise.all([
    import("../../execution/call.ts"),
    import("../session.ts"),
    import("../ask-arguments.ts"),
    import("../consent.ts"),
    import("../terminal-host.ts"),
  ]);
  await using toolbox = await openToolbox(io, flags, { sharing: "shell" });
  // Some servers offer tools only to hosts that can answer questions.
  using asker = TerminalAsker.of(io, new Activity(io.stderr));
  toolbox.pool.responder = terminalHost(asker, io);
  const { tool } = await describe(wanted, toolbox, io.interrupted);
  return [...wanted.given, ...(await askArguments(tool, wanted.given, io))];
}

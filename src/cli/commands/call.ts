/** `claudikins call`: calls one tool, through the daemon or directly. */

import { grouped } from "../../base/counted.ts";
import { ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject, parsedJson } from "../../base/json-object.ts";
import { anything, exactly, record, text } from "../../base/json-shape.ts";
import { wholeOf } from "../../base/large-json.ts";
import { type Binary, binaryOf, bytesOf } from "../../base/media.ts";
import { maxTimeoutMs } from "../../config/limits.ts";
import type { WrittenCall } from "../../daemon/messages.ts";
import type { ShellCall, ShellCallResult } from "../../programs/shell-call.ts";
import { objectsOf, type ToolResult, toolValue } from "../../servers/result.ts";
import { readCall } from "../call/call-words.ts";
import { type CommandAnswer, command, flag, option, pairs, place } from "../command.ts";
import { commandValues, readWords } from "../command-line.ts";
import { daemonOf, mayUseDaemon } from "../daemon/with-daemon.ts";
import { type ConfigFlags, daemonArgs, viewArgs } from "../flags/config-flags.ts";
import { timeUpTo } from "../flags/flags.ts";
import { besideWire, openWire, type WireFlags, wireArgs } from "../flags/wire-flags.ts";
import type { Io } from "../io.ts";
import { filesShape } from "../output/outcome.ts";
import { valueText } from "../output/report.ts";
import {
  binariesOf,
  outputPlace,
  type WrittenFile,
  writeBinaries,
  writeText,
  writeValue,
  writtenText,
} from "../output/result-files.ts";
import { commandTrace } from "../telemetry.ts";
import { Activity } from "../terminal/progress.ts";
import { canAsk } from "../terminal/prompt.ts";

const args = {
  tool: place("server.tool, or the two names as separate words", { required: true, complete: "tool" }),
  arguments: place("name=text, name:=json, name=@file, '{…}' or @file.json; - reads JSON from standard input", {
    required: false,
    complete: "parameter",
    ...pairs,
  }),
  args: option("All arguments as one JSON object, @file, or - for standard input", { valueHint: "json" }),
  interactive: flag("Ask for each argument that is not given", { short: "i" }),
  output: option("Write the result, or the images in it, to a file", {
    short: "o",
    valueHint: "file",
    complete: "file",
  }),
  raw: flag("Print the complete result as the server sent it"),
  timeout: option("Give up after this time, such as 5s or 2m", timeUpTo(maxTimeoutMs)),
  ...wireArgs,
  ...daemonArgs,
  ...viewArgs,
} as const;

export default command({
  description: "Call one tool and print its result. The daemon keeps the server ready for the next call.",
  args,
  examples: [
    "claudikins call demo.get_order order_id=ord_00042",
    "claudikins call demo.list_orders status=paid limit=3 --json",
    `claudikins call demo.list_orders '{"status": "paid", "limit": 3}'`,
    `echo '{"order_id": "ord_00042"}' | claudikins call demo.get_order -`,
    `claudikins call demo.render_chart title=Stock -o chart.png \\\n      points:='[{"label": "mugs", "value": 12}]'`,
    "claudikins call demo.sales_report --interactive",
  ],
  json: record({
    ok: exactly(true),
    server: text,
    tool: text,
    "value?": anything,
    "files?": filesShape,
  }),
  async helpFor(words, io) {
    const own = words.filter((word) => word !== "--help" && word !== "-h");
    const { positionals, flags } = readWords(own, args);
    if (positionals.length === 0 || flags.some(({ name }) => name === undefined)) return undefined;
    const given = commandValues(own, args, "call");
    const { target, tool } = await readCall([given.tool, ...given.arguments], undefined, io);
    return (await import("../call/call-help.ts")).callHelp({ target, tool }, given, io);
  },
  async run(args, io) {
    if (args.raw && args.json) throw new ClaudikinsError("USAGE", "Use --raw or --json, not both");
    if (args.output !== undefined) outputPlace(args.output, io.cwd);
    const words = await readCall([args.tool, ...args.arguments], args.args, io);
    const wanted: ShellCall = { ...words, timeoutMs: args.timeout };
    if (args.interactive) wanted.given = await withAnswers(wanted, args, io);
    const called = await (mayUseDaemon(args, io) ? callInDaemon : callHere)(wanted, args, io);
    return resultAnswer(called, { raw: args.raw === true, json: args.json === true, output: args.output }, io);
  },
});

type CallFlags = WireFlags & ConfigFlags;

/** Makes the call in the daemon, or here if there can be no daemon. */
async function callInDaemon(wanted: ShellCall, flags: CallFlags, io: Io): Promise<ShellCallResult> {
  const { client, caller } = await daemonOf(flags, io);
  try {
    const body: WrittenCall = { ...wanted, ...caller };
    return (await client.post("/call", body, io.interrupted)) as ShellCallResult;
  } catch (error) {
    const { code } = toClaudikinsError(error);
    // Without a usable daemon, this command starts the servers itself.
    if (code !== "FILE_NOT_WRITABLE") throw error;
  }
  return callHere(wanted, flags, io);
}

/** Makes the call in this process, with servers of the daemon if it may be used. */
async function callHere(wanted: ShellCall, flags: CallFlags, io: Io): Promise<ShellCallResult> {
  const [{ call }, { openApp }, { personAtTerminal }] = await modulesOfCalls();
  await using wire = await openWire(flags, io);
  await using app = await openApp(io, flags, {
    sharing: "shell",
    ownMeanwhile: true,
    trace: wire?.trace,
    observed: {},
    person: personAtTerminal(() => activity, io),
  });
  const activity = new Activity(besideWire(flags, io), waitingText(wanted));
  const { onProgress } = activity;
  const calling = call(wanted, app, { signal: io.interrupted, trace: commandTrace(io.env), onProgress });
  return await calling.finally(() => activity.end());
}

/** Only calls that the daemon cannot make need these modules, which take long to load. */
function modulesOfCalls() {
  return Promise.all([
    import("../../programs/shell-call.ts"),
    import("../open-app.ts"),
    import("../terminal/at-terminal.ts"),
  ]);
}

function waitingText({ target, tool }: ShellCall): string {
  return `${[target, tool].filter(Boolean).join(" ")}: waiting for an answer`;
}

/** The given arguments and the user's answers. */
async function withAnswers(wanted: ShellCall, flags: CallFlags, io: Io): Promise<ShellCall["given"]> {
  if (!canAsk(io)) {
    throw new ClaudikinsError("USAGE", "--interactive needs a terminal", {
      hint: "Pass the arguments on the command line: claudikins call --help",
    });
  }
  const [{ describe }, { openApp }, { personAtTerminal }] = await modulesOfCalls();
  const { askArguments } = await import("../call/ask-arguments.ts");
  // Some servers offer tools only to hosts that can answer questions.
  const person = personAtTerminal(() => new Activity(undefined), io);
  await using app = await openApp(io, flags, { sharing: "shell", ownMeanwhile: true, person });
  const { tool } = await describe(wanted, app, io.interrupted);
  return [...wanted.given, ...(await askArguments(tool, wanted.given, io))];
}

interface ResultForm {
  /** The complete result as the server sent it. */
  raw: boolean;
  json: boolean;
  /** A path relative to the working directory. */
  output: string | undefined;
}

/** Throws TOOL_FAILED, except with `raw`, and FILE_NOT_WRITABLE. */
function resultAnswer({ server, tool, result }: ShellCallResult, form: ResultForm, io: Io): CommandAnswer {
  const { output } = form;
  if (form.raw) return rawAnswer(result, output, io);
  const value = plainValue(result, `${server}.${tool}`);
  const binaries = binariesOf(result);
  const files = output === undefined ? [] : outputFiles(value, binaries, output, io.cwd);
  if (form.json) {
    const shown = output === undefined ? forTerminal(value, io) : withFiles(value, files);
    return { json: { ok: true, server, tool, value: shown, ...(files.length > 0 ? { files } : {}) } };
  }
  const rest = binaries.length > 0 ? withoutBinaries(result) : value;
  const text = output === undefined || binaries.length > 0 ? valueText(rest) : "";
  if (output !== undefined || binaries.length === 0) return { text, note: files.map(writtenText).join("") };
  const what = binaries.map((binary) => `[${binary.type} ${binary.mimeType}, ${grouped(bytesOf(binary))} bytes]\n`);
  return { text, note: `${what.join("")}To save ${binaries.length === 1 ? "it" : "them"}: --output <file>\n` };
}

function outputFiles(value: unknown, binaries: Binary[], output: string, cwd: string): WrittenFile[] {
  return binaries.length > 0 ? writeBinaries(binaries, output, cwd) : [writeValue(value, output, cwd)];
}

function rawAnswer(result: ToolResult, output: string | undefined, io: Io): CommandAnswer {
  const exitCode = result["isError"] === true ? new ClaudikinsError("TOOL_FAILED", "").exitCode : 0;
  if (output !== undefined) {
    const file = writeText(`${JSON.stringify(result, null, 2)}\n`, "application/json", output, io.cwd);
    return { note: writtenText(file), exitCode };
  }
  const shown = { ...result, content: forTerminal(wholeOf(result["content"]), io) };
  return { text: `${JSON.stringify(shown, null, io.stdout.isTerminal ? 2 : undefined)}\n`, exitCode };
}

function plainValue(result: ToolResult, tool: string): unknown {
  const value = toolValue(result, tool);
  if ("text" in value) return value.text;
  if ("jsonOrText" in value) {
    const parsed = parsedJson(value.jsonOrText);
    return parsed === undefined ? value.jsonOrText : parsed;
  }
  return JSON.parse("json" in value ? value.json : value.blocks);
}

/** The value without its binary blocks, or undefined if nothing else remains. */
function withoutBinaries(result: ToolResult): unknown {
  const content = objectsOf(result["content"]).filter((block) => !binaryOf(block));
  const rest = plainValue({ ...result, content }, "");
  return Array.isArray(rest) && rest.length === 0 ? undefined : rest;
}

/** On a terminal, base64 data is replaced by its size. */
function forTerminal(value: unknown, { stdout }: Io): unknown {
  if (!stdout.isTerminal || !Array.isArray(value)) return value;
  return value.map((block) => {
    const binary = binaryOf(block);
    if (!binary) return block;
    return withData(block, { omitted: `${grouped(bytesOf(binary))} bytes: save with --output <file>` });
  });
}

/** Replaces the data of binary blocks with the names of their files. */
function withFiles(value: unknown, files: readonly WrittenFile[]): unknown {
  if (!Array.isArray(value)) return value;
  let next = 0;
  return value.map((block) => (binaryOf(block) ? withData(block, { file: files[next++]?.file }) : block));
}

function withData(block: JsonObject, more: object): JsonObject {
  const { data: _data, ...rest } = block;
  const { resource } = rest;
  if (!isObject(resource)) return { ...rest, ...more };
  const { blob: _blob, ...about } = resource;
  return { ...rest, resource: { ...about, ...more } };
}

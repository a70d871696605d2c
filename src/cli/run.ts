/** Runs one command line: finds the command, runs it, and turns its result or error into an exit code. */
import { ClaudikinsError, interruptedExitCode, toClaudikinsError } from "../errors.ts";
import { checkLevel } from "../log.ts";
import { nearNames } from "../near-names.ts";
import { version } from "../version.ts";
import { hasColours } from "./colours.ts";
import type { CommandTable } from "./command.ts";
import { type CommandLine, readCommandLine, valuesOf } from "./command-line.ts";
import { commands, sections, shownOf } from "./command-table.ts";
import { commandText, groupText, overviewText, type Page } from "./help.ts";
import type { Io, Output } from "./io.ts";
import { errorJson, errorText, stackText } from "./report.ts";
import { SafeOutput } from "./terminal-output.ts";

/** Returns the exit code and never rejects. Data goes to stdout, everything else to stderr. */
export async function run(argv: string[], processIo: Io): Promise<number> {
  const line = readCommandLine(argv, commands);
  const io = ioFor(line, processIo);
  try {
    return await dispatch(line, io);
  } catch (thrown) {
    const error = toClaudikinsError(thrown);
    const colours = hasColours(io.stderr, io);
    await io.stderr.write(line.json ? errorJson(error) : errorText(error, colours));
    if (error.code === "UNEXPECTED" && logLevel(io) === "debug") await io.stderr.write(stackText(error));
    return io.interrupted.aborted ? interruptedExitCode : error.exitCode;
  }
}

/** All output passes through `SafeOutput` on its way to a terminal. `--verbose` sets a variable. */
function ioFor({ verbose }: CommandLine, io: Io): Io {
  const safe = { ...io, stdout: new SafeOutput(io.stdout), stderr: new SafeOutput(io.stderr) };
  return verbose ? { ...safe, env: { ...io.env, CLAUDIKINS_LOG: "debug" } } : safe;
}

const logLevel = ({ env }: Io) => env["CLAUDIKINS_LOG"];

async function dispatch(line: CommandLine, io: Io): Promise<number> {
  const { path, entry, rest } = line;
  if (line.version) return print(io, `${version}\n`);
  if (line.unknown !== undefined) throw unknownWord(line.unknown, line);
  if (!entry) return writeGroupHelp(line, io);
  const { default: command } = await entry.load();
  if (line.help && line.json) {
    const { commandJson } = await import("./help-json.ts");
    return print(io, commandJson(command, path));
  }
  if (line.help) return print(io, commandText(command, path, pageOf(io.stdout, io)));
  const values = valuesOf(rest, command.args, path.join(" "));
  checkLevel(logLevel(io));
  const exitCode = await command.run(values, io, commands);
  return io.interrupted.aborted && path[0] !== "serve" ? interruptedExitCode : exitCode;
}

/** The help of all commands or of a group. Without `--help`, the missing command is an error. */
async function writeGroupHelp({ group, table, path, help, json }: CommandLine, io: Io): Promise<number> {
  if (help && json) {
    const { commandsJson } = await import("./help-json.ts");
    return print(io, commandsJson(table, path));
  }
  const output = help ? io.stdout : io.stderr;
  const page = pageOf(output, io);
  await output.write(group ? groupText(group.description, shownOf(table), path, page) : overview(page));
  return help ? 0 : new ClaudikinsError("USAGE", "").exitCode;
}

function unknownWord(word: string, { path, rest, table }: CommandLine): ClaudikinsError {
  const what = word.startsWith("-") ? `flag ${word}` : `command ${[...path, word].join(" ")}`;
  return new ClaudikinsError("USAGE", `Unknown ${what}`, {
    hint: suggestion(word, rest, table) ?? `All commands: ${["claudikins", ...path].join(" ")} --help`,
  });
}

/** Suggests a command with a similar name, here or in a group. A flag that precedes its command belongs after it. */
function suggestion(word: string, rest: string[], table: CommandTable): string | undefined {
  if (word.startsWith("-")) {
    const command = rest.find((each) => Object.hasOwn(table, each));
    return command && `Flags come after the command: claudikins ${command} ${word}`;
  }
  const paths = shownOf(table).flatMap(([name]) => {
    const entry = table[name]!;
    const within = "commands" in entry ? shownOf(entry.commands).map(([each]) => [each, `${name} ${each}`]) : [];
    return [[name, name], ...within] as [string, string][];
  });
  const near = nearNames(word, new Set(paths.map(([name]) => name)));
  // An exact match in several groups: suggest all of them, and nothing that is only similar.
  const names = near[0] === word ? [word] : near;
  const suggested = names.flatMap((name) => paths.filter(([each]) => each === name).map(([, path]) => path));
  return suggested.length > 0 ? `Did you mean ${suggested.join(" or ")}?` : undefined;
}

/** Maximum width of help, in characters. */
const helpWidth = 80;

function pageOf(output: Output, io: Io): Page {
  return { colours: hasColours(output, io), width: Math.min(output.columns ?? helpWidth, helpWidth) };
}

async function print(io: Io, text: string): Promise<number> {
  await io.stdout.write(text);
  return 0;
}

function overview(page: Page): string {
  const lines = shownOf(commands);
  const sorted = Object.entries(sections).map(([title, names]) => ({
    title,
    lines: names.flatMap((name) => lines.filter(([each]) => each === name)),
  }));
  return overviewText(sorted, page);
}

/** One call of the program: finds the command, checks its flags, runs it, and turns whatever happens into an exit code. */

import { runCommand } from "citty";
import { ClaudikinsError, interruptedExitCode, toClaudikinsError } from "../errors.ts";
import { checkLevel } from "../log.ts";
import { nearNames } from "../near-names.ts";
import { version } from "../version.ts";
import { hasColours } from "./colours.ts";
import type { everywhereArgs } from "./command.ts";
import { commands, type Entry, type Group, sections, shownOf } from "./command-table.ts";
import { checkFlags } from "./flags.ts";
import { commandText, groupText, overviewText, type Page } from "./help.ts";
import type { Io, Output } from "./io.ts";
import { errorJson, errorText, stackText } from "./report.ts";
import { SafeOutput } from "./terminal-output.ts";

/** Never rejects. Data is on stdout, everything else on stderr. */
export async function run(argv: string[], processIo: Io): Promise<number> {
  const json = beforeTerminator(argv).includes("--json");
  const io = ioFor(argv, processIo);
  try {
    return await dispatch(argv[0] === verboseFlag ? argv.slice(1) : argv, io);
  } catch (thrown) {
    const error =
      thrown instanceof Error && thrown.name === "CLIError" ? usageError(thrown) : toClaudikinsError(thrown);
    const colours = hasColours(io.stderr, io);
    await io.stderr.write(json ? errorJson(error) : errorText(error, colours));
    if (error.code === "UNEXPECTED" && logLevel(io) === "debug") await io.stderr.write(stackText(error));
    return io.interrupted.aborted ? interruptedExitCode : error.exitCode;
  }
}

const verboseFlag = `--${"verbose" satisfies keyof typeof everywhereArgs}`;

/** Everything that a command writes passes here on its way to a terminal. `--verbose` sets a variable. */
function ioFor(argv: string[], io: Io): Io {
  const safe = { ...io, stdout: new SafeOutput(io.stdout), stderr: new SafeOutput(io.stderr) };
  if (!beforeTerminator(argv).includes(verboseFlag)) return safe;
  return { ...safe, env: { ...io.env, CLAUDIKINS_LOG: "debug" } };
}

const logLevel = ({ env }: Io) => env["CLAUDIKINS_LOG"];

async function dispatch(argv: string[], io: Io): Promise<number> {
  const [first] = argv;
  if (first === "--version" || first === "-v" || first === "version") return print(io, `${version}\n`);
  const asksForHelp = first === "help" || beforeTerminator(argv).some((word) => word === "--help" || word === "-h");
  const asksForJson = beforeTerminator(argv).includes("--json");
  const words = first === "help" ? argv.slice(1).filter((word) => !word.startsWith("-")) : argv;
  const found = findCommand(words, commands, []);
  if ("group" in found) {
    const output = asksForHelp ? io.stdout : io.stderr;
    const page = pageOf(output, io);
    const { group } = found;
    if (asksForHelp && asksForJson) {
      const { commandsJson } = await import("./help-json.ts");
      return print(io, commandsJson(group?.commands ?? commands, found.path));
    }
    await output.write(
      group ? groupText(group.description, shownOf(group.commands), found.path, page) : overview(page),
    );
    if (asksForHelp) return 0;
    return new ClaudikinsError("USAGE", "").exitCode;
  }
  const { path, rest } = found;
  const { default: command } = await found.entry.load();
  if (asksForHelp && asksForJson) {
    const { commandJson } = await import("./help-json.ts");
    return print(io, commandJson(command, path));
  }
  if (asksForHelp) return print(io, commandText(command, path, pageOf(io.stdout, io)));
  checkFlags(rest, command.args, path.join(" "));
  checkLevel(logLevel(io));
  const { result } = await runCommand(command.definition, { rawArgs: rest, data: io });
  return io.interrupted.aborted && path[0] !== "serve" ? interruptedExitCode : Number(result ?? 0);
}

type Found = { entry: Entry; path: string[]; rest: string[] } | { group: Group | undefined; path: string[] };

/** The command that the words begin with, or the group where they end too soon; `path` is what led there. */
function findCommand(words: string[], among: Record<string, Entry | Group>, path: string[], group?: Group): Found {
  const [word, ...rest] = words;
  if (word === undefined || word === "--help" || word === "-h") return { group, path };
  const known = Object.hasOwn(among, word) ? among[word] : undefined;
  if (!known) {
    const what = word.startsWith("-") ? `flag ${word}` : `command ${[...path, word].join(" ")}`;
    throw new ClaudikinsError("USAGE", `Unknown ${what}`, {
      hint: meant(word, rest, among) ?? `All commands: ${["claudikins", ...path].join(" ")} --help`,
    });
  }
  if ("commands" in known) return findCommand(rest, known.commands, [...path, word], known);
  return { entry: known, path: [...path, word], rest };
}

/** A command that is written nearly so, or stands in a group; a flag that came too soon. */
function meant(word: string, rest: string[], among: Record<string, Entry | Group>): string | undefined {
  if (word.startsWith("-")) {
    const command = rest.find((each) => Object.hasOwn(among, each));
    return command && `Flags come after the command: claudikins ${command} ${word}`;
  }
  const paths = shownOf(among).flatMap(([name]) => {
    const entry = among[name]!;
    const within = "commands" in entry ? shownOf(entry.commands).map(([each]) => [each, `${name} ${each}`]) : [];
    return [[name, name], ...within] as [string, string][];
  });
  const near = nearNames(word, new Set(paths.map(([name]) => name)));
  // Of several groups with such a command, the person knows which.
  const names = near[0] === word ? [word] : near;
  const meant = names.flatMap((name) => paths.filter(([each]) => each === name).map(([, path]) => path));
  return meant.length > 0 ? `Did you mean ${meant.join(" or ")}?` : undefined;
}

/** What may be flags: after `--` nothing is one. */
function beforeTerminator(argv: string[]): string[] {
  return argv.slice(0, argv.includes("--") ? argv.indexOf("--") : argv.length);
}

/** Help is at most this wide, in a file as on a wide terminal. */
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

/** What citty refuses by itself, should it ever: `checkFlags` was here before. */
function usageError(error: Error): ClaudikinsError {
  return new ClaudikinsError("USAGE", Bun.stripANSI(error.message), { cause: error });
}

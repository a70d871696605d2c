/** Runs one command line: finds the command, runs it, and turns its answer or error into output and an exit code. */
import { builtIn } from "../base/built-in.ts";
import { ClaudikinsError, interruptedExitCode, toClaudikinsError } from "../base/errors.ts";
import { checkLevel } from "../base/log.ts";
import { nearNames } from "../base/near-names.ts";
import { version } from "../base/version.ts";
import { namesDatabase } from "../config/database.ts";
import { wantsAudit } from "../config/telemetry.ts";
import type { CommandAnswer, CommandTable } from "./command.ts";
import { type CommandLine, commandValues, readCommandLine, withDefault } from "./command-line.ts";
import { commands, shownOf } from "./command-table.ts";
import { commandJson, commandsJson, commandText, groupText, overviewText } from "./help.ts";
import type { Io, Output } from "./io.ts";
import { errorJson, errorText, stackText, writeAnswer } from "./output/report.ts";
import { hasStyles, safeOutput } from "./terminal/terminal-output.ts";

/** Maximum width of help. */
const helpChars = 80;

/** Returns the exit code and never rejects. Data goes to stdout, everything else to stderr. */
export async function run(argv: string[], processIo: Io): Promise<number> {
  const line = withDefault(readCommandLine(argv, commands));
  const ends: (() => Promise<void>)[] = [];
  const io = { ...ioFor(line, processIo), atEnd: (work: () => Promise<void>) => void ends.push(work) };
  try {
    const { exitCode } = await writeAnswer(await answerTo(line, io), line.json, io);
    if (exitCode === 0 && mayHint(line, io)) await (await import("./upgrade-hint.ts")).hintAtUpgrade(io);
    return io.interrupted.aborted && line.path[0] !== "serve" ? interruptedExitCode : exitCode;
  } catch (thrown) {
    const error = toClaudikinsError(thrown);
    await io.stderr.write(line.json ? errorJson(error) : errorText(error, io.stderr));
    if (error.code === "UNEXPECTED" && logLevel(io) === "debug") await io.stderr.write(stackText(error));
    return io.interrupted.aborted ? interruptedExitCode : error.exitCode;
  } finally {
    if (wantsAudit(io.env)) await sendUnheard(io);
    await Promise.all(ends.map((end) => end()));
  }
}

/** Commands that other programs run, that stay open, or whose output is code. */
const withoutHint = ["serve", "daemon", "demo", "completions", "complete", "upgrade", "self-check"];

/** Whether a person reads the output at a terminal, and this is a released executable, which can be newer. */
function mayHint({ path, json }: CommandLine, { stdout, stderr, interrupted }: Io): boolean {
  if (builtIn?.checkout !== null || json || !stdout.isTerminal || !stderr.isTerminal || interrupted.aborted)
    return false;
  const [name] = path;
  return name !== undefined && !withoutHint.includes(name);
}

/** All output to a terminal passes through `safeOutput`. `--verbose` sets a variable. */
function ioFor({ verbose }: CommandLine, io: Io): Io {
  const env = verbose ? { ...io.env, CLAUDIKINS_LOG: "debug" } : io.env;
  const safe = (output: Output) => safeOutput(output, hasStyles(output, env));
  return { ...io, stdout: safe(io.stdout), stderr: safe(io.stderr), env };
}

const logLevel = ({ env }: Io) => env["CLAUDIKINS_LOG"];

async function answerTo(line: CommandLine, io: Io): Promise<CommandAnswer> {
  const { path, entry, rest, help, json } = line;
  if (line.version) return { text: `${version}\n` };
  if (line.unknown !== undefined) throw unknownWord(line.unknown, line);
  if (!entry && help && json) return { json: commandsJson(line.table, path) };
  if (!entry) return groupHelp(line, io);
  const { default: command } = await entry.load();
  if (help && json) return { json: await commandJson(command, path) };
  const special = help === "flag" ? await command.helpFor?.(rest, io) : undefined;
  if (special !== undefined) return { text: special };
  if (help) return { text: commandText(command, path, widthOf(io.stdout)) };
  const values = commandValues(rest, command.args, path.join(" "));
  checkLevel(logLevel(io));
  if (namesDatabase(io.env)) await openTeam(io);
  return command.run(values, io, commands);
}

/** Sends what the command has added to the audit log, if the command has no telemetry of its own: telemetry hears the entries. */
async function sendUnheard(io: Io): Promise<void> {
  const { hasUnheard } = await import("../store/audit/heard.ts");
  if (hasUnheard()) await (await import("./telemetry.ts")).telemetryFor({ telemetry: undefined }, io);
}

/** Opens what the machines of a team share, until the end of the command. */
async function openTeam({ env, atEnd }: Io): Promise<void> {
  const { loadPostgres, readDocuments } = await import("../store/open.ts");
  await loadPostgres();
  const close = await readDocuments(env);
  atEnd?.(close);
}

/** The help of all commands or of a group. Without `--help`, the missing command is an error. */
function groupHelp({ group, path, help, all }: CommandLine, { stdout, stderr }: Io): CommandAnswer {
  const text = (output: Output) =>
    group ? groupText(group, path, widthOf(output)) : overviewText(widthOf(output), all && help !== undefined);
  if (help) return { text: text(stdout) };
  return { note: text(stderr), exitCode: new ClaudikinsError("USAGE", "").exitCode };
}

function widthOf({ columns = helpChars }: Output): number {
  return Math.min(columns, helpChars);
}

function unknownWord(word: string, { path, rest, table }: CommandLine): ClaudikinsError {
  const what = word.startsWith("-") ? `flag ${word}` : `command ${[...path, word].join(" ")}`;
  return new ClaudikinsError("USAGE", `Unknown ${what}`, {
    hint: suggestion(word, rest, table) ?? `All commands: ${["claudikins", ...path].join(" ")} --help`,
  });
}

/** Commands of ours for words that package managers and agents have for them. */
const otherWords: Record<string, string> = {
  delete: "remove",
  import: "init",
  install: "add",
  rm: "remove",
  update: "upgrade",
};

/**
 * Suggests a command with a similar name, here or in a group, or with another word for the same. A flag that precedes its command belongs after
 * it.
 */
function suggestion(word: string, rest: string[], table: CommandTable): string | undefined {
  if (word.startsWith("-")) {
    const command = rest.find((each) => Object.hasOwn(table, each));
    return command && `Flags come after the command: claudikins ${command} ${word}`;
  }
  const ours = Object.hasOwn(otherWords, word) ? otherWords[word] : undefined;
  if (ours !== undefined && Object.hasOwn(table, ours)) return `Did you mean ${ours}?`;
  const paths = shownOf(table).flatMap(([name]) => {
    const entry = table[name]!;
    const within = "commands" in entry ? shownOf(entry.commands).map(([each]) => [each, `${name} ${each}`]) : [];
    return [[name, name], ...within] as [string, string][];
  });
  const near = nearNames(word, new Set(paths.map(([name]) => name)));
  // An exact match in several groups: suggest all of them, and nothing that is only similar.
  const names = near[0] === word ? [word] : near;
  const suggested = names.flatMap((name) => {
    const found = paths.filter(([each]) => each === name).map(([, path]) => path);
    return found.includes(name) ? [name] : found;
  });
  return suggested.length > 0 ? `Did you mean ${suggested.join(" or ")}?` : undefined;
}

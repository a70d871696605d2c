/** Writes docs/cli.md, the reference of the command line, from the definitions of the commands. `bun run docs`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Arg, Command, CommandEntry, Group } from "../src/cli/command.ts";
import { everywhereArgs } from "../src/cli/command.ts";
import { argumentPlaces, flagsOf } from "../src/cli/command-line.ts";
import { commands, sections } from "../src/cli/command-table.ts";
import { flagLine, usageText } from "../src/cli/help.ts";

export const cliPageFile = join(import.meta.dir, "..", "docs", "cli.md");

/** The meaning of each exit code. */
export const exitCodes: Readonly<Record<number, string>> = {
  0: "Success.",
  1: "An unexpected error, or a check that failed, such as `claudikins gen --check`.",
  2: "Wrong usage, or a mistake in the config.",
  3: "A sign-in is required: `claudikins auth login`.",
  4: "A server or a model cannot be reached.",
  5: "The tool returned an error.",
  6: "The code failed or reached a limit.",
  7: "The program waits for an approval: `claudikins approvals`. It is stored, and `claudikins executions wait` continues it.",
  130: "Interrupted, for example with Ctrl-C.",
};

/** The page before the sections. `common` is the table of the options that many commands have. */
const openingWith = (common: string) => `# Command line

After this page you can call every command, with its arguments, options and exit codes. For a guided tour, see
[Use from a shell](shell.md).

In your terminal, \`claudikins --help\` shows the ten everyday commands, \`claudikins --help --all\` all of them, and
\`claudikins exec --help\` the help of one. \`bun run docs\` generates this page from the same texts.

## All commands

Data goes to stdout. Everything else goes to stderr, such as progress, logs and errors.

| option | meaning |
| --- | --- |
| \`--help\`, \`-h\` | Show the help of a command. With \`--json\`, print it as JSON, with a schema of what the command prints. |
| \`--verbose\` | ${everywhereArgs.verbose.description}. |
| \`--version\`, \`-v\` | Print the version. Use it without a command. |

Most commands have some of these options. Each command names the ones that it has:

${common}

With \`--json\`, a command prints exactly one JSON document on stdout. If the command fails, stdout is empty, and one line of JSON on stderr
describes the error:

\`\`\`json
{ "error": { "code": "USAGE", "message": "The query is empty" } }
\`\`\`

Every command ends with one of these exit codes:

| exit code | meaning |
| --- | --- |
${Object.entries(exitCodes)
  .map(([code, meaning]) => `| ${code} | ${meaning} |`)
  .join("\n")}
`;

/** An option of this number of commands is described once, at the beginning of the page. */
const many = 20;

type IsCommon = (flag: [string, Arg]) => boolean;

/** The whole text of docs/cli.md. */
export async function cliPage(): Promise<string> {
  const all = Object.values(sections).flatMap((names) => names.flatMap((name) => shownIn(commands[name]!)));
  const flags = await Promise.all(all.map(async ({ load }) => ownFlags((await load()).default)));
  const counts = new Map<string, number>();
  for (const row of flags.flat().map(rowOf)) counts.set(row, (counts.get(row) ?? 0) + 1);
  const isCommon: IsCommon = (flag) => (counts.get(rowOf(flag)) ?? 0) >= many;
  const common = new Map(flags.flat().flatMap((flag) => (isCommon(flag) ? [[rowOf(flag), flag]] : [])));
  const parts = [openingWith(table("option", optionRows([...common.values()])))];
  for (const [title, names] of Object.entries(sections)) {
    parts.push(`## ${title}\n`);
    for (const name of names) parts.push(...(await partsOf(commands[name]!, [name], isCommon)));
  }
  return parts.join("\n");
}

function shownIn(entry: CommandEntry | Group): CommandEntry[] {
  if ("commands" in entry) return Object.values(entry.commands).flatMap(shownIn);
  return entry.hidden ? [] : [entry];
}

/** The options of a command, without those of every command. */
function ownFlags({ args }: Command): [string, Arg][] {
  return flagsOf(args).filter(([name]) => !Object.hasOwn(everywhereArgs, name));
}

const rowOf = ([name, { description = "" }]: [string, Arg]) => `${name}: ${description}`;

const optionRows = (flags: readonly [string, Arg][]): [string, Arg][] =>
  flags.map(([name, arg]) => [flagLine([name, arg])[0].trim(), arg]);

async function partsOf(entry: CommandEntry | Group, path: string[], isCommon: IsCommon): Promise<string[]> {
  if ("load" in entry) return entry.hidden ? [] : [commandPart((await entry.load()).default, path, isCommon)];
  const inner = Object.entries(entry.commands).map(([name, each]) => partsOf(each, [...path, name], isCommon));
  return [`### claudikins ${path.join(" ")}\n\n${entry.description}\n`, ...(await Promise.all(inner)).flat()];
}

function commandPart(command: Command, path: string[], isCommon: IsCommon): string {
  const { description, args, examples } = command;
  const positionals = argumentPlaces(args);
  const own = ownFlags(command).filter((flag) => !isCommon(flag));
  const common = ownFlags(command).filter(isCommon);
  const blocks = [
    `${path.length === 1 ? "###" : "####"} claudikins ${path.join(" ")}`,
    prose(description),
    fenced("text", [usageText(command, path)]),
    positionals.length > 0 &&
      table(
        "argument",
        positionals.map(([name, arg]) => [name, arg]),
      ),
    own.length > 0 && table("option", optionRows(own)),
    common.length > 0 &&
      `${own.length > 0 ? "Also" : "Options:"} ${common.map(([name]) => `\`--${name}\``).join(", ")}.`,
    fenced(
      "console",
      examples.map((line) => `$ ${line}`),
    ),
  ];
  return `${blocks.filter(Boolean).join("\n\n")}\n`;
}

function fenced(language: string, lines: readonly string[]): string {
  return [`\`\`\`${language}`, ...lines, "```"].join("\n");
}

function table(title: string, rows: readonly [name: string, arg: Arg][]): string {
  const lines = rows.map(([name, { description = "" }]) => `| \`${cell(name)}\` | ${cell(prose(description))} |`);
  return [`| ${title} | meaning |`, "| --- | --- |", ...lines].join("\n");
}

/** The text with Markdown's special characters escaped. */
function prose(text: string): string {
  return text.replace(/[<*\\]/g, "\\$&");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

if (import.meta.main) writeFileSync(cliPageFile, await cliPage());

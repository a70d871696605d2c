/** One call of the program: finds the command, checks its flags, runs it, and turns whatever happens into an exit code. */

import { type ArgsDef, type CommandDef, renderUsage, runCommand } from "citty";
import { ClaudikinsError, interruptedExitCode, toClaudikinsError } from "../errors.ts";
import { checkLevel } from "../log.ts";
import { didYouMean } from "../near-names.ts";
import { version } from "../version.ts";
import { hasColours } from "./colours.ts";
import type { Command, everywhereArgs } from "./command.ts";
import { checkFlags } from "./flags.ts";
import type { Io } from "./io.ts";
import { errorJson, errorText, stackText } from "./report.ts";

/** Loaded only when it is called. */
interface Entry {
  summary: string;
  load: () => Promise<{ default: Command }>;
  /** Not for people to start: left out of the help text. */
  hidden?: boolean;
}

/** Commands that belong together, under one word. */
interface Group {
  summary: string;
  description: string;
  commands: Record<string, Entry>;
}

/** In the order of the help text. */
const commands: Record<string, Entry | Group> = {
  serve: {
    summary: "Be an MCP server for your agent: search_tools and execute_code",
    load: () => import("./commands/serve.ts"),
  },
  init: {
    summary: "Take over the MCP servers of your agents, and be their only one",
    load: () => import("./commands/init.ts"),
  },
  restore: { summary: "Undo that: give your agents their files back", load: () => import("./commands/restore.ts") },
  add: {
    summary: "Add a server: by its name, a command, an address, or an entry",
    load: () => import("./commands/add.ts"),
  },
  remove: { summary: "Take servers out, with their generated files", load: () => import("./commands/remove.ts") },
  exec: {
    summary: "Run TypeScript that calls tools; only what it returns comes out",
    load: () => import("./commands/exec.ts"),
  },
  call: {
    summary: "Call one tool: server.tool name=value; the second call is warm",
    load: () => import("./commands/call.ts"),
  },
  run: {
    summary: "Do a task in words: a small model picks the tool and calls it",
    load: () => import("./commands/run.ts"),
  },
  search: { summary: "Find tools by what they do; starts no server", load: () => import("./commands/search.ts") },
  list: {
    summary: "Show the servers and what is known of them; --check starts them",
    load: () => import("./commands/list.ts"),
  },
  auth: {
    summary: "Sign in to servers on the network: login, logout, status",
    description: "Sign in to servers on the network that want a person: login, logout, status.",
    commands: {
      login: { summary: "Sign in to a server, in your browser", load: () => import("./commands/auth/login.ts") },
      logout: { summary: "Give up a sign-in, and forget it", load: () => import("./commands/auth/logout.ts") },
      status: { summary: "Show who is signed in, and for how long", load: () => import("./commands/auth/status.ts") },
    },
  },
  daemon: {
    summary: "The process that keeps servers running between calls: status, logs, stop",
    description:
      "What keeps servers running between calls, for all that call their tools. It starts and ends by itself.",
    commands: {
      status: { summary: "Show the daemons that run", load: () => import("./commands/daemon/status.ts") },
      logs: { summary: "Show what it did", load: () => import("./commands/daemon/logs.ts") },
      stop: {
        summary: "End the daemon of this config, and its servers",
        load: () => import("./commands/daemon/stop.ts"),
      },
      run: {
        summary: "Be the daemon, in the foreground",
        load: () => import("./commands/daemon/run.ts"),
        hidden: true,
      },
    },
  },
  setup: {
    summary: "First steps: folders, tools, the skill; then what is left for you",
    load: () => import("./commands/setup.ts"),
  },
  doctor: {
    summary: "Look at everything, and say what repairs what is wrong",
    load: () => import("./commands/doctor.ts"),
  },
  skill: {
    summary: "Tell your agents how to work with us: install, remove, status",
    description: "A skill, and a section of CLAUDE.md or AGENTS.md, by which agents know how to find and call tools.",
    commands: {
      install: { summary: "Write the skill where your agents look", load: () => import("./commands/skill/install.ts") },
      remove: { summary: "Take it out again", load: () => import("./commands/skill/remove.ts") },
      status: { summary: "Show where it is", load: () => import("./commands/skill/status.ts") },
    },
  },
  stats: {
    summary: "Show what was called, and what it kept out of contexts",
    load: () => import("./commands/stats.ts"),
  },
  logs: { summary: "Show what a server wrote on stderr, and how it ended", load: () => import("./commands/logs.ts") },
  hooks: {
    summary: "Texts that tell agents of us: print",
    description: "Texts that tell agents how to find and call tools.",
    commands: {
      print: { summary: "Print one: claude-md, skill or readme", load: () => import("./commands/hooks/print.ts") },
    },
  },
  gen: { summary: "Ask every server for its tools and write the registry", load: () => import("./commands/gen.ts") },
  demo: {
    summary: "The built-in demo server: the back office of a small shop",
    load: () => import("./commands/demo.ts"),
  },
};

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

/** What `--verbose` does. */
function ioFor(argv: string[], io: Io): Io {
  if (!beforeTerminator(argv).includes(verboseFlag)) return io;
  return { ...io, env: { ...io.env, CLAUDIKINS_LOG: "debug" } };
}

const logLevel = ({ env }: Io) => env["CLAUDIKINS_LOG"];

async function dispatch(argv: string[], io: Io): Promise<number> {
  const [first] = argv;
  if (first === "--version" || first === "-v" || first === "version") return print(io, `${version}\n`);
  const asksForHelp = first === "help" || beforeTerminator(argv).some((word) => word === "--help" || word === "-h");
  const words = first === "help" ? argv.slice(1).filter((word) => !word.startsWith("-")) : argv;
  const found = findCommand(words, commands, []);
  if ("group" in found) {
    const text = found.group ? groupText(found.group, found.path) : overview();
    if (asksForHelp) return print(io, text);
    await io.stderr.write(text);
    return new ClaudikinsError("USAGE", "").exitCode;
  }
  const { path, rest } = found;
  const { default: command } = await found.entry.load();
  if (asksForHelp) return print(io, await helpText(command, path, hasColours(io.stdout, io)));
  checkFlags(rest, command.definition.args as ArgsDef, path.join(" "));
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
      hint: didYouMean(word, Object.keys(among)) ?? `All commands: ${["claudikins", ...path].join(" ")} --help`,
    });
  }
  if ("commands" in known) return findCommand(rest, known.commands, [...path, word], known);
  return { entry: known, path: [...path, word], rest };
}

/** What may be flags: after `--` nothing is one. */
function beforeTerminator(argv: string[]): string[] {
  return argv.slice(0, argv.includes("--") ? argv.indexOf("--") : argv.length);
}

async function print(io: Io, text: string): Promise<number> {
  await io.stdout.write(text);
  return 0;
}

function overview(): string {
  return `claudikins ${version}: all your MCP servers behind two small tools.

Usage: claudikins <command> [options]

${summaries(commands)}

Without a config file, everything works on the demo server. Try:
  claudikins exec -e 'return (await demo.sales_report({ from: "2025-01-01", to: "2025-12-31", group_by: "month" })).rows'

Help for a command: claudikins <command> --help
`;
}

function groupText({ description, commands: entries }: Group, path: string[]): string {
  const name = ["claudikins", ...path].join(" ");
  return `${description} (${name})

Usage: ${name} <command> [options]

${summaries(entries)}

Help for a command: ${name} <command> --help
`;
}

function summaries(entries: Record<string, Entry | Group>): string {
  const shown = Object.entries(entries).filter(([, entry]) => !("hidden" in entry && entry.hidden));
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`).join("\n");
}

async function helpText({ definition, examples }: Command, path: string[], colours: boolean): Promise<string> {
  const parent = ["claudikins", ...path.slice(0, -1)].join(" ");
  const usage = await renderUsage(definition, { meta: { name: parent } } as CommandDef);
  const text = `${usage.trimEnd()}\n\nEXAMPLES\n\n${examples.map((line) => `  ${line}`).join("\n")}\n`;
  const tidy = text.replace(/ +$/gm, "");
  return colours ? tidy : Bun.stripANSI(tidy).replace(/ +$/gm, "");
}

/** What citty refuses by itself, should it ever: `checkFlags` was here before. */
function usageError(error: Error): ClaudikinsError {
  return new ClaudikinsError("USAGE", Bun.stripANSI(error.message), { cause: error });
}

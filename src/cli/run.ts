/** One call of the program: finds the command, checks its flags, runs it, and turns whatever happens into an exit code. */
import { type ArgsDef, type CommandDef, renderUsage, runCommand } from "citty";
import { ClaudikinsError, interruptedExitCode, toClaudikinsError } from "../errors.ts";
import { didYouMean } from "../near-names.ts";
import { version } from "../version.ts";
import type { Command } from "./command.ts";
import { checkFlags } from "./flags.ts";
import type { Io } from "./io.ts";
import { errorJson, errorText } from "./report.ts";

/** In the order of the help text. Each is loaded only when it is called. */
const commands: Record<string, { summary: string; load: () => Promise<{ default: Command }> }> = {
  serve: {
    summary: "Be an MCP server for your agent: search_tools and execute_code",
    load: () => import("./commands/serve.ts"),
  },
  exec: {
    summary: "Run TypeScript that calls tools; only what it returns comes out",
    load: () => import("./commands/exec.ts"),
  },
  search: { summary: "Find tools by what they do; starts no server", load: () => import("./commands/search.ts") },
  list: {
    summary: "Show the servers and what is known of them; --check starts them",
    load: () => import("./commands/list.ts"),
  },
  gen: { summary: "Ask every server for its tools and write the registry", load: () => import("./commands/gen.ts") },
  demo: {
    summary: "The built-in demo server: the back office of a small shop",
    load: () => import("./commands/demo.ts"),
  },
};

/** Never rejects. Data is on stdout, everything else on stderr. */
export async function run(argv: string[], io: Io): Promise<number> {
  const json = beforeTerminator(argv).includes("--json");
  try {
    return await dispatch(argv, io);
  } catch (thrown) {
    const error =
      thrown instanceof Error && thrown.name === "CLIError" ? usageError(thrown) : toClaudikinsError(thrown);
    const colours = io.stderr.isTerminal && !io.env["NO_COLOR"];
    await io.stderr.write(json ? errorJson(error) : errorText(error, colours));
    return io.interrupted.aborted ? interruptedExitCode : error.exitCode;
  }
}

async function dispatch(argv: string[], io: Io): Promise<number> {
  const [name, ...rest] = argv;
  if (name === "--version" || name === "-v" || name === "version") return print(io, `${version}\n`);
  const wanted = name === "help" ? rest.find((word) => !word.startsWith("-")) : name;
  if (name === "--help" || name === "-h" || (name === "help" && !wanted)) return print(io, overview());
  if (wanted === undefined) {
    await io.stderr.write(overview());
    return new ClaudikinsError("USAGE", "").exitCode;
  }
  const found = Object.hasOwn(commands, wanted) ? commands[wanted] : undefined;
  if (!found) {
    throw new ClaudikinsError("USAGE", `Unknown ${wanted.startsWith("-") ? "flag" : "command"} ${wanted}`, {
      hint: didYouMean(wanted, Object.keys(commands)) ?? "All commands: claudikins --help",
    });
  }
  const { default: command } = await found.load();
  const flags = beforeTerminator(rest);
  if (name === "help" || flags.includes("--help") || flags.includes("-h")) {
    return print(io, await helpText(command, io.stdout.isTerminal && !io.env["NO_COLOR"]));
  }
  checkFlags(rest, command.definition.args as ArgsDef, wanted);
  const { result } = await runCommand(command.definition, { rawArgs: rest, data: io });
  return io.interrupted.aborted && wanted !== "serve" ? interruptedExitCode : Number(result ?? 0);
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
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `claudikins ${version}: all your MCP servers behind two small tools.

Usage: claudikins <command> [options]

${lines.join("\n")}

Without a config file, everything works on the demo server. Try:
  claudikins exec -e 'return (await demo.sales_report({ from: "2025-01-01", to: "2025-12-31", group_by: "month" })).rows'

Help for a command: claudikins <command> --help
`;
}

async function helpText({ definition, examples }: Command, colours: boolean): Promise<string> {
  const usage = await renderUsage(definition, { meta: { name: "claudikins" } } as CommandDef);
  const text = `${usage.trimEnd()}\n\nEXAMPLES\n\n${examples.map((line) => `  ${line}`).join("\n")}\n`;
  const tidy = text.replace(/ +$/gm, "");
  return colours ? tidy : Bun.stripANSI(tidy).replace(/ +$/gm, "");
}

/** What citty refuses by itself, should it ever: `checkFlags` was here before. */
function usageError(error: Error): ClaudikinsError {
  return new ClaudikinsError("USAGE", Bun.stripANSI(error.message), { cause: error });
}

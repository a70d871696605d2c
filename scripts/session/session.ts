/** Runs the commands of the session at a real terminal, in a temporary home. A command that fails or prints something unexpected ends it. */
import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { Terminal } from "@xterm/headless";
import { temporaryFolder } from "../../test/support/temporary.ts";
import { type Line, lineOf } from "./picture.ts";
import { columns, settings, shopProgram, steps } from "./steps.ts";

/** More lines than the session has, so that none scrolls away. */
const rows = 200;

/** The time to read the last output, which is complete when the command ends. */
const restMs = 1_000;

const [green, bold, plain] = ["\u001b[32m", "\u001b[1m", "\u001b[0m"];

/** The lines of the terminal after all commands. */
export async function runSession(binary: string): Promise<Line[]> {
  using folder = temporaryFolder();
  const home = join(folder.path, "home");
  const project = join(home, "project");
  const programs = join(folder.path, "bin");
  mkdirSync(project, { recursive: true });
  mkdirSync(programs);
  symlinkSync(binary, join(programs, "claudikins"));
  chmodSync(folder.write("bin/shop", shopProgram), 0o755);
  folder.write("home/.claude.json", settings(project, join(home, "memory.jsonl")));
  const env = {
    HOME: home,
    PATH: [programs, dirname(process.execPath), process.env["PATH"]].join(delimiter),
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    TZ: "UTC",
    // A daemon would outlive the session.
    CLAUDIKINS_DAEMON: "off",
  };
  const terminal = new Terminal({ cols: columns, rows, allowProposedApi: true });
  const write = (text: string) => new Promise<void>((resolve) => terminal.write(text, resolve));
  for (const { command, shows } of steps) {
    const ended = await atTerminal(command, project, env);
    const output = ended.output.replaceAll(home, "~");
    const [text, name] = [Bun.stripANSI(output), command.split("\n")[0]];
    if (ended.exitCode !== 0) throw new Error(`"${name}" ended with ${ended.exitCode}:\n${text}`);
    const missing = shows.find((pattern) => !pattern.test(text));
    if (missing) throw new Error(`"${name}" did not print ${missing}:\n${text}`);
    const typed = command.replaceAll("\n", `${plain}\r\n${green}> ${plain}`);
    await write(`${green}$ ${plain}${bold}${typed}${plain}\r\n${output}`);
  }
  const { active } = terminal.buffer;
  const lines = Array.from({ length: active.baseY + active.cursorY }, (_, place) => lineOf(active.getLine(place)!));
  terminal.dispose();
  return lines;
}

/** Runs one program with arguments, in shell syntax. */
async function atTerminal(command: string, cwd: string, env: Record<string, string>) {
  const closed = Promise.withResolvers<void>();
  const decoder = new TextDecoder();
  let output = "";
  const child = Bun.spawn(["sh", "-c", `exec ${command}`], {
    cwd,
    env,
    terminal: {
      cols: columns,
      rows,
      data: (_, bytes) => {
        output += decoder.decode(bytes, { stream: true });
      },
      exit: () => closed.resolve(),
    },
  });
  const exitCode = await child.exited;
  await Promise.race([closed.promise, Bun.sleep(restMs)]);
  child.terminal?.close();
  return { output, exitCode };
}

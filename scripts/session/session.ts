/** Runs the session step by step in a temporary home at a terminal. Any unexpected output ends it. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type Ended, runAtTerminal } from "./pty.ts";
import { Recorder, type Recording, withShortName } from "./recording.ts";
import { Screen } from "./screen.ts";
import { columns, rows, type Step, settings, shopProgram, steps } from "./steps.ts";

/** The pause before the first letter, and after Enter if nothing happens. */
const breathMs = 700;

/** Throws if a command fails, or if its output is not as expected. */
export async function recordSession(binary: string, signal: AbortSignal): Promise<Recording> {
  using folder = temporaryFolder();
  const surroundings = { ...furnish(folder.path, binary), columns, rows, signal };
  const recorder = new Recorder(new Screen(columns, rows));
  await recorder.prompt();
  recorder.pause(breathMs);
  for (const step of steps) {
    const ended = await runAtTerminal(step.command, surroundings);
    const written = withShortName(ended.written, surroundings.env["HOME"] ?? "", "~");
    check(step, { ...ended, written });
    await recorder.type(step.command, step.letterMs);
    await recorder.play(written, ended.endMs);
    await recorder.prompt();
    recorder.pause(step.readMs);
  }
  return recorder.end();
}

function check({ command, shows }: Step, { exitCode, written }: Ended): void {
  const text = Bun.stripANSI(written.map((each) => each.text).join(""));
  const [line] = command.split("\n");
  if (exitCode !== 0) throw new Error(`"${line}" ended with ${exitCode}:\n${text}`);
  const missing = shows.find((pattern) => !pattern.test(text));
  if (missing) throw new Error(`"${line}" did not print ${missing}:\n${text}`);
}

/** A home with settings of Claude Code, a project, and programs by the names that people type. */
function furnish(folder: string, binary: string): { cwd: string; env: Record<string, string> } {
  const [home, programs] = [join(folder, "home"), join(folder, "bin")];
  const project = join(home, "project");
  mkdirSync(project, { recursive: true });
  mkdirSync(programs);
  symlinkSync(binary, join(programs, "claudikins"));
  writeFileSync(join(programs, "shop"), shopProgram);
  chmodSync(join(programs, "shop"), 0o755);
  writeFileSync(join(home, ".claude.json"), JSON.stringify(settings(project, join(home, "memory.jsonl")), null, 2));
  const env = {
    HOME: home,
    PATH: `${programs}${delimiter}${process.env["PATH"] ?? ""}`,
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    TZ: "UTC",
    // Without this, it would outlive the session.
    CLAUDIKINS_DAEMON: "off",
  };
  return { cwd: project, env };
}

function temporaryFolder(): Disposable & { path: string } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "claudikins-session-")));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Runs programs as a user would, and returns everything about how they ended. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { posixWord } from "../../src/base/shell-word.ts";

export interface Ended {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  stdin?: string;
}

/** The command as a POSIX shell reads it. The folder of the checkout can have any name. */
export function shellLine(words: readonly string[]): string {
  return words.map(posixWord).join(" ");
}

/** Writes a script that runs the command. It is for $BROWSER and $EDITOR, which are split at spaces. Returns its path. */
export function scriptOf(words: readonly string[], path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\nexec ${shellLine(words)} "$@"\n`, { mode: 0o755 });
  return path;
}

/** Starts a program with exactly this environment, and waits for its end. */
export async function runProgram(command: string[], options: RunOptions = {}): Promise<Ended> {
  const child = Bun.spawn(command, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: testEnvironment(options.env),
    stdin: new TextEncoder().encode(options.stdin ?? ""),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { exitCode: child.exitCode, stdout, stderr };
}

/**
 * The environment of a program under test: PATH, the isolated home of the preload, and the variables of the test. Its
 * servers are its own, and it trusts the configs that it finds, unless the test removes `CI`.
 */
export function testEnvironment(more: Record<string, string> = {}): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  const xdg = Object.entries(process.env).filter(([name]) => name.startsWith("XDG_")) as [string, string][];
  return {
    PATH,
    HOME,
    ...Object.fromEntries(xdg),
    NO_COLOR: "1",
    CI: "true",
    CLAUDIKINS_DAEMON: "off",
    CLAUDIKINS_KEYCHAIN: "off",
    ...more,
  };
}

/** Pids of living processes whose command line contains the text, from /proc on Linux and from `ps` elsewhere. */
export function processesWith(text: string): number[] {
  return commandLines()
    .filter(({ pid, line }) => pid !== process.pid && line.includes(text))
    .map(({ pid }) => pid);
}

/** Waits until no such process is left, at most `withinMs`, and returns those that are left. A busy machine ends processes late. */
export async function processesLeft(text: string, withinMs = 30_000): Promise<number[]> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const left = processesWith(text);
    if (left.length === 0 || performance.now() > deadline) return left;
    await Bun.sleep(20);
  }
}

/** Whether the process with this pid has not ended. On Linux, one that its parent has not yet collected has ended. */
export function isAlive(pid: number): boolean {
  return commandLines().some((each) => each.pid === pid);
}

function commandLines(): { pid: number; line: string }[] {
  if (process.platform !== "linux") {
    const lines = Bun.spawnSync(["ps", "-axo", "pid=,args="]).stdout.toString().split("\n");
    return lines
      .map((line) => ({ pid: Number.parseInt(line, 10), line }))
      .filter(({ line }) => !line.includes("ps -axo"));
  }
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const line = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
        const state = readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\) /, "")[0];
        // Until its last thread has ended, a killed process still accepts connections, which are then reset.
        const isDead = state === "Z" && readdirSync(`/proc/${name}/task`).length <= 1;
        return isDead ? [] : [{ pid: Number(name), line }];
      } catch {
        return []; // The process ended in the meantime.
      }
    });
}

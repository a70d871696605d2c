/** Runs a command at a real terminal: its output with times, and its end. */
import type { Written } from "./recording.ts";

export interface Surroundings {
  cwd: string;
  env: Record<string, string>;
  columns: number;
  rows: number;
  /** Sends Ctrl-C to the command. */
  signal: AbortSignal;
}

export interface Ended {
  exitCode: number;
  written: Written[];
  endMs: number;
}

/** The time that a command may take to end after Ctrl-C. */
const patienceMs = 5_000;

/** The time to read the last output, which is complete when the command ends. */
const restMs = 1_000;

/** The command is one program with arguments, in shell syntax. Throws if the system provides no terminal. */
export async function runAtTerminal(command: string, surroundings: Surroundings): Promise<Ended> {
  const { cwd, env, columns, rows, signal } = surroundings;
  signal.throwIfAborted();
  const written: Written[] = [];
  const decoder = new TextDecoder();
  const closed = Promise.withResolvers<void>();
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const data = (_: unknown, bytes: Uint8Array) => {
    written.push({ atMs: elapsed(), text: decoder.decode(bytes, { stream: true }) });
  };
  const child = spawned(() =>
    Bun.spawn(["sh", "-c", `exec ${command}`], {
      cwd,
      env,
      terminal: { cols: columns, rows, data, exit: () => closed.resolve() },
    }),
  );
  let killing: ReturnType<typeof setTimeout> | undefined;
  const interrupt = () => {
    child.terminal?.write("\u0003");
    killing = setTimeout(() => child.kill("SIGKILL"), patienceMs);
  };
  signal.addEventListener("abort", interrupt, { once: true });
  try {
    const exitCode = await child.exited;
    const endMs = elapsed();
    await Promise.race([closed.promise, Bun.sleep(restMs)]);
    signal.throwIfAborted();
    return { exitCode, written, endMs };
  } finally {
    clearTimeout(killing);
    signal.removeEventListener("abort", interrupt);
    child.terminal?.close();
  }
}

function spawned(start: () => Bun.Subprocess): Bun.Subprocess {
  try {
    return start();
  } catch (cause) {
    throw new Error("there is no pseudo terminal to be had here", { cause });
  }
}

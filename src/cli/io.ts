/** The streams, environment and signals that a command works with. Tests replace them with streams in memory. */
import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import { type Environment, processEnvironment } from "../config/environment.ts";
import { selfCommand } from "../config/self.ts";
import { interruptedExitCode, systemCodeOf } from "../errors.ts";

export interface Output {
  write(text: string): Promise<void>;
  /** Colours and progress are shown only on a terminal. */
  readonly isTerminal: boolean;
  /** The width of the terminal in characters. Undefined without a terminal. */
  readonly columns?: number | undefined;
  /** Whether a write has failed because the reader closed its end. */
  readonly isClosed?: boolean;
  /** The terminal cannot erase what was written (`TERM=dumb`). */
  readonly isDumb?: boolean;
}

export interface Input {
  /** The whole input. */
  text(): Promise<string>;
  /** All lines until the input ends or the signal is aborted. */
  lines(signal: AbortSignal): AsyncIterable<string>;
  /** The next line, or undefined at the end of the input and when the signal is aborted. */
  line(options: LineOptions): Promise<string | undefined>;
  readonly isTerminal: boolean;
}

export interface LineOptions {
  signal: AbortSignal;
  /** Does not echo what is typed. */
  hidden?: boolean;
  /** Called once echo is off, so that a typed secret cannot appear. */
  onReady?: () => Promise<void>;
}

export interface Io {
  stdin: Input;
  stdout: Output;
  stderr: Output;
  env: Environment;
  cwd: string;
  /** Aborted by SIGINT, SIGTERM and SIGHUP. The command then ends what it started. */
  interrupted: AbortSignal;
  /**
   * Replaces this process with the same program, the same arguments and additional environment variables. Returns if the
   * system cannot replace a process. Undefined for commands that do not run in a process of their own.
   */
  restart?(variables: Record<string, string>): void;
}

/** The streams of this process. From this call on, the first signal aborts `interrupted` and a second one exits at once. */
export function processIo(): Io {
  const env = processEnvironment();
  return {
    stdin: { text: () => Bun.stdin.text(), lines: linesOfStdin, line: nextLine, isTerminal: isatty(0) },
    stdout: outputOf(1, env),
    stderr: outputOf(2, env),
    env,
    cwd: process.cwd(),
    interrupted: catchSignals(),
    restart: (variables) => {
      const command = selfCommand(...process.argv.slice(2));
      const defined = Object.entries({ ...env, ...variables }).filter((entry) => entry[1] !== undefined);
      try {
        process.execve?.(command[0], command, Object.fromEntries(defined));
      } catch {
        // Windows has no execve.
      }
    },
  };
}

/** Maximum length of a line without an end, in characters. A longer input could fill the memory. */
const maxLineLength = 65_536;

async function* linesOfStdin(signal: AbortSignal): AsyncIterable<string> {
  // An open stdin would keep the process running.
  const stop = () => void process.stdin.destroy();
  if (signal.aborted) return;
  signal.addEventListener("abort", stop, { once: true });
  let pending = "";
  try {
    for await (const chunk of process.stdin.setEncoding("utf8")) {
      const lines = `${pending}${chunk}`.split("\n");
      pending = lines.pop() ?? "";
      yield* lines;
      if (pending.length > maxLineLength) return;
    }
    if (pending !== "") yield pending;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** Input that was typed before a line was asked for. */
let typedAhead = "";
let hasEnded = false;

async function nextLine({ signal, hidden = false, onReady }: LineOptions): Promise<string | undefined> {
  if (signal.aborted) return undefined;
  if (hasEnded || typedAhead.includes("\n")) {
    await onReady?.();
    return takeLine() ?? takeRest();
  }
  const { stdin } = process;
  const isRaw = hidden && stdin.isTTY;
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const onData = (chunk: string) => {
    const done = isRaw ? takeKeys(chunk) : takeText(chunk);
    if (done) resolve(takeLine() ?? takeRest());
  };
  const onEnd = () => {
    hasEnded = true;
    resolve(takeRest());
  };
  const onAbort = () => resolve(undefined);
  stdin.setEncoding("utf8").on("data", onData).once("end", onEnd).once("error", onEnd);
  signal.addEventListener("abort", onAbort, { once: true });
  if (isRaw) stdin.setRawMode(true);
  stdin.resume();
  try {
    await onReady?.();
    return await promise;
  } finally {
    if (isRaw) stdin.setRawMode(false);
    stdin.off("data", onData).off("end", onEnd).off("error", onEnd).pause();
    signal.removeEventListener("abort", onAbort);
    // An open stdin would keep the process running.
    stdin.unref?.();
  }
}

function takeText(chunk: string): boolean {
  typedAhead += chunk;
  return typedAhead.includes("\n");
}

/** Edits the line and handles Ctrl-C and Ctrl-D, which the terminal does not do in raw mode. Returns whether the line is complete. */
function takeKeys(chunk: string): boolean {
  for (const key of chunk) {
    if (key === "\r" || key === "\n") {
      typedAhead += "\n";
      return true;
    }
    if (key === "\u0003") {
      process.kill(process.pid, "SIGINT");
      return false;
    }
    if (key === "\u0004") {
      hasEnded = true;
      return true;
    }
    if (key === "\u007f" || key === "\b") typedAhead = [...typedAhead].slice(0, -1).join("");
    else if (key === "\u0015") typedAhead = "";
    else if (key >= " ") typedAhead += key;
  }
  return false;
}

function takeLine(): string | undefined {
  const end = typedAhead.indexOf("\n");
  if (end === -1) return undefined;
  const line = typedAhead.slice(0, end).replace(/\r$/, "");
  typedAhead = typedAhead.slice(end + 1);
  return line;
}

function takeRest(): string | undefined {
  const rest = typedAhead;
  typedAhead = "";
  return rest === "" ? undefined : rest;
}

/**
 * Writes whole texts to a file descriptor, in order. `process.stdout` would do the same, but creating it takes longer than most
 * commands run.
 */
function outputOf(fd: 1 | 2, { TERM }: Environment): Output {
  let isClosed = false;
  return {
    isTerminal: isatty(fd),
    isDumb: TERM === "dumb",
    get isClosed() {
      return isClosed;
    },
    get columns() {
      return this.isTerminal ? (fd === 1 ? process.stdout : process.stderr).columns : undefined;
    },
    async write(text) {
      const bytes = Buffer.from(text);
      for (let done = 0; done < bytes.length; ) {
        try {
          done += writeSync(fd, bytes, done);
        } catch (error) {
          const code = systemCodeOf(error);
          // The reader closed the pipe, as `head` does. That is not an error.
          if (code === "EPIPE") {
            isClosed = true;
            return;
          }
          if (code !== "EAGAIN") throw error;
          await Bun.sleep(1);
        }
      }
    },
  };
}

function catchSignals(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      // A second signal does not wait for output. The exit handlers kill what was started.
      if (controller.signal.aborted) process.exit(interruptedExitCode);
      controller.abort(name);
    });
  }
  return controller.signal;
}

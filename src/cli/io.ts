/** The streams and surroundings of one command as an object: the process's own, or in memory in a test. */
import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import { type Environment, processEnvironment } from "../config/environment.ts";
import { selfCommand } from "../config/self.ts";
import { interruptedExitCode, systemCodeOf } from "../errors.ts";

export interface Output {
  write(text: string): Promise<void>;
  /** Whether a person watches: only then colours and progress. */
  readonly isTerminal: boolean;
  /** How many characters a line of the terminal has; undefined where there is none. */
  readonly columns?: number | undefined;
  /** Whether the reader went away, as far as it was found out. */
  readonly isClosed?: boolean;
  /** A terminal that only appends: what was written cannot be taken away. */
  readonly isDumb?: boolean;
}

export interface Input {
  /** All of it. */
  text(): Promise<string>;
  /** Line by line, until its end or that of the signal; what comes then stays unread. */
  lines(signal: AbortSignal): AsyncIterable<string>;
  /** The next line; what comes after it stays for the next call. Undefined at the end, and when the signal comes. */
  line(options: LineOptions): Promise<string | undefined>;
  readonly isTerminal: boolean;
}

export interface LineOptions {
  signal: AbortSignal;
  /** What is typed is not shown: it is a secret. */
  hidden?: boolean;
  /** Called when nothing of what is typed from now on would be shown that shall not. */
  onReady?: () => Promise<void>;
}

export interface Io {
  stdin: Input;
  stdout: Output;
  stderr: Output;
  env: Environment;
  cwd: string;
  /** Aborted by SIGINT and SIGTERM: the command ends what it started, and then itself. */
  interrupted: AbortSignal;
  /**
   * Puts the same program, with the same arguments, in the place of this process, with these variables besides. It goes on as
   * it is where the system has no such thing, and there is none to call where the command is not a process's own.
   */
  restart?(variables: Record<string, string>): void;
}

/** Signals are caught from here on: the first one stops cleanly, the second at once. */
export function processIo(): Io {
  const env = processEnvironment();
  return {
    stdin: { text: () => Bun.stdin.text(), lines: linesOfStdin, line: lineOfStdin, isTerminal: isatty(0) },
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
        // Windows is such a system.
      }
    },
  };
}

/** Nobody types or pastes a longer line; what has no end shall not fill the memory. */
const maxLineLength = 65_536;

async function* linesOfStdin(signal: AbortSignal): AsyncIterable<string> {
  // Lets the terminal or the pipe go, which would keep the process.
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

/** Loaded only where somebody is asked. */
async function lineOfStdin(options: LineOptions): Promise<string | undefined> {
  const { nextLine } = await import("./terminal-line.ts");
  return nextLine(options);
}

/**
 * Writes to a file descriptor, whole texts in their order. The process's own streams would do the same, but take longer
 * to be made than most commands take to run.
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
          // A reader that went away (`| head`) is no error of ours; what is left to say is said to nobody.
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
      // Whoever sends a second one does not want to wait, not even for output; the exit handlers kill what we started.
      if (controller.signal.aborted) process.exit(interruptedExitCode);
      controller.abort(name);
    });
  }
  return controller.signal;
}

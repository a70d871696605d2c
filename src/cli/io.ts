/** The streams, environment and signals that a command works with. Tests replace them with streams in memory. */
import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import { interruptedExitCode, systemCodeOf } from "../base/errors.ts";
import { isKeychainStuck } from "../base/keychain.ts";
import { type Environment, processEnvironment } from "../config/environment.ts";
import { selfCommand } from "../config/self.ts";

/** Input typed within this time before a question does not answer it. */
const typedBeforeMs = 150;

/** Characters of a line that is typed. A longer input could fill the memory. */
const maxTypedLineChars = 65_536;

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
  /** The next line, or undefined at the end of the input and when the signal is aborted. */
  line(options: LineOptions): Promise<string | undefined>;
  /** Drops what was typed until now, also a line that was begun. Takes a moment. */
  dropTyped(): Promise<void>;
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
  /** Runs `work` after the answer is written, before the process ends. */
  atEnd?: ((work: () => Promise<void>) => void) | undefined;
  /**
   * Replaces this process with the same program, the same arguments and additional environment variables. Returns if the
   * system cannot replace a process. Undefined for commands that do not run in a process of their own.
   */
  restart?(variables: Record<string, string>): void;
}

/** Ends the process when nothing runs any more. All output must be written. */
export function endWith(exitCode: number): void {
  process.exitCode = exitCode;
  // The process would wait for a keychain that waits for a person.
  if (isKeychainStuck()) process.exit(exitCode);
}

/** The streams of this process. From this call on, the first signal aborts `interrupted` and a second one exits at once. */
export function processIo(): Io {
  const env = processEnvironment();
  return {
    stdin: new Stdin(),
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

/** `TCIFLUSH` of termios.h: what was received and not read. */
const receivedQueue = process.platform === "darwin" ? 1 : 0;

class Stdin implements Input {
  readonly isTerminal = isatty(0);
  /** Input that was typed before a line was asked for. */
  #typed = "";
  #hasEnded = false;

  text(): Promise<string> {
    return Bun.stdin.text();
  }

  async dropTyped(): Promise<void> {
    const canFlush = this.isTerminal && process.platform !== "win32";
    // Loaded first: Bun may lose input if something is awaited between two reads.
    const open = canFlush ? (await import("../base/c-library.ts")).openLibrary : undefined;
    const glance = new AbortController();
    void Bun.sleep(typedBeforeMs).then(() => glance.abort());
    await this.#read(glance.signal, () => false);
    this.#typed = "";
    // Until a line is ended, only the terminal has it.
    const library = open?.({ tcflush: { args: ["int", "int"], returns: "int" } });
    library?.symbols.tcflush(0, receivedQueue);
    library?.close();
  }

  async line({ signal, hidden = false, onReady }: LineOptions): Promise<string | undefined> {
    const isRaw = hidden && process.stdin.isTTY;
    await this.#read(signal, (chunk) => (isRaw ? this.#takeKeys(chunk) : this.#takeText(chunk)), { isRaw, onReady });
    return signal.aborted ? undefined : this.#takeLine();
  }

  /** Reads until `take` returns true, the input ends or the signal is aborted. */
  async #read(
    signal: AbortSignal,
    take: (chunk: string) => boolean,
    { isRaw = false, onReady }: { isRaw?: boolean; onReady?: LineOptions["onReady"] | undefined } = {},
  ): Promise<void> {
    if (signal.aborted) return;
    if (this.#hasEnded || take("")) return onReady?.();
    const { stdin } = process;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = () => resolve();
    const onData = (chunk: string) => {
      if (take(chunk)) stop();
    };
    const onEnd = () => {
      this.#hasEnded = true;
      stop();
    };
    stdin.setEncoding("utf8").on("data", onData).once("end", onEnd).once("error", onEnd);
    signal.addEventListener("abort", stop, { once: true });
    if (isRaw) stdin.setRawMode(true);
    stdin.resume();
    try {
      await onReady?.();
      await promise;
    } finally {
      if (isRaw) stdin.setRawMode(false);
      stdin.off("data", onData).off("end", onEnd).off("error", onEnd).pause();
      signal.removeEventListener("abort", stop);
      // An open stdin would keep the process running.
      stdin.unref?.();
    }
  }

  /** Returns whether a line is complete. Input without line breaks, such as /dev/zero, counts as ended. */
  #takeText(chunk: string): boolean {
    this.#typed += chunk;
    if (this.#typed.includes("\n")) return true;
    if (this.#typed.length <= maxTypedLineChars) return false;
    this.#hasEnded = true;
    this.#typed = "";
    return true;
  }

  /** Edits the line and handles Ctrl-C and Ctrl-D, which the terminal does not do in raw mode. Returns whether the line is complete. */
  #takeKeys(chunk: string): boolean {
    for (const key of chunk) {
      if (key === "\r" || key === "\n") this.#typed += "\n";
      else if (key === "\u0003") process.kill(process.pid, "SIGINT");
      else if (key === "\u0004") this.#hasEnded = true;
      else if (key === "\u007f" || key === "\b") this.#typed = [...this.#typed].slice(0, -1).join("");
      else if (key === "\u0015") this.#typed = "";
      else if (key >= " ") this.#typed += key;
    }
    return this.#hasEnded || this.#typed.includes("\n");
  }

  /** Returns the first line, or the rest of the input if it has no end. */
  #takeLine(): string | undefined {
    const [line = "", ...others] = this.#typed.split("\n");
    this.#typed = others.join("\n");
    return line === "" && others.length === 0 ? undefined : line.replace(/\r$/, "");
  }
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

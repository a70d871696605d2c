/** The streams and surroundings of one command as an object: the process's own, or in memory in a test. */
import { type Environment, processEnvironment } from "../config/environment.ts";
import { interruptedExitCode, systemCodeOf } from "../errors.ts";

export interface Output {
  write(text: string): Promise<void>;
  /** Whether a person watches: only then colours and progress. */
  readonly isTerminal: boolean;
}

export interface Io {
  stdin: { text(): Promise<string>; readonly isTerminal: boolean };
  stdout: Output;
  stderr: Output;
  env: Environment;
  cwd: string;
  /** Aborted by SIGINT and SIGTERM: the command ends what it started, and then itself. */
  interrupted: AbortSignal;
}

/** Signals are caught from here on: the first one stops cleanly, the second at once. */
export function processIo(): Io {
  const env = processEnvironment();
  return {
    stdin: { text: () => Bun.stdin.text(), isTerminal: process.stdin.isTTY === true },
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    env,
    cwd: process.cwd(),
    interrupted: catchSignals(),
  };
}

function outputOf(stream: NodeJS.WriteStream): Output {
  // A reader that went away (`| head`) is no error of ours; what is left to say is said to nobody.
  stream.on("error", (error) => {
    if (systemCodeOf(error) !== "EPIPE") throw error;
  });
  return {
    write: (text) => new Promise((resolve) => stream.write(text, () => resolve())),
    isTerminal: stream.isTTY === true,
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

/** Runs the programs of an upgrade: a new executable, a package manager, git. Output and time are limited. */
import { durationText } from "../../base/duration.ts";
import { systemCodeOf } from "../../base/errors.ts";

/** Characters of a program's output that are kept: the last ones. */
const maxProgramOutputChars = 65_536;

export interface Ran {
  /** Undefined if the program could not be started, or was ended by a signal. */
  exitCode: number | undefined;
  stdout: string;
  stderr: string;
  /** Why it has no exit code. */
  why?: string;
}

export interface RunOptions {
  env: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  timeoutMs: number;
  signal: AbortSignal;
  /** Characters of its output that are kept: the last ones. */
  maxOutputChars?: number;
}

export async function runProgram(command: readonly string[], options: RunOptions): Promise<Ran> {
  const late = AbortSignal.timeout(options.timeoutMs);
  try {
    const child = Bun.spawn([...command], {
      cwd: options.cwd ?? "/",
      env: { ...options.env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      windowsHide: true,
      signal: AbortSignal.any([options.signal, late]),
      killSignal: "SIGKILL",
    });
    const [stdout, stderr] = await Promise.all([endOf(child.stdout, options.maxOutputChars), endOf(child.stderr)]);
    await child.exited;
    const { exitCode, signalCode } = child;
    const why = late.aborted ? `it took longer than ${durationText(options.timeoutMs)}` : `it ended with ${signalCode}`;
    return { exitCode: exitCode ?? undefined, stdout, stderr, ...(exitCode === null ? { why } : {}) };
  } catch (error) {
    const why = systemCodeOf(error) ?? "it cannot be started";
    return { exitCode: undefined, stdout: "", stderr: "", why };
  }
}

/** The last characters of an output. */
async function endOf(stream: ReadableStream<Uint8Array>, maxChars = maxProgramOutputChars): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) text = (text + decoder.decode(chunk, { stream: true })).slice(-maxChars);
  return text;
}

/** Why a program failed, in one line. */
export function runFailure({ exitCode, why, stderr, stdout }: Ran): string {
  const lines = `${stdout}\n${stderr}`.split("\n").filter((line) => line.trim() !== "");
  const last = lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1);
  const how = why ?? `it ended with exit code ${exitCode}`;
  return last === undefined ? how : `${how}: ${last.trim().slice(0, 300)}`;
}

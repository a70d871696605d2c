/** Runs a program that prints a secret, and returns what it prints. Nothing that it prints is ever shown, except a line of its stderr. */
import { existsSync } from "node:fs";
import { systemCodeOf } from "../../base/errors.ts";
import type { Environment } from "../../config/environment.ts";
import { ProcessGroup, type SpawnOptions } from "./process-group.ts";

/** Bounds of the output of a program that prints a secret, for `headersHelper` and `${command:…}`. */
const maxPrintedSecretBytes = 65_536;

/** The end of what such a program writes to stderr. Its last line is in the error. */
const maxPrintedErrorBytes = 4_096;

/** Time limit of a program that prints a secret. It is the limit of Claude Code for the programs of `headersHelper`. */
const printingRunMs = 10_000;

export interface OutputOptions {
  /** All of it is passed on, as Claude Code does: such programs read tokens and sockets of the user. */
  env: Environment;
  warn?: ((message: string) => void) | undefined;
  /** Ends the program. */
  signal?: AbortSignal | undefined;
}

/** The program did not print a secret. The message continues a sentence that begins with its name. */
export class ProgramFailure extends Error {
  override readonly name = "ProgramFailure";
  readonly exitCode: number | undefined;
  /** Its folder does not exist. */
  readonly hasNoFolder: boolean;
  /** The end of its stderr. It may contain a secret. */
  readonly stderr: string;

  constructor(message: string, { exitCode, hasNoFolder = false, stderr = "" }: Partial<ProgramFailure> = {}) {
    super(message);
    this.exitCode = exitCode;
    this.hasNoFolder = hasNoFolder;
    this.stderr = stderr;
  }
}

type Program = Pick<SpawnOptions, "command" | "args" | "cwd" | "isShellLine">;

/** Throws ProgramFailure. */
export async function outputOf(program: Program, options: OutputOptions): Promise<string> {
  const group = started(program, options);
  const late = AbortSignal.timeout(printingRunMs);
  const stop = () => group.signal("SIGKILL");
  const signals = [late, ...(options.signal ? [options.signal] : [])];
  for (const signal of signals) signal.addEventListener("abort", stop, { once: true });
  if (options.signal?.aborted) stop();
  try {
    const errors = lastBytes(group.stderr);
    // A program that asks a question must not wait for the answer.
    void group.endInput();
    const text = await allBytes(group, stop);
    const how = await group.exited;
    if (text === undefined) throw new ProgramFailure(`printed more than ${maxPrintedSecretBytes / 1_024} KB`);
    if (options.signal?.aborted) throw new ProgramFailure("was ended: claudikins is closing");
    if (late.aborted) throw new ProgramFailure(`did not end within ${printingRunMs / 1_000} s`);
    const { exitCode } = group;
    if (exitCode !== 0) throw new ProgramFailure(how, { exitCode: exitCode ?? undefined, stderr: await errors });
    return text;
  } finally {
    for (const signal of signals) signal.removeEventListener("abort", stop);
  }
}

function started(program: Program, { env, warn }: OutputOptions): ProcessGroup {
  const all = Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined);
  try {
    return new ProcessGroup({ ...program, env: Object.fromEntries(all), ...(warn ? { warn } : {}) });
  } catch (error) {
    // The error names the program with its arguments, which may contain a secret.
    if (!existsSync(program.cwd)) {
      throw new ProgramFailure(`cannot run: its folder ${program.cwd} does not exist`, { hasNoFolder: true });
    }
    const code = systemCodeOf((error as Error).cause) ?? systemCodeOf(error) ?? "unknown error";
    throw new ProgramFailure(`could not be started (${code})`);
  }
}

/** Undefined if there is too much: then it calls `stop`. */
async function allBytes(group: ProcessGroup, stop: () => void): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  await group.read((chunk) => {
    size += chunk.length;
    if (size <= maxPrintedSecretBytes) chunks.push(chunk);
    else stop();
    return undefined;
  });
  return size > maxPrintedSecretBytes ? undefined : Buffer.concat(chunks).toString("utf8");
}

/** Reads everything, so that the program is never held up. */
async function lastBytes(stream: ReadableStream<Uint8Array>): Promise<string> {
  let tail = Buffer.alloc(0);
  try {
    for await (const chunk of stream) tail = Buffer.concat([tail, chunk]).subarray(-maxPrintedErrorBytes);
  } catch {
    // The program was ended.
  }
  return tail.toString("utf8");
}

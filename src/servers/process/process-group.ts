/** A child process with its own process group; on Windows, with its own job object. No process of either outlives this process. */

import type { Library } from "bun:ffi";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { resolve } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "../../base/errors.ts";
import { atMost } from "../../base/time-limit.ts";
import { resolveCommand, shellCommand } from "./command.ts";
import { type ProcessPipes, processPipes, type TakeChunk } from "./process-pipes.ts";
import { membersOf } from "./resident-memory.ts";
import { beforeStart, notStarted, unwatch, watch } from "./watchdog.ts";

/** Time for a group of processes to end after its stdin was closed. */
const eofGraceMs = 300;

/** Time for it to end after SIGTERM, before SIGKILL. */
const termGraceMs = 1_500;

export interface SpawnOptions {
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** Called if the group would survive if this process were killed, because it has no watchdog or no job object. */
  warn?: (message: string) => void;
  /** `command` is a line for the shell of the operating system, and there are no `args`. */
  isShellLine?: boolean;
  /** Open files that the process gets, from descriptor 3 on. */
  files?: readonly number[];
  /** The leader is bubblewrap, which ends its box when it ends itself: signals are for the processes inside. */
  isBox?: boolean;
}

const isWindows = process.platform === "win32";

const alive = new Set<ProcessGroup>();

/** Kills all remaining groups when the process exits. The watchdog does the same if this process is killed. */
function killAllGroups(): void {
  for (const group of alive) group.signal("SIGKILL");
}
process.on("exit", killAllGroups);

type Child = Bun.Subprocess<"pipe" | number, "pipe" | number, "pipe">;

export class ProcessGroup implements AsyncDisposable {
  readonly #child: Child;
  readonly #pipes: ProcessPipes;
  /** Undefined if this is not Windows, or if the process cannot be put into a job. */
  readonly #job: JobObject | undefined;
  readonly #isBox: boolean;
  #stopping: Promise<void> | undefined;

  /** Throws SERVER_UNAVAILABLE if the command cannot be started, CONFIG_INVALID if its arguments cannot be passed on. */
  constructor(options: SpawnOptions) {
    const { env, cwd, isBox = false } = options;
    this.#isBox = isBox;
    const surroundings = { env, cwd, platform: process.platform };
    const { file, args, ...how } = options.isShellLine
      ? shellCommand(options.command, surroundings)
      : resolveCommand(options.command, options.args, surroundings);
    const mark = beforeStart(options.warn);
    this.#pipes = processPipes();
    try {
      this.#child = Bun.spawn([file, ...args], {
        ...how,
        cwd,
        env: { ...env, ...mark },
        stdio: [...this.#pipes.stdio, "pipe", ...(options.files ?? [])],
        // Otherwise Windows would open a window.
        detached: !isWindows,
        windowsHide: true,
      });
      this.#pipes.begun(this.#child);
    } catch (cause) {
      this.#pipes.begun(undefined);
      notStarted();
      throw startError(options, cause);
    }
    if (isWindows) this.#job = jobAround(this.#child, options);
    watch(this.#child.pid);
    alive.add(this);
    void this.#child.exited.then(() => {
      // Processes that the leader leaves behind, such as children of `npx` or `sh -c`, belong to the group.
      this.signal("SIGKILL");
      this.#job?.close();
      alive.delete(this);
      unwatch(this.#child.pid);
    });
  }

  get pid(): number {
    return this.#child.pid;
  }
  /** Writes to stdin. See `ProcessPipes`. */
  write(text: string): Promise<void> | undefined {
    return this.#pipes.write(text);
  }
  /** Closes stdin. Never rejects. */
  endInput(): Promise<void> {
    return this.#pipes.endInput();
  }
  /** Reads stdout. Call this once. Resolves at its end. */
  read(take: TakeChunk): Promise<void> {
    return this.#pipes.read(take);
  }
  get stderr(): Child["stderr"] {
    return this.#child.stderr;
  }
  /** How the leader ended: "exited with code 1", "was ended by SIGKILL". */
  get exited(): Promise<string> {
    return this.#child.exited.then((code) => {
      const signal = this.#child.signalCode ?? (this.#isBox ? signalInCode(code) : undefined);
      return signal ? `was ended by ${signal}` : `exited with code ${code}`;
    });
  }

  /** Null while the leader runs, and if a signal has ended it. */
  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** Sends a signal to every process of the group, if any. Windows has no signals: there, SIGKILL ends the job, and others do nothing. */
  signal(name: NodeJS.Signals): void {
    if (isWindows) {
      if (name !== "SIGKILL") return;
      if (this.#job) this.#job.kill();
      else this.#child.kill("SIGKILL");
      return;
    }
    const targets = this.#isBox && name !== "SIGKILL" ? membersOf(this.#child.pid) : [-this.#child.pid];
    for (const target of targets) {
      try {
        process.kill(target, name);
      } catch (error) {
        if (systemCodeOf(error) !== "ESRCH" && systemCodeOf(error) !== "EPERM") throw error;
      }
    }
  }

  /** Closes stdin, waits, sends SIGTERM, waits, sends SIGKILL. Resolves when the leader has ended. Can be called repeatedly. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    await this.#pipes.endInput();
    await atMost(eofGraceMs, this.#child.exited);
    if (alive.has(this)) {
      this.signal("SIGTERM");
      await atMost(termGraceMs, this.#child.exited);
    }
    if (alive.has(this)) this.signal("SIGKILL");
    await this.#child.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Undefined if the process has ended already, or if the system refuses. */
function jobAround(child: Child, { command, warn }: SpawnOptions): JobObject | undefined {
  try {
    return JobObject.around(child.pid);
  } catch (cause) {
    const why = `it could not be put into a job object: ${messageOf(cause)}`;
    if (child.exitCode === null) warn?.(`${command} may outlive claudikins if it is killed: ${why}`);
    return undefined;
  }
}

function startError(options: SpawnOptions, cause: unknown): ClaudikinsError {
  const { command, cwd } = options;
  const say = (message: string, hint?: string) => new ClaudikinsError("SERVER_UNAVAILABLE", message, { cause, hint });
  switch (systemCodeOf(cause)) {
    case "ENOENT":
      // The system reports a missing folder like a missing command.
      if (!existsSync(cwd)) {
        return missingFolder(cwd);
      }
      // The same for a script whose interpreter is missing.
      return existsSync(resolve(cwd, command)) && isPath(command)
        ? say(
            `the interpreter named in the first line of ${command} does not exist`,
            "Install it, or correct that line.",
          )
        : say(missingCommand(command).why, missingCommand(command).hint);
    case "EACCES":
      return say(`permission denied: ${command}`, "Make it executable, for example with chmod +x.");
    default:
      return say(`${command}: ${messageOf(cause)}`);
  }
}

export function missingFolder(cwd: string): ClaudikinsError {
  const hint = 'Create the folder, or correct "cwd" in the config.';
  return new ClaudikinsError("SERVER_UNAVAILABLE", `its working directory ${cwd} does not exist`, { hint });
}

/** The signal that ended a process, in the exit code that a shell and bubblewrap report for it. */
function signalInCode(code: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => code === 128 + number)?.[0];
}

const isPath = (command: string) => /[\\/]/.test(command);

/** What to install for common commands, and where to find it. */
const origins: Record<string, string> = {
  npx: "Node.js (https://nodejs.org)",
  npm: "Node.js (https://nodejs.org)",
  node: "Node.js (https://nodejs.org)",
  uvx: "uv (https://docs.astral.sh/uv)",
  uv: "uv (https://docs.astral.sh/uv)",
  bunx: "Bun (https://bun.sh)",
  bun: "Bun (https://bun.sh)",
  deno: "Deno (https://deno.com)",
  python: "Python (https://www.python.org)",
  python3: "Python (https://www.python.org)",
  pipx: "pipx (https://pipx.pypa.io)",
  docker: "Docker (https://docs.docker.com/get-docker)",
};

/** The failure of a server whose command does not exist. */
export function missingCommand(command: string): { why: string; hint: string } {
  return { why: `command not found: ${command}`, hint: missingHint(command) };
}

function missingHint(command: string): string {
  if (/\s/.test(command)) return 'Put only the program in "command", and its arguments in "args".';
  if (isPath(command)) return 'Correct "command" in the config: there is no such file.';
  if (/^cmd(?:\.exe)?$/i.test(command))
    return 'This works on Windows only: remove "cmd" and "/c", and use what follows as "command".';
  const origin = Object.hasOwn(origins, command) ? origins[command] : command;
  const path = `the output of "${isWindows ? "where" : "which"} ${command}"`;
  return `Install ${origin}. If it is installed but not on the PATH of claudikins, set "command" to ${path}.`;
}

const declarations = {
  CreateJobObjectW: { args: ["ptr", "ptr"], returns: "u64" },
  SetInformationJobObject: { args: ["u64", "i32", "ptr", "u32"], returns: "i32" },
  OpenProcess: { args: ["u32", "i32", "u32"], returns: "u64" },
  AssignProcessToJobObject: { args: ["u64", "u64"], returns: "i32" },
  TerminateJobObject: { args: ["u64", "u32"], returns: "i32" },
  CloseHandle: { args: ["u64"], returns: "i32" },
  GetLastError: { args: [], returns: "u32" },
} as const;

/** The class and the flag of SetInformationJobObject, and what OpenProcess must allow. */
const extendedLimits = 9;
const killOnClose = 0x2000;
const setQuotaAndTerminate = 0x0101;

/** JOBOBJECT_EXTENDED_LIMIT_INFORMATION on a 64-bit system: its size, and where BasicLimitInformation.LimitFlags is. */
const limitsBytes = 144;
const flagsOffset = 16;

type Kernel = Library<typeof declarations>["symbols"];

let kernel: Kernel | undefined;

/**
 * A job object of Windows, in the place of a process group: it holds a process and everything that the process starts. Windows ends all of
 * them when the last handle of the job is closed, even if claudikins is killed.
 * https://learn.microsoft.com/windows/win32/procthread/job-objects
 */
class JobObject {
  readonly #kernel: Kernel;
  #handle: bigint;

  private constructor(functions: Kernel, handle: bigint) {
    this.#kernel = functions;
    this.#handle = handle;
  }

  /**
   * Creates a job and puts the process into it. Call this directly after the process was started: what it has started before
   * is not in the job. Throws an error that says which call failed, with the number of Windows' error.
   */
  static around(pid: number): JobObject {
    kernel ??= openKernel();
    const handle = BigInt(kernel.CreateJobObjectW(null, null));
    if (handle === 0n) throw failure("CreateJobObject");
    const job = new JobObject(kernel, handle);
    try {
      job.#take(pid);
      return job;
    } catch (error) {
      job.close();
      throw error;
    }
  }

  #take(pid: number): void {
    const limits = new Uint8Array(limitsBytes);
    new DataView(limits.buffer).setUint32(flagsOffset, killOnClose, true);
    if (!this.#kernel.SetInformationJobObject(this.#handle, extendedLimits, limits, limitsBytes)) {
      throw failure("SetInformationJobObject");
    }
    const process = BigInt(this.#kernel.OpenProcess(setQuotaAndTerminate, 0, pid));
    if (process === 0n) throw failure("OpenProcess");
    try {
      if (!this.#kernel.AssignProcessToJobObject(this.#handle, process)) throw failure("AssignProcessToJobObject");
    } finally {
      this.#kernel.CloseHandle(process);
    }
  }

  /** Ends every process of the job. Does nothing after `close`. */
  kill(): void {
    if (this.#handle !== 0n) this.#kernel.TerminateJobObject(this.#handle, 1);
  }

  /** Ends every process of the job, and gives the job up. Can be called repeatedly. */
  close(): void {
    if (this.#handle !== 0n) this.#kernel.CloseHandle(this.#handle);
    this.#handle = 0n;
  }
}

/** Loads bun:ffi only where it is used: that takes a millisecond. */
function openKernel(): Kernel {
  const { dlopen } = require("bun:ffi") as typeof import("bun:ffi");
  return dlopen("kernel32.dll", declarations).symbols;
}

function failure(call: string): Error {
  return new Error(`${call} failed with error ${kernel?.GetLastError()}`);
}

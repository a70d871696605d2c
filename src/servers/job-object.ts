/**
 * A job object of Windows, in the place of a process group: it holds a process and everything that the process starts. Windows
 * ends all of them when the last handle of the job is closed, even if claudikins is killed.
 *
 * https://learn.microsoft.com/windows/win32/procthread/job-objects
 */
import type { Library } from "bun:ffi";

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

export class JobObject {
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

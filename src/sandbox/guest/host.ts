/** The interface between the guest and its host. The worker defines it before any code of the guest runs. */
import type { ByteKind } from "./kinds.ts";

export interface HostFunctions {
  /** Logs text. If `open` is 1, the text is the beginning of a line that the next text of this level continues. */
  log(level: string, text: string, open?: number): void;
  /** Returns JSON of an error if the value is refused. */
  display(json: string): string | undefined;
  /**
   * Starts a call. The lines of the text are JSON of `[namespace, name, kind]`, JSON of the arguments, and the present stack. `kind` is one of
   * `callKind`. Returns JSON of an error if the call is refused.
   */
  call(id: number, text: string): string | undefined;
  /** Asks for a skill of the workspace by name. The answer is `loaded` or `loadFailed`. */
  load(id: number, skill: string): void;
  setTimer(id: number, delayMs: number): void;
  clearTimer(id: number): void;
  now(): number;
  /** Ends the execution with JSON of the value, and JSON of what looks wrong about it, if anything does. */
  done(json: string | undefined, notes?: string): void;
  failed(errorJson: string): void;
  /** Calls a pure function by name, with JSON. See ../host/compute.ts. Throws an error that is meant for the program. */
  compute(name: string, argsJson: string): string;
  /** Runs a file operation. See ../host/files.ts. */
  file(operation: string, argsJson: string): string;
  /** Converts a text. See ../host/bytes.ts. */
  bytes(kind: ByteKind, text: string): ArrayBuffer | undefined;
  /** Converts the bytes of a whole buffer. */
  text(kind: ByteKind, bytes: ArrayBufferLike): string | undefined;
}

export type FileKind = "file" | "folder" | "link" | "other";

/** The facts about a file. They contain no user, device or inode number of the machine. */
export interface FileStats {
  kind: FileKind;
  size: number;
  nlink: number;
  atimeMs: number;
  mtimeMs: number;
  ctimeMs: number;
  birthtimeMs: number;
}

/** The error of a file operation. Its paths are the program's own. */
export interface FileFault {
  code: string;
  message: string;
  syscall: string;
  path?: string;
  dest?: string;
  hint?: string;
}

/** The functions of the guest that the worker calls. */
export interface Guest {
  /** Defines the namespaces, then runs the program. The settings are `{ namespaces, seed: four 32-bit numbers, timeoutMs }`. */
  start(settingsJson: string, main: (exports: object) => Promise<unknown>): void;
  /** Answers a load with the body of the module as a function. */
  loaded(id: number, body: (exports: Record<string, unknown>) => Promise<unknown>): void;
  loadFailed(id: number, errorJson: string): void;
  /** Answers a call. `kind` is one of `answerKind`. */
  settle(id: number, kind: number, payload: string): void;
  fire(timer: number): void;
  /** Returns whether the guest waits for the host. */
  waiting(): boolean;
  /** Ends the execution if the program has returned, even if promises are floating. Returns false if it has not returned. */
  finish(): boolean;
}

declare global {
  var __host: HostFunctions;
  var __guest: Guest;
}

export const host: HostFunctions = globalThis.__host;

const { parse, stringify } = JSON;
const computeErrors: Record<string, ErrorConstructor> = {
  __proto__: null as never,
  RangeError,
  TypeError,
  SyntaxError,
};

/** Asks the host to compute what the engine cannot. Errors of the host become errors of the guest. */
export function compute<T>(name: string, args: object): T {
  let answer: string;
  try {
    answer = host.compute(name, stringify(args));
  } catch (error) {
    const { name: kind = "", message } = error as Error;
    // InternalError means that the host interrupted the execution. It must not be changed.
    if (kind === "InternalError") throw error;
    throw new (computeErrors[kind] ?? Error)(message);
  }
  return parse(answer) as T;
}

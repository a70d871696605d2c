/** The whole door between the guest and its host: what the worker puts there before any guest code runs. */

export interface Host {
  /** `open` is 1 for the beginning of a line, which what comes next on this level goes on with. */
  log(level: string, text: string, open?: number): void;
  /** Gives JSON of the error when it is refused. */
  display(json: string): string | undefined;
  /** `kind` is one of `callKind`, `stack` says where the code is. Gives JSON of the error when it is refused. */
  call(id: number, namespace: string, name: string, argsJson: string, kind: number, stack: string): string | undefined;
  /** Asks for a skill of the workspace by name. */
  load(id: number, skill: string): void;
  setTimer(id: number, delayMs: number): void;
  clearTimer(id: number): void;
  now(): number;
  /** The value, and JSON of what looks wrong about it, if anything does. */
  done(json: string | undefined, notes?: string): void;
  failed(errorJson: string): void;
  /** A pure function by name, on JSON; see ../host/compute.ts. Throws what the code is to be told. */
  compute(name: string, argsJson: string): string;
  /** An operation on the files that the code may reach; see ../host/files.ts. */
  file(operation: string, argsJson: string): string;
}

export type FileKind = "file" | "folder" | "link" | "other";

/** What is told of a file: nothing of the host's users, devices and numbers. */
export interface FileStats {
  kind: FileKind;
  size: number;
  links: number;
  accessedMs: number;
  modifiedMs: number;
  changedMs: number;
  bornMs: number;
}

/** Why an operation on files was not done. Paths are the code's own. */
export interface FileFault {
  code: string;
  message: string;
  syscall: string;
  path?: string;
  dest?: string;
  hint?: string;
}

/** What the worker may call in the guest. */
export interface Guest {
  /** Defines the namespaces, then runs the program. Settings are `{ namespaces, seed: four 32-bit numbers, timeoutMs }`. */
  start(settingsJson: string, main: (exports: object) => Promise<unknown>): void;
  /** The answer to a load: the body of a module as a function, or why there is none. */
  loaded(id: number, body: (exports: Record<string, unknown>) => Promise<unknown>): void;
  loadFailed(id: number, errorJson: string): void;
  /** The answer to a call; `kind` is one of `answerKind`. */
  settle(id: number, kind: number, payload: string): void;
  fire(timer: number): void;
  /** True while something runs that the host has to answer. */
  waiting(): boolean;
  /** Ends the execution if its program has come to its end, whatever still floats; false when it has not. */
  finish(): boolean;
}

declare global {
  var __host: Host;
  var __guest: Guest;
}

export const host: Host = globalThis.__host;

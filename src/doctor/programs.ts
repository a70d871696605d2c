/** Finds programs on the PATH and asks for their version. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { Environment } from "../config/environment.ts";

const isWindows = process.platform === "win32";

/** The paths in the order of the PATH, without duplicates through links. */
export function programsOnPath(name: string, env: Environment): string[] {
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter(isAbsolute);
  const names = isWindows ? [".exe", ".cmd"].map((ending) => name + ending) : [name];
  const found = folders.flatMap((folder) => names.map((each) => join(folder, each))).filter(isProgram);
  const real = found.map(realOf);
  return found.filter((_, place) => real.indexOf(real[place] ?? "") === place);
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The path without links; the path itself if nothing exists there. */
export function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const patienceMs = 5_000;

/** Starts the program with `--version`. Undefined if it prints no version. */
export async function versionOf(program: string, env: Environment, signal: AbortSignal): Promise<string | undefined> {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  if (patience.aborted) return undefined;
  try {
    const child = Bun.spawn([program, "--version"], {
      // Some programs read settings from the working directory first.
      cwd: "/",
      env: { ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      windowsHide: true,
      signal: patience,
      killSignal: "SIGKILL",
    });
    const reader = child.stdout.getReader();
    // A version fits into the first chunk.
    const { value } = await reader.read();
    await reader.cancel();
    child.kill("SIGKILL");
    await child.exited;
    return /\d+\.\d+\.\d+[\w.+-]*/.exec(new TextDecoder().decode(value))?.[0];
  } catch {
    return undefined;
  }
}

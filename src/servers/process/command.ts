/**
 * Resolves a command of the config for the operating system. On Windows, most commands of MCP servers are batch files
 * (`npx.cmd`), which only `cmd.exe` can start. Elsewhere, the command is used as it is.
 */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { win32 } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";

export interface ResolvedCommand {
  file: string;
  args: string[];
  /** The arguments are already escaped. */
  windowsVerbatimArguments: boolean;
}

export interface CommandEnvironment {
  /** The environment of the process. Its PATH and PATHEXT are searched. */
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  platform: NodeJS.Platform;
  files?: FileAccess;
}

/** Access to files; tests replace it. */
export interface FileAccess {
  isFile(path: string): boolean;
  /** The first characters of a file. Empty if it cannot be read. */
  beginning(path: string): string;
}

/** A missing command is returned unchanged. Throws CONFIG_INVALID for arguments that no batch file can take. */
export function resolveCommand(command: string, args: string[], surroundings: CommandEnvironment): ResolvedCommand {
  if (surroundings.platform !== "win32") return plain(command, args);
  const file = findOnWindows(command, surroundings);
  if (file === undefined) return plain(command, args);
  if (isBatch(file)) return throughCmd(file, args, surroundings);
  if (isProgram(file)) return plain(file, args);
  const [interpreter, ...first] = interpreterOf((surroundings.files ?? realFiles).beginning(file));
  const program = interpreter === undefined ? undefined : findOnWindows(interpreter, surroundings);
  if (program === undefined) return plain(file, args);
  const all = [...first, file, ...args];
  return isBatch(program) ? throughCmd(program, all, surroundings) : plain(program, all);
}

/** The shell of the operating system, with a line that it runs. */
export function shellCommand(line: string, surroundings: CommandEnvironment): ResolvedCommand {
  return surroundings.platform === "win32" ? lineForCmd(line, surroundings) : plain("/bin/sh", ["-c", line]);
}

function plain(file: string, args: string[]): ResolvedCommand {
  return { file, args, windowsVerbatimArguments: false };
}

const isBatch = (file: string) => /\.(?:cmd|bat)$/i.test(file);
const isProgram = (file: string) => /\.(?:exe|com)$/i.test(file);

/**
 * Unlike cmd.exe, this does not search the working directory for a bare name: a project folder must not replace the user's
 * `npx.cmd` by its own. `./server` names a file there.
 */
function findOnWindows(command: string, { env, cwd, files = realFiles }: CommandEnvironment): string | undefined {
  const endings = (variable(env, "PATHEXT") || ".COM;.EXE;.BAT;.CMD").split(";").filter(Boolean);
  // A file without an extension is a script for another shell, such as the `npx` beside `npx.cmd`.
  const all = win32.extname(command) === "" ? [...endings, ""] : ["", ...endings];
  const isPath = /[\\/]|^[A-Za-z]:/.test(command);
  const folders = isPath ? [cwd] : (variable(env, "PATH") ?? "").split(";").map((each) => each.replace(/^"|"$/g, ""));
  for (const folder of folders) {
    if (folder === "") continue;
    for (const ending of all) {
      const path = win32.resolve(cwd, folder, command) + ending.toLowerCase();
      if (files.isFile(path)) return path;
    }
  }
  return undefined;
}

/** Windows ignores the case of variables: `Path`. */
function variable(env: CommandEnvironment["env"], name: string): string | undefined {
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}

/** `#!/usr/bin/env -S node --flag` → `node`, `--flag`. Empty if there is no such line. */
function interpreterOf(beginning: string): string[] {
  const words = /^#!\s*([^\r\n]+)/.exec(beginning)?.[1]?.trim().split(/\s+/) ?? [];
  const [program = "", ...rest] = words;
  const named = program.split(/[\\/]/).at(-1) ?? "";
  if (named !== "env") return named === "" ? [] : [named, ...rest];
  return rest[0] === "-S" ? rest.slice(1) : rest;
}

function throughCmd(file: string, args: string[], surroundings: CommandEnvironment): ResolvedCommand {
  return lineForCmd([file, ...args].map((text, index) => quoted(text, index)).join(" "), surroundings);
}

function lineForCmd(line: string, { env }: CommandEnvironment): ResolvedCommand {
  const system = variable(env, "SYSTEMROOT");
  const cmd =
    variable(env, "COMSPEC") ?? (system === undefined ? "cmd.exe" : win32.join(system, "System32", "cmd.exe"));
  // Without AutoRun and delayed expansion of `!`. cmd.exe removes only the outermost quotes of the line.
  return { file: cmd, args: ["/d", "/e:ON", "/v:OFF", "/s", "/c", `"${line}"`], windowsVerbatimArguments: true };
}

/**
 * One argument for a batch file. It is parsed twice: by cmd.exe, for which everything in quotes except `%` is text, and by
 * the program, for which two quotes are one. A backslash before a quote would end the quotes of cmd.exe, and the rest could
 * be a command. An empty variable before `%` keeps it from starting a name.
 */
function quoted(text: string, index: number): string {
  if (/[\0\r\n]/.test(text)) {
    throw new ClaudikinsError("CONFIG_INVALID", `argument ${index} has a line break, which batch files cannot accept`, {
      hint: 'Remove it from "args", or start the program itself instead of its .cmd.',
    });
  }
  const inside = text
    .replace(/\\+(?="|$)/g, (backslashes) => backslashes.repeat(2))
    .replaceAll('"', '""')
    .replaceAll("%", "%%cd:~,%");
  return `"${inside}"`;
}

export const realFiles: FileAccess = {
  isFile(path) {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  },
  beginning(path) {
    let file: number | undefined;
    try {
      file = openSync(path, "r");
      const bytes = new Uint8Array(256);
      return new TextDecoder().decode(bytes.subarray(0, readSync(file, bytes)));
    } catch {
      return "";
    } finally {
      if (file !== undefined) closeSync(file);
    }
  },
};

/**
 * A command of the config → what the system is to be asked to start. On Windows most commands of MCP servers are no
 * programs but batch files (`npx.cmd`), which it starts only through `cmd.exe`; elsewhere there is nothing to do.
 */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { win32 } from "node:path";
import { ClaudikinsError } from "../errors.ts";

export interface Started {
  file: string;
  args: string[];
  /** The arguments are escaped already. */
  windowsVerbatimArguments: boolean;
}

export interface Surroundings {
  /** The environment that the program will have: its PATH and PATHEXT count. */
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  platform: NodeJS.Platform;
  files?: Files;
}

/** What there is to know of the files of the machine. */
export interface Files {
  isFile(path: string): boolean;
  /** The first characters of a file; empty when it cannot be read. */
  beginning(path: string): string;
}

/** Throws CONFIG_INVALID for an argument that no batch file can be given. What is not found is returned as it came. */
export function resolveCommand(command: string, args: string[], surroundings: Surroundings): Started {
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

function plain(file: string, args: string[]): Started {
  return { file, args, windowsVerbatimArguments: false };
}

const isBatch = (file: string) => /\.(?:cmd|bat)$/i.test(file);
const isProgram = (file: string) => /\.(?:exe|com)$/i.test(file);

/**
 * Unlike cmd.exe we do not look for a bare name in the working directory: that is the folder of somebody's project, which
 * shall not put its own `npx.cmd` before the user's. Who means it writes `./server`.
 */
function findOnWindows(command: string, { env, cwd, files = realFiles }: Surroundings): string | undefined {
  const endings = (variable(env, "PATHEXT") || ".COM;.EXE;.BAT;.CMD").split(";").filter(Boolean);
  // Without an ending a file is a script for another shell, such as the `npx` that lies beside `npx.cmd`.
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

/** On Windows the names of variables are the same in either case: `Path`. */
function variable(env: Surroundings["env"], name: string): string | undefined {
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}

/** `#!/usr/bin/env -S node --flag` → `node`, `--flag`; nothing where there is no such line. */
function interpreterOf(beginning: string): string[] {
  const words = /^#!\s*([^\r\n]+)/.exec(beginning)?.[1]?.trim().split(/\s+/) ?? [];
  const [program = "", ...rest] = words;
  const named = program.split(/[\\/]/).at(-1) ?? "";
  if (named !== "env") return named === "" ? [] : [named, ...rest];
  return rest[0] === "-S" ? rest.slice(1) : rest;
}

function throughCmd(file: string, args: string[], { env }: Surroundings): Started {
  const system = variable(env, "SYSTEMROOT");
  const cmd =
    variable(env, "COMSPEC") ?? (system === undefined ? "cmd.exe" : win32.join(system, "System32", "cmd.exe"));
  const line = [file, ...args].map((text, index) => quoted(text, index)).join(" ");
  // No AutoRun, no delayed expansion of `!`, and of the line only the outermost quotes are taken away.
  return { file: cmd, args: ["/d", "/e:ON", "/v:OFF", "/s", "/c", `"${line}"`], windowsVerbatimArguments: true };
}

/**
 * One argument for a batch file. It is read twice: by cmd.exe, for which all between quotes is text but `%`, and by the
 * program, for which two quotes are one. A backslash before a quote, as programs take it, would end the quotes of cmd.exe,
 * and what follows could be a command. `%` is put behind a variable that is empty, so that it begins no name.
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

const realFiles: Files = {
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

/** What a program needs to run in a box: its files, its interpreter and its libraries. */
import { existsSync } from "node:fs";
import { basename, delimiter, dirname, join, relative, resolve, sep } from "node:path";
import type { HeldPath } from "../../base/held-path.ts";
import { isProgram } from "../../config/locations.ts";
import { isWithin } from "../../config/trust/written-folders.ts";
import { realFiles } from "../process/command.ts";
import type { Contents } from "./contents.ts";
import type { Command } from "./launchers.ts";

/** The parts of a folder with `bin` and `lib` that programs use. Other files beside them may be secrets, as in `~/.cargo`. */
const partsOfPrefix = ["bin", "lib", "lib64", "libexec", "share", "pyvenv.cfg"];

/** Interpreters of one program: a script whose interpreter is a script. */
const maxInterpreters = 4;

const manifests = ["package.json", "pyproject.toml", "setup.py"];

/** The parts of a package that programs use. */
const partsOfPackage = [...manifests, "tsconfig.json", "node_modules", "src", "lib", "dist", "build", "out"];

const interpreters =
  /^(?:node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|pypy[\d.]*|ruby|perl|php|java|sh|bash|dash|zsh)$/;

/** The files that a command starts, as absolute paths: its program, which is found on the PATH, and the script that an interpreter runs. */
export function startFiles({ command, args, env }: Command, cwd: string): string[] {
  const file = command.includes("/") ? resolve(cwd, command) : Bun.which(command, { PATH: env["PATH"] ?? "" });
  if (file === null) return [];
  if (!interpreters.test(basename(file))) return [file];
  const script = args.find((arg) => !arg.startsWith("-") && realFiles.isFile(resolve(cwd, arg)));
  return script === undefined ? [file] : [file, resolve(cwd, script)];
}

const code = /\.(?:[cm]?[jt]sx?|pyz?|rb|pl|php|sh|jar|lua|wasm)$/i;

/** All files that a command may run: those that it starts, and programs that its arguments and variables name. `npx tsx server.ts` has one. */
export function programFiles(command: Command, cwd: string): string[] {
  const texts = [...command.args, ...Object.values(command.env)];
  const paths = texts.flatMap((text) => [text, ...text.split(/[\s=,:;]+/)]).map((word) => resolve(cwd, word));
  return [
    ...startFiles(command, cwd),
    ...paths.filter((path) => isProgram(path) || (code.test(path) && existsSync(path))),
  ];
}

interface Scene {
  contents: Contents;
  path: string;
  home: string;
  /** What no box shows, even if it is beside a program. */
  closed: readonly HeldPath[];
}

/** Shows the files that a command starts, and what they need. */
export function showPrograms([program = "", ...scripts]: readonly string[], scene: Scene): void {
  let file: string | undefined = program;
  // The first line of a script names its interpreter, which may be a script.
  for (let left = maxInterpreters; file !== undefined && left >= 0; left--) {
    const real = showWithPackage(file, scene);
    file = real === undefined ? undefined : interpreterOf(real, [real, file], scene.path);
  }
  for (const script of scripts) showWithPackage(script, scene);
}

/** Shows a file with what belongs to it, at each step of its links. Returns its path without links. */
function showWithPackage(file: string, { contents, home, closed }: Scene): string | undefined {
  const found = contents.find(file);
  if (!found) return undefined;
  contents.show(found);
  for (const step of [...found.links.map(({ at }) => at), found.path]) {
    for (const at of belongingTo(step, home)) {
      const part = contents.find(at);
      if (part && !closed.some((place) => place.isWithin(part))) contents.show(part);
    }
  }
  return found.path;
}

function belongingTo(file: string, home: string): string[] {
  // A home and what is around it belong to no program.
  const isNarrow = (folder: string) => folder !== "/" && !isWithin(home, folder) && folder !== join(home, ".local");
  const modules = file.indexOf("/node_modules/");
  if (modules !== -1) return [file.slice(0, modules + "/node_modules".length)];
  const folder = dirname(file);
  const prefix = dirname(folder);
  if (basename(folder) === "shims" && isNarrow(prefix)) return [prefix];
  if (basename(folder) === "bin" && isNarrow(prefix) && existsSync(join(prefix, "lib"))) {
    return partsOfPrefix.map((part) => join(prefix, part));
  }
  for (let at = folder; isNarrow(at); at = dirname(at)) {
    if (!manifests.some((name) => existsSync(join(at, name)))) continue;
    // The folder of a script is its package. One around it may have much else.
    const [first = ""] = relative(at, file).split(sep);
    return [...(folder === at ? [at] : []), ...[first, ...partsOfPackage].map((part) => join(at, part))];
  }
  return [];
}

/**
 * The interpreter of a script: `#!/usr/bin/env -S node --flag` → `node`; `#!/opt/bin/python` → `/opt/bin/python`. It must be beside one of `scripts` or
 * on the PATH: a hostile script must not open another folder by its first line.
 */
function interpreterOf(file: string, scripts: readonly string[], path: string): string | undefined {
  const [program, ...rest] = /^#!\s*([^\r\n]+)/.exec(realFiles.beginning(file))?.[1]?.trim().split(/\s+/) ?? [];
  const isEnv = program !== undefined && basename(program) === "env";
  const name = isEnv ? rest.find((word) => !word.startsWith("-") && !word.includes("=")) : program;
  const found = name === undefined || name.includes("/") ? name : Bun.which(name, { PATH: path });
  return found && [...scripts.map(dirname), ...path.split(delimiter)].includes(dirname(found)) ? found : undefined;
}

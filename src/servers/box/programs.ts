/** What a program needs to run in a box: its files, its interpreter and its libraries. */
import { existsSync } from "node:fs";
import { basename, delimiter, dirname, join, relative, resolve, sep } from "node:path";
import type { HeldPath } from "../../base/held-path.ts";
import { isWithin } from "../../config/trust/written-folders.ts";
import { realFiles } from "../command.ts";
import { maxInterpreters } from "../limits.ts";
import type { Contents } from "./contents.ts";
import type { Command } from "./launchers.ts";

/** The parts of a folder with `bin` and `lib` that programs use. Other files beside them may be secrets, as in `~/.cargo`. */
const partsOfPrefix = ["bin", "lib", "lib64", "libexec", "share", "pyvenv.cfg"];

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

export interface ProgramSurroundings {
  path: string;
  home: string;
  /** What no box shows, even if it is beside a program. */
  closed: readonly HeldPath[];
}

/** Shows the files of programs in a box. */
export class Reach {
  readonly #contents: Contents;
  readonly #scene: ProgramSurroundings;

  constructor(contents: Contents, scene: ProgramSurroundings) {
    this.#contents = contents;
    this.#scene = scene;
  }

  /** The files of a command. Also what the first line of its program names. */
  command([program = "", ...scripts]: readonly string[]): void {
    this.#program(program, maxInterpreters);
    for (const script of scripts) this.#show(script);
  }

  #program(file: string, left: number): void {
    const real = this.#show(file);
    if (real === undefined || left === 0) return;
    const interpreter = interpreterOf(real);
    if (interpreter === undefined) return;
    const path = interpreter.includes("/") ? interpreter : Bun.which(interpreter, { PATH: this.#scene.path });
    if (path && this.#isUsual(path, [real, file])) this.#program(path, left - 1);
  }

  /** Whether an interpreter is beside its script or on the PATH. A hostile script must not open another folder by its first line. */
  #isUsual(interpreter: string, scripts: readonly string[]): boolean {
    return [...scripts.map(dirname), ...this.#scene.path.split(delimiter)].includes(dirname(interpreter));
  }

  /** Shows a file with what belongs to it, at each step of its links. Returns its path without links. */
  #show(file: string): string | undefined {
    const found = this.#contents.find(file);
    if (!found) return undefined;
    this.#contents.show(found);
    for (const step of [...found.links.map(({ at }) => at), found.path]) {
      for (const at of this.#belongingTo(step)) {
        const part = this.#contents.find(at);
        if (part && !this.#isClosed(part)) this.#contents.show(part);
      }
    }
    return found.path;
  }

  #isClosed(part: HeldPath): boolean {
    return this.#scene.closed.some((place) => place.isWithin(part));
  }

  #belongingTo(file: string): string[] {
    const modules = file.indexOf("/node_modules/");
    if (modules !== -1) return [file.slice(0, modules + "/node_modules".length)];
    const folder = dirname(file);
    const prefix = dirname(folder);
    if (basename(folder) === "shims" && this.#isNarrow(prefix)) return [prefix];
    if (basename(folder) === "bin" && this.#isNarrow(prefix) && existsSync(join(prefix, "lib"))) {
      return partsOfPrefix.map((part) => join(prefix, part));
    }
    return this.#partsOfPackage(file);
  }

  /** The folder of a script, if it is a package, and otherwise parts of the package around it: a folder may have a manifest and much else. */
  #partsOfPackage(file: string): string[] {
    for (let at = dirname(file); this.#isNarrow(at); at = dirname(at)) {
      if (!manifests.some((name) => existsSync(join(at, name)))) continue;
      const [first = ""] = relative(at, file).split(sep);
      return [...(dirname(file) === at ? [at] : []), ...[first, ...partsOfPackage].map((part) => join(at, part))];
    }
    return [];
  }

  /** Whether a folder is no home and has none in it. */
  #isNarrow(folder: string): boolean {
    const { home } = this.#scene;
    return folder !== "/" && !isWithin(home, folder) && folder !== join(home, ".local");
  }
}

/** `#!/usr/bin/env -S node --flag` → `node`; `#!/opt/bin/python` → `/opt/bin/python`. */
function interpreterOf(file: string): string | undefined {
  const [program, ...rest] = /^#!\s*([^\r\n]+)/.exec(realFiles.beginning(file))?.[1]?.trim().split(/\s+/) ?? [];
  if (program === undefined || basename(program) !== "env") return program;
  return rest.find((word) => !word.startsWith("-") && !word.includes("="));
}

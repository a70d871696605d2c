/** What a program needs to run in a box: its files, its interpreter and its libraries. */
import { existsSync } from "node:fs";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { realFiles } from "../command.ts";
import { maxInterpreters } from "../limits.ts";
import type { Mount } from "./mounts.ts";
import { type BoxLink, followed, isWithin } from "./paths.ts";

/** The parts of a folder with `bin` and `lib` that programs use. Other files beside them may be secrets, as in `~/.cargo`. */
const partsOfPrefix = ["bin", "lib", "lib64", "libexec", "share", "pyvenv.cfg"];

const manifests = ["package.json", "pyproject.toml", "setup.py"];

const interpreters =
  /^(?:node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|pypy[\d.]*|ruby|perl|php|java|sh|bash|dash|zsh)$/;

export interface ProgramSurroundings {
  env: Readonly<Record<string, string>>;
  cwd: string;
  home: string;
  /** The folders that the server may write to, without links. A link inside of them is not followed: the server could change it. */
  writable: readonly string[];
}

/** Collects the mounts and links that programs and other paths need. */
export class Reach {
  readonly mounts: Mount[] = [];
  readonly links: BoxLink[] = [];
  readonly #scene: ProgramSurroundings;

  constructor(scene: ProgramSurroundings) {
    this.#scene = scene;
  }

  /** Shows a path of the machine, if it exists, and returns it without links. */
  add(path: string, kind: "read" | "write" = "read"): string | undefined {
    const found = this.#follow(path);
    if (found) this.mounts.push({ at: found, kind });
    return found;
  }

  /** A command that is found on the PATH. Also what its first line names, and the script that an interpreter runs. */
  command(file: string, args: readonly string[]): void {
    this.#program(file, maxInterpreters);
    if (!interpreters.test(basename(file))) return;
    const script = args.find((arg) => !arg.startsWith("-") && realFiles.isFile(resolve(this.#scene.cwd, arg)));
    if (script !== undefined) this.#show(resolve(this.#scene.cwd, script));
  }

  #program(file: string, left: number): void {
    const real = this.#show(file);
    if (real === undefined || left === 0) return;
    const interpreter = interpreterOf(real);
    if (interpreter === undefined) return;
    const { PATH = "" } = this.#scene.env;
    const path = interpreter.includes("/") ? interpreter : Bun.which(interpreter, { PATH });
    if (path && this.#isUsual(path, [real, file])) this.#program(path, left - 1);
  }

  /** Whether an interpreter is beside its script or on the PATH. A hostile script must not open another folder by its first line. */
  #isUsual(interpreter: string, scripts: readonly string[]): boolean {
    const folder = dirname(interpreter);
    return [...scripts.map(dirname), ...(this.#scene.env["PATH"] ?? "").split(delimiter)].includes(folder);
  }

  /** Shows a file with what belongs to it, at each step of its links. */
  #show(file: string): string | undefined {
    const before = this.links.length;
    const real = this.#follow(file);
    if (real === undefined) return undefined;
    const steps = [...this.links.slice(before).map(({ at }) => at), real];
    for (const step of steps) for (const at of this.#belongingTo(step, real)) this.add(at);
    return real;
  }

  /** Undefined if the path does not exist, or if the server could change where it leads. */
  #follow(path: string): string | undefined {
    const found = followed(path);
    if (!found) return undefined;
    const steps = [path, ...found.links.flatMap(({ at, to }) => [at, to]), found.real];
    if (steps.some((step) => this.#scene.writable.some((folder) => step !== folder && isWithin(step, folder)))) {
      return undefined;
    }
    this.links.push(...found.links);
    return found.real;
  }

  #belongingTo(file: string, real: string): string[] {
    const modules = file.indexOf("/node_modules/");
    if (modules !== -1) return [file.slice(0, modules + "/node_modules".length)];
    const folder = dirname(file);
    const prefix = dirname(folder);
    if (basename(folder) === "shims" && this.#isNarrow(prefix)) return [prefix];
    if (basename(folder) === "bin" && this.#isNarrow(prefix) && existsSync(join(prefix, "lib"))) {
      return partsOfPrefix.map((part) => join(prefix, part)).filter((part) => existsSync(part));
    }
    return [this.#packageOf(folder) ?? real];
  }

  #packageOf(folder: string): string | undefined {
    for (let at = folder; this.#isNarrow(at); at = dirname(at)) {
      if (manifests.some((name) => existsSync(join(at, name)))) return at;
    }
    return undefined;
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

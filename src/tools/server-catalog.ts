/** The catalog of well-known servers: finds them by name, and recognises them in config entries. Loaded only when needed. */

import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { servers } from "../../registry/index.ts";
import { results as demoResults } from "../../registry/testing/demo/results.ts";
import type { CatalogResult, CatalogResults, CatalogServer } from "../../registry/types.ts";
import { nearNames } from "../base/near-names.ts";
import { kilobyte } from "../base/units.ts";

/** The minimum number of tools to recognise a server by, because a few names may match by chance. */
const minKnownTools = 4;

/** Folders above a program that are searched for its manifest. */
const maxFolderLevels = 6;

/** Larger files are not read for this. */
const maxManifestBytes = 256 * kilobyte;

/** Launchers that package managers write are shorter. */
const maxLauncherBytes = 8 * kilobyte;

export type { CatalogResult, CatalogResults, CatalogServer };

/** How a server is started, in a config or in the catalog. */
export interface Launch {
  command?: string | undefined;
  args?: readonly string[] | undefined;
  url?: string | undefined;
  /** The document of a web API. */
  openapi?: string | undefined;
  /** The folder of relative paths. */
  cwd?: string | undefined;
  /** The variables of the entry: a program may be found by its own PATH. */
  env?: Readonly<Record<string, string>> | undefined;
}

export type CatalogAnswer =
  | { server: CatalogServer }
  /** Similar names in the catalog; may be empty. */
  | { server?: undefined; near: string[] };

export function catalogServers(): readonly CatalogServer[] {
  return servers;
}

/** Finds a server by name, alias, package (with or without a version), program, image or address; else similar names. */
export function findInCatalog(name: string): CatalogAnswer {
  const wanted = name.trim().toLowerCase();
  const server =
    byName().get(wanted) ?? byLaunch().get(withoutVersion(wanted)) ?? byHost().get(hostOf(wanted) ?? wanted);
  if (server) return { server };
  // A misspelled alias suggests the server's name.
  const near = nearNames(wanted, byName().keys(), 8).map((each) => byName().get(each)!.name);
  return { near: [...new Set(near)].slice(0, 3) };
}

/** The server that an entry starts or reaches, whatever its key; undefined if it is not in the catalog. */
export function recognise(launch: Launch): CatalogServer | undefined {
  if (launch.openapi !== undefined) return byDocument().get(launch.openapi);
  for (const url of addressesOf(launch)) {
    const found = byHost().get(hostOf(url) ?? "");
    if (found) return found;
  }
  for (const program of programsOf(launch)) {
    const found = byLaunch().get(program);
    if (found) return found;
  }
  return byLaunch().get(packageStarted(launch) ?? "");
}

/** What the tools of an entry return. Undefined for servers whose package was not run. */
export function resultsOf(launch: Launch): CatalogResults | undefined {
  if (isDemo(launch)) return demoResults;
  const results = recognise(launch)?.results;
  const isSame = results && [...programsOf(launch), packageStarted(launch)].includes(results.package.toLowerCase());
  return isSame ? results : undefined;
}

/**
 * The server that has these tools, whatever starts it: an image, a script, or a copy of the package. All tools whose results are known must
 * be there, and few others.
 */
export function recogniseByTools(tools: readonly string[]): CatalogServer | undefined {
  const listed = new Set(tools);
  return servers.find(({ results }) => {
    const known = Object.keys(results?.tools ?? {});
    const isWhole = known.length >= minKnownTools && known.every((name) => listed.has(name));
    return isWhole && listed.size <= known.length * 1.3 + 2;
  });
}

/** The folders in a server's arguments, if its behaviour does not depend on its working directory. Undefined if it may depend on it. */
export function foldersNamedBy(launch: Launch): string[] | undefined {
  const { command = "", args = [], env = {} } = launch;
  const uses = recognise(launch)?.folders ?? {};
  const words = [command, ...args];
  const packageIn = (word: string) =>
    [installedPackage(word), withoutVersion(word), programName(word)].find((name) => name && Object.hasOwn(uses, name));
  const at = words.findLastIndex((word) => packageIn(word) !== undefined);
  const start = words.slice(0, at + 1);
  const isElsewhere = (word: string) =>
    changesFolder.test(word) || (/[\\/]/.test(word) && installedPackage(word) !== undefined && !isAbsolute(word));
  const isProgramElsewhere = /[\\/]/.test(command) && !isAbsolute(command);
  if (at === -1 || isProgramElsewhere || start.some(isElsewhere)) return undefined;
  if ([...words, ...Object.values(env)].some((text) => relativePath.test(text))) return undefined;
  if (uses[packageIn(words[at]!)!] === "none") return [];
  const named = words.slice(at + 1).flatMap((word) => (word.startsWith("-") ? (/=(.*)$/.exec(word)?.[1] ?? []) : word));
  return named.length > 0 && named.every((path) => isAbsolute(path)) ? named : undefined;
}

/** Options of wrappers and package runners with the folder that the program is started in or taken from. */
const changesFolder = /^(?:-C|--(?:chdir|cwd|directory|dir|prefix|project))(?:=|$)/;

const relativePath = /(?:^|[=:,])\.{1,2}(?:[\\/]|$)/;

/** Whether the entry starts the demo server of the executable. */
function isDemo({ command = "", args = [] }: Launch): boolean {
  return programName(command) === "claudikins" && args[0] === "demo";
}

/** The package of the first path in the entry, for servers that run from a local folder. */
function packageStarted(launch: Launch): string | undefined {
  const { command, args = [], cwd, env } = unwrapped(launch);
  if (command === undefined) return undefined;
  const program = programName(command);
  // `uv --directory <path> run server`.
  const directory = args.find((_, at) => program === "uv" && args[at - 1] === "--directory");
  const isInterpreter = /^(?:node|bun|deno|tsx|python[\d.]*|uv|npx)$/.test(program);
  const script = isInterpreter
    ? (directory ?? args.find((arg) => !arg.startsWith("-") && /[\\/.]/.test(arg)))
    : command;
  if (script === undefined) return undefined;
  // A package that is installed globally is a program on the PATH.
  const isBare = script === command && !/[\\/]/.test(command) && !isRunner(program);
  const path = isBare ? Bun.which(command, env?.["PATH"] === undefined ? {} : { PATH: env["PATH"] }) : script;
  return path === null ? undefined : packageOf(path, cwd);
}

/** Programs that run the rest of their arguments as a command, each with its options that take a value. */
const wrappers: Record<string, RegExp> = {
  cmd: /^$/,
  env: /^-[uC]$/,
  nice: /^-n$/,
  nohup: /^$/,
  exec: /^$/,
  time: /^$/,
};

/** The program behind the wrappers: `program …` for `env NAME=value program …` and for `sh -c "program …"`. */
function unwrapped(launch: Launch): Launch {
  const { command = "", args = [] } = launch;
  const program = programName(command);
  if (/^(?:ba|z|da|k|fi)?sh$/.test(program)) {
    const at = args.findIndex((arg) => /^-\w*c$/.test(arg));
    // Command lines with several commands or with variables are not parsed.
    const script = at === -1 ? undefined : args[at + 1];
    const words = script !== undefined && !/[;&|<>`$\n]/.test(script) ? wordsOf(script) : [];
    return words.length === 0 ? launch : unwrapped({ ...launch, command: words[0], args: words.slice(1) });
  }
  const options = Object.hasOwn(wrappers, program) ? wrappers[program] : undefined;
  if (!options) return launch;
  const isOption = (arg: string) => /^(?:-|\w+=|\/\w$)/.test(arg);
  const first = args.findIndex((arg, at) => !isOption(arg) && !options.test(args[at - 1] ?? "none"));
  return first === -1 ? launch : unwrapped({ ...launch, command: args[first], args: args.slice(first + 1) });
}

/** The words of a command line, without their quotes. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain!,
  );
}

const byName = once(() => indexed((server) => [server.name, ...server.aliases.map((alias) => alias.toLowerCase())]));
const byLaunch = once(() => indexed((server) => launchesOf(server).flatMap(programsOf)));
const byDocument = once(() => indexed((server) => launchesOf(server).flatMap(({ openapi }) => openapi ?? [])));
const byHost = once(() =>
  indexed((server) =>
    launchesOf(server)
      .flatMap(addressesOf)
      .flatMap((url) => hostOf(url) ?? []),
  ),
);

function launchesOf({ server, alternatives = [] }: CatalogServer): Launch[] {
  return [server, ...alternatives.map((alternative) => alternative.server)];
}

/** Servers by key. A test checks that no two servers share a key. */
function indexed(keysOf: (server: CatalogServer) => string[]): Map<string, CatalogServer> {
  const index = new Map<string, CatalogServer>();
  for (const server of servers) for (const key of keysOf(server)) index.set(key, server);
  return index;
}

/** Programs that run other programs, with the words before the name of the other program. */
const runners: Record<string, readonly string[]> = {
  npx: [],
  bunx: [],
  bun: ["x", "run"],
  npm: ["exec", "x"],
  pnpm: ["dlx"],
  pnpx: [],
  yarn: ["dlx"],
  uvx: [],
  uv: ["tool", "run"],
  pipx: ["run"],
  deno: ["run"],
};

function isRunner(program: string): boolean {
  return Object.hasOwn(runners, program) || isContainerProgram(program);
}

function isContainerProgram(program: string): boolean {
  return program === "docker" || program === "podman";
}

/** The programs that an entry starts, in lower case: a package without its version, an image without its tag, or the program. */
function programsOf(launch: Launch): string[] {
  const { command, args = [] } = unwrapped(launch);
  if (command === undefined) return [];
  const program = programName(command);
  if (isContainerProgram(program)) return args.map(withoutVersion).filter((arg) => arg.includes("/"));
  const words = isRunner(program) ? runners[program] : undefined;
  const first = args.find((arg, at) => !arg.startsWith("-") && !words?.includes(arg) && !takesPackage(args[at - 1]));
  if (!words) return [installedPackage(command) ?? installedPackage(first ?? "") ?? program];
  const packages = args.flatMap((arg, at) => packageOption.exec(arg)?.[1] ?? (takesPackage(args[at - 1]) ? arg : []));
  const named = first === undefined ? [] : [installedPackage(first) ?? first.replace(/^npm:/, "")];
  return [...packages, ...named].map(withoutVersion);
}

const packageOption = /^--(?:from|package|spec)=(.+)$/;

function takesPackage(option: string | undefined): boolean {
  return option !== undefined && ["--from", "--package", "--spec", "-p"].includes(option);
}

/** `/opt/homebrew/bin/npx` and `npx.cmd` are npx. */
function programName(command: string): string {
  return (command.split(/[\\/]/).at(-1) ?? "").toLowerCase().replace(/\.(?:exe|cmd|ps1)$/, "");
}

/** `…/node_modules/@playwright/mcp/cli.js` → `@playwright/mcp`. */
function installedPackage(path: string): string | undefined {
  return /[\\/]node_modules[\\/](?!\.bin\b)((?:@[^\\/]+[\\/])?[^\\/]+)(?:[\\/](?!.*node_modules)|$)/
    .exec(path)?.[1]
    ?.replace("\\", "/")
    .toLowerCase();
}

/** Removes what follows the name in `@a/b@1.2`, `b==1.2`, `b[extra]>=1`, `ghcr.io/a/b:latest` and `git+https://…/b.git@main`. */
function withoutVersion(name: string): string {
  return name
    .toLowerCase()
    .replace(/(?<=.)@[^/]*$/, "")
    .replace(/(?:\[[^\]]*\])?(?:[=<>~!]=?.*)?$/, "")
    .replace(/(?<=\/[^/]*):[\w.-]+$/, "")
    .replace(/\.git$/, "");
}

/** The addresses in an entry: its own, and those in arguments of programs such as `mcp-remote`. */
function addressesOf({ url, args = [] }: Launch): string[] {
  if (url !== undefined) return [url];
  return args.some((arg) => withoutVersion(arg) === "mcp-remote") ? args.filter((arg) => /^https?:\/\//.test(arg)) : [];
}

function hostOf(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).hostname.replace(/^www\./, "") || undefined : undefined;
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** The package of a program on disk: the name in the nearest `package.json` or `pyproject.toml`. Undefined if there is none. */
function packageOf(path: string, cwd: string | undefined): string | undefined {
  if (!/[\\/]/.test(path) || !(isAbsolute(path) || cwd !== undefined)) return undefined;
  try {
    const file = realpathSync(resolve(cwd ?? "/", path));
    const launched = launchedPackage(file);
    if (launched !== undefined) return launched;
    let folder = statSync(file).isDirectory() ? file : dirname(file);
    for (let level = 0; level < maxFolderLevels; level++) {
      const name = nameIn(folder);
      if (name !== undefined) return name.toLowerCase();
      const above = dirname(folder);
      if (above === folder) return undefined;
      folder = above;
    }
  } catch {
    // A missing or unreadable file belongs to no known package.
  }
  return undefined;
}

/** The package that a launcher in a folder of programs starts. npm writes one on Windows, pnpm everywhere. */
function launchedPackage(file: string): string | undefined {
  const found = statSync(file);
  if (!found.isFile() || found.size > maxLauncherBytes || /\.[cm]?[jt]s$|\.py$/.test(file)) return undefined;
  const path = /node_modules[\\/](?:@[\w.-]+[\\/])?[\w.-]+[\\/][\w@.\\/-]+\.[cm]?js/.exec(
    readFileSync(file, "utf8"),
  )?.[0];
  return path && installedPackage(`/${path}`);
}

function nameIn(folder: string): string | undefined {
  const manifest = textOf(join(folder, "package.json"));
  if (manifest !== undefined) {
    // A package.json without a name only sets options, such as the module type.
    const { name } = JSON.parse(manifest) as { name?: unknown };
    if (typeof name === "string" && name !== "") return name;
  }
  return /^\s*name\s*=\s*["']([^"']+)["']/m.exec(textOf(join(folder, "pyproject.toml")) ?? "")?.[1];
}

/** Undefined if the file is missing or too large for a manifest. */
function textOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() && found.size <= maxManifestBytes ? readFileSync(path, "utf8") : undefined;
}

/**
 * The registry on disk: reads and writes the index and the files of servers, and finds the changes that writing would make. A failure
 * leaves the old files.
 */
import { dirname, join } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import {
  changeMode,
  changeTime,
  firstCharactersOf,
  isAbandoned,
  namesIn,
  readIfThere,
  removeFile,
  removeIfEmpty,
  statsOf,
  writeWhenChanged,
} from "../../base/files.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { isNewer, writtenByNewer } from "../../base/newer.ts";
import { indexFileName, type RegistryIndex, type RegistryServer } from "../model.ts";
import { assignFileNames } from "../names.ts";
import { type EmittedFile, emitServer, filesOfServer, isGenerated, isProgramText } from "./emit.ts";
import { globalsFile, writeGlobals } from "./globals/globals-file.ts";
import { serverGlobalName, withToolsAgain } from "./globals/server-global.ts";

/** The format version of the index and of the observed shapes. */
const form = 1;

/** Undefined if nothing was generated yet. Throws REGISTRY_INVALID if the file is damaged, VERSION_TOO_OLD. */
export function readIndex(folder: string): RegistryIndex | undefined {
  const path = join(folder, indexFileName);
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  const index = parsedJson(text);
  if (isIndex(index)) return index;
  if (isNewer(index, form)) throw writtenByNewer("the registry");
  throw new ClaudikinsError("REGISTRY_INVALID", `${path} is damaged or from another version`, {
    hint: "Regenerate it: claudikins gen",
  });
}

/** Call it before files are written. Throws VERSION_TOO_OLD if a newer version has written the registry. */
export function refuseNewer(folder: string): void {
  // The number is at the beginning of a file that may be large.
  const [, number] = /^\s*{\s*"version":\s*(\d+)/.exec(firstCharactersOf(join(folder, indexFileName)) ?? "") ?? [];
  if (number !== undefined && Number(number) > form) throw writtenByNewer("the registry");
}

/** Checks the main parts of the index. The rest was written with them. */
function isIndex(value: unknown): value is RegistryIndex {
  if (!isObject(value) || value["version"] !== 1 || !Array.isArray(value["servers"])) return false;
  return value["servers"].every(
    (server) =>
      isObject(server) &&
      typeof server["name"] === "string" &&
      // Files in this folder may be removed, so it must be below the registry.
      /^[\w-]+\/[\w-][\w.-]*$/.test(String(server["folder"])) &&
      ["protocol", "version"].every((key) => ["string", "undefined"].includes(typeof server[key])) &&
      Array.isArray(server["tools"]) &&
      server["tools"].every(
        (tool) =>
          isObject(tool) &&
          typeof tool["name"] === "string" &&
          isObject(tool["inputSchema"]) &&
          isKnownResult(tool["known"]),
      ),
  );
}

/** The type and the format go into generated files and signatures as they are, so they must not contain code. */
export function isKnownResult(value: unknown): boolean {
  if (value === undefined) return true;
  if (!isObject(value)) return false;
  const { type = "", text = "" } = value;
  return typeof type === "string" && isType(type) && typeof text === "string" && !/[\n\r]|\*\//.test(text);
}

/** Whether a text stays a type between other source text: its brackets are closed, and it is one type. */
function isType(text: string): boolean {
  const plain = text.replace(/"[\w .-]*"/g, "");
  if (!/^[\w$ {}[\]()|;:?<>,]*$/.test(plain)) return false;
  let depth = 0;
  for (const character of plain) {
    if ("{[(<".includes(character)) depth += 1;
    if ("}])>".includes(character)) depth -= 1;
    if (depth < 0 || (depth === 0 && character === ";")) return false;
  }
  return depth === 0;
}

/** The index, or why it is damaged; neither if nothing was generated yet. */
export function tryIndex(folder: string): { index?: RegistryIndex | undefined; problem?: ClaudikinsError } {
  try {
    return { index: readIndex(folder) };
  } catch (error) {
    if (error instanceof ClaudikinsError && error.code === "REGISTRY_INVALID") return { problem: error };
    throw error;
  }
}

export interface Written {
  written: number;
  removed: number;
  /** Paths where the user's file has the name of a generated one. */
  kept: string[];
}

/** Writes the changed files of one server and removes generated files of tools that are gone. Throws FILE_NOT_WRITABLE. */
export function writeServer(folder: string, server: RegistryServer, before: RegistryServer | undefined): Written {
  const target = pathOf(folder, server);
  const files = filesOfServer(server);
  // First, because on some file systems `Get.ts` and `get.ts` are one file.
  let removed = removeGenerated(target, files);
  const results = files.map(({ name, text }) => {
    const path = join(target, name);
    return { path, result: writeGenerated(path, text) };
  });
  if (before && before.folder !== server.folder) removed += removeServer(folder, before);
  const pathsOf = (wanted: string) => results.filter(({ result }) => result === wanted).map(({ path }) => path);
  return { written: pathsOf("written").length, removed, kept: pathsOf("kept") };
}

/**
 * Writes the types of the tools of `server` again, in the files that exist. `names` are the names of all of its tools. Throws
 * FILE_NOT_WRITABLE.
 */
export function rewriteTools(folder: string, server: RegistryServer, names: readonly string[]): void {
  const target = pathOf(folder, server);
  const fileNames = assignFileNames(names);
  for (const tool of server.tools) {
    const path = join(target, `${fileNames.get(tool.name)}.ts`);
    const [alone] = assignFileNames([tool.name]).values();
    const text = emitServer({ ...server, tools: [tool] }).find(({ name }) => name === `${alone}.ts`)?.text;
    if (text !== undefined && readIfThere(path) !== undefined) writeGenerated(path, text);
  }
  const path = join(target, serverGlobalName);
  const text = readIfThere(path);
  if (text !== undefined) writeGenerated(path, withToolsAgain(text, server.tools, fileNames));
}

function writeGenerated(path: string, text: string): ReturnType<typeof writeWhenChanged> {
  const isProgram = isProgramText(text);
  const result = writeWhenChanged(path, text, isGenerated, isProgram ? 0o777 : 0o666);
  if (isProgram && result === "unchanged" && !isExecutable(path)) makeExecutable(path);
  return result;
}

/** Removes the generated files of a server that is no longer configured. */
export function removeServer(folder: string, server: RegistryServer): number {
  const target = pathOf(folder, server);
  const removed = removeGenerated(target);
  removeIfEmpty(target);
  removeIfEmpty(dirname(target));
  return removed;
}

/**
 * Replaces the servers with these names by `ours` and keeps the rest, which another process may have changed. A damaged index
 * is replaced. Throws FILE_NOT_WRITABLE.
 */
export function updateIndex(folder: string, names: readonly string[], ours: readonly RegistryServer[]): void {
  const changed = new Set(names);
  const others = (tryIndex(folder).index?.servers ?? []).filter(({ name }) => !changed.has(name));
  writeIndex(folder, [...others, ...ours]);
}

/** Writes the index, and the file that declares the servers for programs. Files are not touched if nothing has changed. */
export function writeIndex(folder: string, servers: Iterable<RegistryServer>): void {
  const index = indexOf(servers);
  writeWhenChanged(join(folder, indexFileName), `${JSON.stringify(index, null, 1)}\n`);
  writeGlobals(folder, index.servers);
}

/** The content of the index file: servers are sorted, without observed shapes. */
export function indexOf(servers: Iterable<RegistryServer>): RegistryIndex {
  const sorted = [...servers].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { version: 1, servers: sorted.map(withoutObserved) };
}

function withoutObserved(server: RegistryServer): RegistryServer {
  if (!server.tools.some((tool) => tool.observed)) return server;
  return { ...server, tools: server.tools.map(({ observed: _, ...tool }) => tool) };
}

/** Records that the server was just asked, as the modification time of one of its files. */
export function markAsked(folder: string, server: RegistryServer): void {
  try {
    changeTime(join(pathOf(folder, server), "index.ts"), new Date());
  } catch {
    // Without the time, the tools only look older than they are.
  }
}

/** When the server was last asked for its tools, in milliseconds since 1970; undefined if unknown. */
export function askedAt(folder: string, server: RegistryServer): number | undefined {
  return statsOf(join(pathOf(folder, server), "index.ts"))?.mtimeMs;
}

export function pathOf(folder: string, server: RegistryServer): string {
  return join(folder, ...server.folder.split("/"));
}

/** The paths of the generated files in a folder, except `but`. */
function generatedIn(folder: string, but: readonly EmittedFile[] = []): string[] {
  const names = new Set(but.map(({ name }) => name));
  return namesIn(folder)
    .filter((name) => name.endsWith(".ts") && !names.has(name))
    .map((name) => join(folder, name))
    .filter((path) => isGenerated(readIfThere(path) ?? ""));
}

/** The paths of all generated files of a server. */
export function generatedFiles(folder: string, server: RegistryServer): string[] {
  return generatedIn(pathOf(folder, server));
}

function removeGenerated(folder: string, keep: readonly EmittedFile[] = []): number {
  removeAbandoned(folder);
  const stale = generatedIn(folder, keep);
  for (const path of stale) removeFile(path);
  return stale.length;
}

/** Removes temporary files of processes that were killed while writing. */
export function removeAbandoned(folder: string): void {
  for (const name of namesIn(folder).filter(isAbandoned)) removeFile(join(folder, name));
}

/** The paths of generated programs that have lost their executable bit, for example in an archive; none on Windows. */
export function notExecutable(folder: string, servers: readonly RegistryServer[]): string[] {
  return servers
    .flatMap((server) => generatedFiles(folder, server))
    .filter((path) => !isExecutable(path) && isProgramText(readIfThere(path) ?? ""));
}

function isExecutable(path: string): boolean {
  return process.platform === "win32" || ((statsOf(path)?.mode ?? 0o100) & 0o100) !== 0;
}

/** Makes the file executable for everyone who can read it. */
export function makeExecutable(path: string): void {
  const { mode } = statsOf(path) ?? { mode: 0 };
  changeMode(path, mode | ((mode & 0o444) >> 2));
}

/** A change that `gen` would make on disk. */
export interface Difference {
  path: string;
  /** `extra` files would be removed. */
  state: "missing" | "stale" | "extra";
}

/** How a file differs from the text that it should have, if it does. A user's file with its name is not a difference. */
export function differenceOf(path: string, text: string, isOurs: (found: string) => boolean): Difference[] {
  const found = readIfThere(path);
  if (found === undefined) return [{ path, state: "missing" }];
  return found === text || !isOurs(found) ? [] : [{ path, state: "stale" }];
}

/** The differences of one server's files. */
export function differencesOf(
  folder: string,
  server: RegistryServer,
  before: RegistryServer | undefined,
): Difference[] {
  const target = pathOf(folder, server);
  const files = filesOfServer(server);
  const moved = before && before.folder !== server.folder ? generatedFiles(folder, before) : [];
  return [
    ...files.flatMap(({ name, text }) => differenceOf(join(target, name), text, isGenerated)),
    ...[...generatedIn(target, files), ...moved].map((path): Difference => ({ path, state: "extra" })),
  ];
}

/** Ignores fingerprints and the versions of servers, because they differ between machines even if the tools are the same. */
export function indexDifference(folder: string, expected: readonly RegistryServer[]): Difference[] {
  const path = join(folder, indexFileName);
  const comparable = ({ servers }: RegistryIndex) =>
    servers.map(({ protocol: _, version: __, rules: ___, ...server }) => ({ ...server, fingerprint: "" }));
  const { index, problem } = tryIndex(folder);
  if (!index) return [{ path, state: problem ? "stale" : "missing" }];
  return Bun.deepEquals(comparable(index), comparable(indexOf(expected))) ? [] : [{ path, state: "stale" }];
}

/** How the file that declares the servers for programs differs. */
export function globalsDifference(folder: string, servers: readonly RegistryServer[]): Difference[] {
  const { path, text, isOurs } = globalsFile(folder, servers);
  return differenceOf(path, text, isOurs);
}

/** Category names that the config allows. Other folders are not categories. */
const categoryName = /^[a-z0-9][a-z0-9-]*$/;

/** Generated files that belong to none of the servers, and temporary files of killed processes. Never a user's file. */
export function straysIn(folder: string, servers: readonly RegistryServer[]): string[] {
  const owned = new Map(servers.map((server) => [server.folder, server]));
  return namesIn(folder)
    .filter((name) => categoryName.test(name))
    .flatMap((category) => namesIn(join(folder, category)).map((name) => `${category}/${name}`))
    .flatMap((below) => {
      const target = join(folder, ...below.split("/"));
      const server = owned.get(below);
      const abandoned = namesIn(target).filter(isAbandoned);
      return [...generatedIn(target, server && filesOfServer(server)), ...abandoned.map((name) => join(target, name))];
    });
}

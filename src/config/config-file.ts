/** Adds and removes servers in claudikins.json, and keeps its comments and formatting. */
import { chmodSync, existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ClaudikinsError } from "../base/errors.ts";
import { makeFolder } from "../base/files.ts";
import { isObject, type JsonObject } from "../base/json-object.ts";
import { didYouMean } from "../base/near-names.ts";
import { discoverConfig } from "./discover.ts";
import { parseJson, setMember } from "./edit/json.ts";
import type { Environment } from "./environment.ts";
import { bytesOf, type FileText, textOf, writeThrough } from "./file-text.ts";
import { type Config, configOf } from "./load.ts";
import { userConfigFile } from "./locations.ts";
import { invalidConfig } from "./problems.ts";

/** A server's entry in claudikins.json, not validated yet. */
export type PortableEntry = JsonObject;

/** The text of a config file, which may be invalid. */
export interface ConfigText {
  kind: "project" | "user";
  file: string;
  /** Undefined if the file does not exist yet. */
  content: FileText | undefined;
  text: string;
}

export interface ConfigFile extends ConfigText {
  /** The entries of the servers, not validated, in the order of the file. */
  entries: Map<string, PortableEntry>;
  /** Names of servers in the user's own config, if this is the config of a project. */
  ownNames: string[];
}

export interface WhichConfig {
  flag?: string | undefined;
  /** Use the user's config even if the project has one. */
  user?: boolean | undefined;
  cwd: string;
  env: Environment;
}

/** The config that applies here, or the user's if there is none. Throws FILE_NOT_FOUND if it cannot be read. */
export function findConfigFile({ flag, user, cwd, env }: WhichConfig): ConfigText {
  const own = userConfigFile(env);
  const file = user ? own : fileThatCounts({ flag, cwd, env });
  const content = existsSync(file) ? textOf(file) : undefined;
  return { kind: file === own ? "user" : "project", file, content, text: content?.text ?? "" };
}

/** Finds the config and reads its servers. Throws CONFIG_INVALID and FILE_NOT_FOUND. */
export function openConfigFile(which: WhichConfig): ConfigFile {
  const found = findConfigFile(which);
  const { file, text } = found;
  return { ...found, entries: entriesIn(text, file), ownNames: found.kind === "project" ? ownNames(which.env) : [] };
}

function entriesIn(text: string, file: string): ConfigFile["entries"] {
  const servers = parseJson(text, file)["mcpServers"];
  if (servers !== undefined && !isObject(servers)) {
    throw new ClaudikinsError("CONFIG_INVALID", `mcpServers in ${file} is not an object`, {
      hint: "Correct the file and run the command again. It was not changed.",
    });
  }
  const entries = Object.entries(servers ?? {}).flatMap(([name, entry]) =>
    isObject(entry) ? [[name, entry] as const] : [],
  );
  return new Map(entries);
}

/** None if the user's own config cannot be read: this is about another file. */
function ownNames(env: Environment): string[] {
  const file = userConfigFile(env);
  try {
    return existsSync(file) ? [...entriesIn(textOf(file).text, file).keys()] : [];
  } catch {
    return [];
  }
}

function fileThatCounts({ flag, cwd, env }: Omit<WhichConfig, "user">): string {
  const named = flag ?? env["CLAUDIKINS_CONFIG"];
  if (named) return resolve(cwd, named);
  const origin = discoverConfig({ cwd, env });
  return origin.kind === "demo" ? userConfigFile(env) : origin.file;
}

export function withServer({ file }: ConfigFile, text: string, name: string, entry: PortableEntry): string {
  return setMember(text, ["mcpServers", name], entry, file);
}

/**
 * The config that the text would make. Throws NEEDS_VARIABLE, and CONFIG_INVALID also for mistakes in the entries of servers that must be right:
 * by default none.
 */
export async function configAsText(
  { kind, file, content }: ConfigText,
  text: string,
  env: Environment,
  mustBeRight: (server: string) => boolean = () => false,
): Promise<Config> {
  // A file that does not exist yet has no servers.
  const isMissing = content === undefined && text === "";
  const config = await configOf(isMissing ? '{"mcpServers": {}}' : text, { kind, file }, env);
  const all = [...config.servers, ...config.disabled].filter(([name]) => mustBeRight(name));
  const wrong = all.flatMap(([, { mistake }]) => (mistake?.file === file ? mistake.problems : []));
  if (wrong.length > 0) throw invalidConfig(file, wrong);
  return config;
}

/**
 * Throws CONFIG_INVALID if the file has changed since it was read, and FILE_NOT_WRITABLE. Only the owner can read a new file,
 * or one that gets `secrets`.
 */
export function writeConfigFile(
  { file, content }: ConfigText,
  text: string,
  { secrets }: { secrets?: boolean | undefined } = {},
): void {
  if (existsSync(file) !== (content !== undefined) || (content && !textOf(file).bytes.equals(content.bytes))) {
    throw new ClaudikinsError("CONFIG_INVALID", `${file} has changed in the meantime`, {
      hint: "Run the command again. This run changed nothing.",
    });
  }
  if (content && text === content.text) return;
  if (!content) makeFolder(dirname(file), 0o700);
  writeThrough(content?.path ?? file, bytesOf(text, { hasMark: content?.hasMark ?? false }), content?.mode ?? 0o600);
  if (content && secrets) chmodSync(content.path, content.mode & 0o700);
}

/** The error for an unknown server, with similar names. */
export function noSuchServer(
  name: string,
  configFile: Pick<ConfigFile, "entries" | "file" | "ownNames">,
): ClaudikinsError {
  const { entries, file, ownNames } = configFile;
  if (ownNames.includes(name)) {
    return new ClaudikinsError("SERVER_NOT_FOUND", `${file} has no server called "${name}": it is in your own config`, {
      hint: "To change your own config, add --user.",
    });
  }
  const names = [...entries.keys()];
  const there =
    names.length === 0
      ? "It has no servers yet. Add one: claudikins add <name>"
      : `Available: ${names.slice(0, 20).join(", ")}${names.length > 20 ? " …" : ""}.`;
  return new ClaudikinsError("SERVER_NOT_FOUND", `${file} has no server called "${name}"`, {
    hint: [didYouMean(name, names), there].filter(Boolean).join(" "),
  });
}

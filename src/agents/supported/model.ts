/** What a host is: where its files are, how servers stand in them, and how our own entry looks there. */
import type { Environment } from "../../config/environment.ts";
import type { JsonObject } from "../../json-object.ts";
import type { PortableEntry } from "../../settings/config-file.ts";

export type HostName =
  | "claude-code"
  | "claude-desktop"
  | "cursor"
  | "vscode"
  | "windsurf"
  | "codex"
  | "gemini"
  | "opencode"
  | "zed";

/** The machine and the person, as far as the place of a host's files depends on them. */
export interface Surroundings {
  env: Environment;
  platform: NodeJS.Platform;
  /** Of the call: files of a project are looked for from here upwards. */
  cwd: string;
}

export interface HostFile {
  path: string;
  /** `project` files belong to a folder, and mostly to all who work in it. */
  scope: "user" | "project";
  /** The folder of a project's file. */
  folder?: string;
  /** Files that the host reads together: one entry of ours is enough for them. */
  group: string;
  format: "json" | "toml";
}

/** One place in a file where servers stand. */
export interface Section {
  path: readonly string[];
  /** The project that alone sees these, where it is not that of the file. */
  folder?: string;
  /** Names that somebody has switched off elsewhere. */
  disabled?: readonly string[];
  /** Keys that are no servers. */
  ignored?: readonly string[];
}

/** A value that the host supplied by itself: it asked the person for it, or read it from a file. */
export interface Supplied {
  /** The variable that stands in its place now. */
  variable: string;
  /** The same text for two variables means the same value. */
  source: string;
  /** Words for a person who is asked for it. */
  question: string;
  default?: string;
}

export type Reading =
  | { entry: PortableEntry; notes: string[]; supplied: Supplied[] }
  /** It stays where it is. */
  | { entry?: undefined; skipped: string };

/** What the reading of an entry may need to know. */
export interface Scene extends Surroundings {
  home: string;
  /** The name of the server. */
  server: string;
  /** The folder of the project that the entry belongs to. */
  folder?: string | undefined;
  /** The file is shared with others: the entry must hold no path and no value of this person. */
  isShared?: boolean;
  /** All that stands in the file. */
  document: JsonObject;
}

export interface Host {
  name: HostName;
  title: string;
  /** Where its files are, whether they exist or not, the user's own first: new entries go there. */
  files(surroundings: Surroundings): HostFile[];
  sections(document: JsonObject, file: HostFile, surroundings: Surroundings): Section[];
  /** Where our own entry goes in a file. */
  ownSection(document: JsonObject, file: HostFile): readonly string[];
  read(raw: JsonObject, scene: Scene): Reading;
  /** Our own entry in its words. */
  ownEntry(command: readonly [string, ...string[]], file: HostFile): JsonObject;
  /** Lists of the file that our entry has to be in as well, or the host would not load it. */
  allowLists?(document: JsonObject): (readonly string[])[];
}

/** What a person has to know about a value that the host supplied, and how to give it. */
export function suppliedText(
  { variable, question }: Supplied,
  way = "write the value into the config with claudikins config edit",
): string {
  return `${variable} is not set: ${question}. An agent started from the desktop does not see your shell's variables: ${way}`;
}

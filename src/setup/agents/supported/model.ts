/** Defines a supported agent: where its files are, how they list servers, and what the entry of claudikins looks like. */

import type { JsonObject } from "../../../base/json-object.ts";
import type { PortableEntry } from "../../../config/config-file.ts";
import type { Environment } from "../../../config/environment.ts";

export type AgentName =
  | "claude-code"
  | "claude-desktop"
  | "cursor"
  | "vscode"
  | "windsurf"
  | "codex"
  | "gemini"
  | "opencode"
  | "zed"
  | "copilot"
  | "antigravity"
  | "kiro"
  | "crush"
  | "amp"
  | "qwen"
  | "roo"
  | "cline";

/** The facts that the locations of an agent's files depend on. */
export interface AgentSurroundings {
  env: Environment;
  platform: NodeJS.Platform;
  /** The working directory. A project's files are searched from here upwards. */
  cwd: string;
}

export interface SettingsFile {
  path: string;
  /** The project's folder, for a project's file. It is usually shared by everyone who works in the project. */
  folder?: string;
  /** Files with the same group are read together by the agent, so that one entry of claudikins is enough. */
  group: string;
  format: "json" | "toml";
}

/** One place in a file that lists servers. */
export interface Section {
  path: readonly string[];
  /** The only project that has these servers, if it is not the file's project. */
  folder?: string;
  /** Servers that are disabled in another place. */
  disabled?: readonly string[];
  /** Keys that are not servers. */
  ignored?: readonly string[];
}

/** A value that the agent supplied itself: it asked the user for it, or read it from a file. */
export interface Supplied {
  /** The variable that replaces the value. */
  variable: string;
  /** Variables with the same source have the same value. */
  source: string;
  /** Describes the value to the user who is asked for it. */
  question: string;
  default?: string;
  /** The agent treats it as a password. */
  isSecret?: true;
}

export type Reading =
  | { entry: PortableEntry; notes: string[]; supplied: Supplied[] }
  /** The entry stays in its file, for this reason. */
  | { entry?: undefined; skipped: string };

/** The context in which an entry is read. */
export interface EntryContext extends AgentSurroundings {
  /** The name of the server. */
  server: string;
  /** The folder of the project that the entry belongs to. */
  folder?: string | undefined;
  /** The file is shared: the entry must not contain paths or values of this user. */
  isShared?: boolean;
  /** The whole file. */
  document: JsonObject;
}

/** A plugin or extension of an agent that starts claudikins. */
export interface InstalledPlugin {
  /** The agent's name for it. */
  kind: "plugin" | "extension";
  /** Whether an entry with the name claudikins takes its place. Otherwise, the agent starts both. */
  givesWay: boolean;
  /** How the user turns it off. */
  removal: string;
}

export interface Agent {
  name: AgentName;
  title: string;
  /** The folder of the agent's own files. It exists if the agent is installed. */
  folder(around: AgentSurroundings): string;
  /**
   * The names of the memory file that the agent reads first, in the project's folder and in the agent's own folder. An agent without
   * `memory` reads no skills either.
   */
  memory?: { project: string; user?: string };
  /** The agent's possible settings files. The user's file comes first: it gets new entries. */
  files(around: AgentSurroundings): SettingsFile[];
  /** The sections with servers, if there are others besides `ownSection` or some are disabled. */
  sections?(document: JsonObject, file: SettingsFile, around: AgentSurroundings): Section[];
  /** The section of a file that gets the entry of claudikins. */
  ownSection(document: JsonObject, file: SettingsFile): readonly string[];
  read(raw: JsonObject, scene: EntryContext): Reading;
  /** The entry of claudikins, in the agent's format. */
  ownEntry(command: readonly [string, ...string[]]): JsonObject;
  /** A note about that entry for the user, who reads it before the file changes. */
  ownEntryNote?: string;
  /** A missing setting in the existing entry of claudikins, and how to add it. Undefined if the entry is complete. */
  ownEntryLack?(raw: JsonObject): { message: string; repair: string } | undefined;
  /** The plugin of claudikins that is installed and turned on. */
  plugin?(around: AgentSurroundings): InstalledPlugin | undefined;
  /** Lists that must also contain claudikins, or the agent would not load it. */
  allowLists?(document: JsonObject): (readonly string[])[];
}

/** A settings file and the agent that it belongs to. */
export interface AgentSettings {
  agent: Agent;
  file: SettingsFile;
}

/** The sections of the file that list servers. */
export function sectionsOf({ agent, file }: AgentSettings, document: JsonObject, around: AgentSurroundings): Section[] {
  return agent.sections?.(document, file, around) ?? [{ path: agent.ownSection(document, file) }];
}

/** Tells the user about a value that the agent supplied, and how to set it. */
export function suppliedText(
  { variable, question }: Supplied,
  remedy = "write the value into the config with claudikins config edit",
): string {
  return `${variable} must be set: ${question}. An agent started from the desktop does not see your shell's variables: ${remedy}`;
}

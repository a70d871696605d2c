/** Where agents look for skills, and for the memory file that they read first. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { homeOf } from "../../config/locations.ts";
import { hosts } from "./hosts.ts";
import type { Host, HostName, Surroundings } from "./model.ts";
import { applicationData, configFolder } from "./settings-files.ts";

export type Scope = "user" | "project";

export interface AgentFiles {
  /** The folder that has one folder for each skill. */
  skills: string;
  /** The memory file; undefined if the agent keeps its memory elsewhere. */
  memory: string | undefined;
}

/** `project` is the project's folder. Undefined for an agent that reads neither skills nor a memory file. */
export function agentFilesOf(
  { name }: Host,
  scope: Scope,
  project: string,
  surroundings: Surroundings,
): AgentFiles | undefined {
  if (name === "claude-desktop") return undefined;
  // All other agents read this folder, besides their own.
  const shared = join(".agents", "skills");
  const isClaude = name === "claude-code";
  if (scope === "project") {
    const memory = isClaude ? "CLAUDE.md" : name === "gemini" ? "GEMINI.md" : "AGENTS.md";
    return { skills: join(project, isClaude ? join(".claude", "skills") : shared), memory: join(project, memory) };
  }
  const home = homeOf(surroundings.env);
  const memory = userMemory(name, surroundings);
  return { skills: isClaude ? join(claudeFolder(surroundings), "skills") : join(home, shared), memory };
}

function userMemory(name: HostName, surroundings: Surroundings): string | undefined {
  const { env } = surroundings;
  const home = homeOf(env);
  const files: Partial<Record<HostName, string>> = {
    "claude-code": join(claudeFolder(surroundings), "CLAUDE.md"),
    codex: join(env["CODEX_HOME"] || join(home, ".codex"), "AGENTS.md"),
    gemini: join(home, ".gemini", "GEMINI.md"),
    opencode: join(configFolder(env), "opencode", "AGENTS.md"),
    windsurf: join(home, ".codeium", "windsurf", "memories", "global_rules.md"),
    zed: join(zedFolder(surroundings), "AGENTS.md"),
  };
  return files[name];
}

function claudeFolder({ env }: Surroundings): string {
  return env["CLAUDE_CONFIG_DIR"] || join(homeOf(env), ".claude");
}

/** The folder of Zed's settings. */
function zedFolder(surroundings: Surroundings): string {
  const settings = hosts.find(({ name }) => name === "zed")?.files(surroundings)[0];
  return dirname(settings?.path ?? "");
}

/** The agents installed here: those with a settings file or a folder. */
export function hostsHere(surroundings: Surroundings): Host[] {
  return hosts.filter(
    (host) =>
      host.files(surroundings).some(({ path, scope }) => scope === "user" && existsSync(path)) ||
      existsSync(folderOf(host.name, surroundings)),
  );
}

function folderOf(name: HostName, surroundings: Surroundings): string {
  const { env } = surroundings;
  const home = homeOf(env);
  const folders: Record<HostName, string> = {
    "claude-code": claudeFolder(surroundings),
    "claude-desktop": join(applicationData(surroundings), "Claude"),
    codex: env["CODEX_HOME"] || join(home, ".codex"),
    cursor: join(home, ".cursor"),
    gemini: join(home, ".gemini"),
    opencode: join(configFolder(env), "opencode"),
    vscode: join(applicationData(surroundings), "Code"),
    windsurf: join(home, ".codeium", "windsurf"),
    zed: zedFolder(surroundings),
  };
  return folders[name];
}

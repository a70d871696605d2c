/** Where hosts look for skills, and for the text that they read at the beginning of all work. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { homeOf } from "../../config/locations.ts";
import { hosts } from "./hosts.ts";
import type { Host, HostName, Surroundings } from "./model.ts";
import { applicationData, configFolder } from "./settings-files.ts";

export type Scope = "user" | "project";

export interface AgentFiles {
  /** Each skill is a folder in it. */
  skills: string;
  /** Undefined where it is kept in no file. */
  memory: string | undefined;
}

/** `project` is its folder. Undefined for a host that reads neither from a folder. */
export function agentFilesOf(
  { name }: Host,
  scope: Scope,
  project: string,
  surroundings: Surroundings,
): AgentFiles | undefined {
  if (name === "claude-desktop") return undefined;
  // What all others read beside folders of their own.
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

/** That of its settings. */
function zedFolder(surroundings: Surroundings): string {
  const settings = hosts.find(({ name }) => name === "zed")?.files(surroundings)[0];
  return dirname(settings?.path ?? "");
}

/** Hosts that somebody uses here: one of their files is there, or their folder. */
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

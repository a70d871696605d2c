/** Installs, removes and checks our skill, and our section in the files that agents read first. */
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import { makeFolder, removeFile, removeIfEmpty } from "../../base/files.ts";
import { realPath, refuseLinkOut } from "../../base/guarded-folders.ts";
import { bytesOf, type FileText, textOf, writeThrough } from "../../config/file-text.ts";
import { homeOf, projectFolder } from "../../config/locations.ts";
import { hookTexts, memoryBody } from "../../tools/registry/hook-texts.ts";
import { originOfSkill, withoutSection, withSection } from "../../tools/registry/installed-texts.ts";
import { agents } from "./supported/agents.ts";
import type { Agent, AgentName, AgentSurroundings } from "./supported/model.ts";

export type SkillScope = "user" | "project";

/** A file that several agents may read. */
export interface AgentFile {
  kind: "skill" | "section";
  path: string;
  hosts: AgentName[];
  /** The project folder of a project's file. Links out of it are refused, because a repository can contain links. */
  within?: string;
}

export type FileState =
  /** The content is what this version writes. */
  | "current"
  /** Written by another version. */
  | "older"
  /** Ours, but changed by someone else. */
  | "changed"
  /** Another skill with our name. */
  | "not ours"
  /** Nothing of ours is in it. */
  | "absent";

export interface FileChange extends AgentFile {
  result: "written" | "replaced" | "removed" | "unchanged" | "failed";
  /** The text before and after, for a diff. */
  from: string;
  to: string;
  error?: ClaudikinsError;
}

/** The files of these kinds that the agents read, each path once. */
export function agentFiles(
  among: readonly Agent[],
  scope: SkillScope,
  kinds: readonly AgentFile["kind"][],
  around: AgentSurroundings,
): AgentFile[] {
  const project = projectFolder(around);
  const files = new Map<string, AgentFile>();
  for (const kind of kinds) {
    for (const agent of among) {
      const path = kind === "skill" ? skillOf(agent, scope, around) : memoryOf(agent, scope, around);
      if (path === undefined) continue;
      // Files and folders may be links to each other: AGENTS.md and CLAUDE.md, `.claude/skills` and `.agents/skills`.
      const known = files.get(realPath(path));
      if (known) known.hosts.push(agent.name);
      else
        files.set(realPath(path), { kind, path, hosts: [agent.name], ...(scope === "project" && { within: project }) });
    }
  }
  return [...files.values()];
}

/** Claude Code reads skills from its own folder, all other agents from a shared one. */
function skillOf({ name, memory, folder }: Agent, scope: SkillScope, around: AgentSurroundings): string | undefined {
  if (!memory) return undefined;
  const above = scope === "project" ? projectFolder(around) : homeOf(around.env);
  const own = scope === "project" ? join(above, ".claude") : folder(around);
  return join(name === "claude-code" ? own : join(above, ".agents"), "skills", "claudikins", "SKILL.md");
}

function memoryOf({ memory, folder }: Agent, scope: SkillScope, around: AgentSurroundings): string | undefined {
  if (scope === "project") return memory && join(projectFolder(around), memory.project);
  return memory?.user && join(folder(around), memory.user);
}

/** All possible files of the user and of the project around the working directory. In the home directory they are the same files. */
export function allAgentFiles(around: AgentSurroundings): (AgentFile & { scope: SkillScope })[] {
  const all = (["user", "project"] as const).flatMap((scope) =>
    agentFiles(agents, scope, ["skill", "section"], around).map((file) => ({ ...file, scope })),
  );
  return all.filter(({ path }, place) => all.findIndex((other) => other.path === path) === place);
}

/** Throws FILE_NOT_FOUND for a file that cannot be read. */
export function skillState({ kind, path }: AgentFile): FileState {
  const text = read(path)?.text;
  if (text === undefined) return "absent";
  if (kind === "section") {
    const bare = withoutSection(text);
    if (!bare) return "changed";
    if (bare.text === text) return "absent";
    return withSection(text, memoryBody) === text ? "current" : "older";
  }
  const origin = originOfSkill(text);
  if (origin !== "ours") return origin === "changed" ? "changed" : "not ours";
  return isSame(text, hookTexts.skill) ? "current" : "older";
}

function isSame(one: string, other: string): boolean {
  return one.replaceAll("\r\n", "\n") === other;
}

export interface SkillFileOptions {
  /** Also overwrite or remove skills that are not ours or were changed. */
  force: boolean;
  /** Nothing is written. */
  dryRun: boolean;
}

/** Writes our texts. A file that cannot be written is reported and does not stop the others. */
export function installSkills(files: readonly AgentFile[], options: SkillFileOptions): FileChange[] {
  return files.map((file) =>
    tried(file, (before) => {
      const from = before?.text ?? "";
      const to = file.kind === "section" ? withSection(before?.text, memoryBody) : skillIn(file, before, options.force);
      if (to === undefined) throw damaged(file);
      if (before && from === to) return { result: "unchanged", from, to };
      if (!options.dryRun) write(file, before, to);
      const hadOurs = before && (file.kind === "skill" || withoutSection(from)?.text !== from);
      return { result: hadOurs ? "replaced" : "written", from, to };
    }),
  );
}

/** Removes our texts. Files and folders that `installSkills` created are deleted. */
export function removeSkills(files: readonly AgentFile[], options: SkillFileOptions): FileChange[] {
  return files.map((file) =>
    tried(file, (before) => {
      const from = before?.text ?? "";
      if (!before) return { result: "unchanged", from, to: from };
      const rest = file.kind === "section" ? withoutSection(from) : skillGone(file, from, options.force);
      if (!rest) throw damaged(file);
      if (rest.file && rest.text === from) return { result: "unchanged", from, to: from };
      if (!options.dryRun) {
        if (rest.file) write(file, before, rest.text);
        else removeWithFolders(file);
      }
      return { result: "removed", from, to: rest.text };
    }),
  );
}

function tried(
  file: AgentFile,
  change: (before: FileText | undefined) => Pick<FileChange, "result" | "from" | "to">,
): FileChange {
  try {
    if (file.within !== undefined) refuseLinkOut(file.path, file.within);
    return { ...file, ...change(read(file.path)) };
  } catch (thrown) {
    return { ...file, result: "failed", from: "", to: "", error: toClaudikinsError(thrown) };
  }
}

function read(path: string): FileText | undefined {
  // A dangling link is an error, so that it is not overwritten.
  return lstatSync(path, { throwIfNoEntry: false }) ? textOf(path) : undefined;
}

function skillIn(file: AgentFile, before: FileText | undefined, force: boolean): string {
  if (before && isSame(before.text, hookTexts.skill)) return before.text;
  if (before && !force) checkOurs(file, before.text);
  return hookTexts.skill;
}

/** A foreign skill stays even with `force`, because no part of it is ours. */
function skillGone(file: AgentFile, from: string, force: boolean): { text: string; file: boolean } {
  if (originOfSkill(from) === "foreign") return { text: from, file: true };
  if (!force) checkOurs(file, from);
  return { text: "", file: false };
}

/** Throws FILE_NOT_WRITABLE. */
function checkOurs({ path }: AgentFile, text: string): void {
  const origin = originOfSkill(text);
  if (origin === "ours") return;
  const why = origin === "changed" ? "has been changed since claudikins wrote it" : "was not written by claudikins";
  throw new ClaudikinsError("FILE_NOT_WRITABLE", `${path} ${why}, so it is left unchanged`, {
    hint: "Move it away, or overwrite it with --force, which keeps no copy.",
  });
}

function damaged({ path }: AgentFile): ClaudikinsError {
  return new ClaudikinsError("CONFIG_INVALID", `${path} does not have both marks of a claudikins section`, {
    hint: 'Remove the lines with "claudikins begin" and "claudikins end", and everything between them.',
  });
}

function write({ path }: AgentFile, before: FileText | undefined, text: string): void {
  if (!before) makeFolder(dirname(path));
  writeThrough(before?.path ?? path, bytesOf(text, { hasMark: before?.hasMark ?? false }), before?.mode ?? 0o644);
}

/** Removes the file, and the folders of a skill if they are empty: `.agents/skills/claudikins`. */
function removeWithFolders({ kind, path }: AgentFile): void {
  removeFile(path);
  let folder = dirname(path);
  for (let level = kind === "skill" ? 3 : 1; level > 0; level--, folder = dirname(folder)) removeIfEmpty(folder);
}

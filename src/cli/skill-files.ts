/** Shared by the skill commands: the choice of files, and the report of changes. */

import { type AgentFile, agentFiles, type FileChange, type Scope } from "../agents/skill-files.ts";
import { agentsHere, agents as allAgents, chosenAgents } from "../agents/supported/agents.ts";
import type { Agent, Surroundings } from "../agents/supported/model.ts";
import { ClaudikinsError } from "../errors.ts";
import { hasColours } from "./colours.ts";
import { repeatable } from "./command.ts";
import { unifiedDiff } from "./diff.ts";
import type { Io } from "./io.ts";
import { errorJson, errorText } from "./report.ts";
import { about, list, oneOf, record, text, texts } from "./shapes.ts";

export const fileShape = { kind: oneOf("skill", "section"), path: text, hosts: texts };

export const changesShape = list(
  record({
    ...fileShape,
    result: oneOf("written", "replaced", "removed", "unchanged", "failed"),
    "diff?": about("With --dry-run", text),
    "error?": text,
  }),
);

export const whereArgs = {
  user: { type: "boolean", description: "Apply to all your projects (default)" },
  project: {
    type: "boolean",
    description: "Apply to this project: beside its claudikins.json, or at the top of its repository",
  },
  host: {
    type: "string",
    valueHint: "name",
    description:
      "Apply only to this agent: claude (claude-code), codex, cursor, vscode, windsurf, gemini, opencode, zed (repeatable)",
    choices: ["claude", "codex", "cursor", "vscode", "windsurf", "gemini", "opencode", "zed"],
    ...repeatable,
  },
} as const;

export const changeArgs = {
  force: {
    type: "boolean",
    description:
      "Also overwrite or remove a file that claudikins did not write, or that was edited since; no backup is kept",
  },
  "dry-run": { type: "boolean", description: "Show the changes as a diff, and write nothing" },
} as const;

export function surroundingsOf({ env, cwd }: Io): Surroundings {
  return { env, cwd, platform: process.platform };
}

/** Throws USAGE. */
export function scopeOf(args: { user?: boolean | undefined; project?: boolean | undefined }): Scope {
  if (args.user && args.project) throw new ClaudikinsError("USAGE", "Use --user or --project, not both");
  return args.project ? "project" : "user";
}

/** Returns the named agents, or undefined if no name is given. Throws USAGE. */
export function namedAgents(names: string[]): readonly Agent[] | undefined {
  if (names.length === 0) return undefined;
  const chosen = chosenAgents(names.map((name) => (name === "claude" ? "claude-code" : name)));
  const without = chosen.find(({ memory }) => !memory);
  if (!without) return chosen;
  const others = allAgents.filter(({ memory }) => memory).map(({ name }) => name);
  throw new ClaudikinsError("USAGE", `${without.title} does not read skills from a folder`, {
    hint: `Agents that do: ${others.join(", ")}.`,
  });
}

/** Returns the agents in use on this machine that read skills, or Claude Code if there are none. */
export function usualAgents(surroundings: Surroundings): readonly Agent[] {
  const here = agentsHere(surroundings).filter(({ memory }) => memory);
  return here.length > 0 ? here : chosenAgents(["claude-code"]);
}

/** Returns the files of the agents. Throws USAGE if a named agent has no such file. */
export function filesFor(
  agents: readonly Agent[],
  kinds: readonly AgentFile["kind"][],
  scope: Scope,
  { surroundings, named }: { surroundings: Surroundings; named: boolean },
): AgentFile[] {
  const files = agentFiles(agents, scope, kinds, surroundings);
  const without = agents.find(
    ({ name }) =>
      kinds.includes("section") && !files.some((file) => file.kind === "section" && file.hosts.includes(name)),
  );
  if (named && without) {
    throw new ClaudikinsError("USAGE", `${without.title} has no file for instructions that apply to all projects`, {
      hint: "In a project, it reads AGENTS.md: add --project.",
    });
  }
  return files;
}

/** The exit code. */
export async function tellOfChanges(
  changes: FileChange[],
  { json, "dry-run": isDry }: { json?: boolean | undefined; "dry-run"?: boolean | undefined },
  io: Io,
): Promise<number> {
  const failed = changes.find(({ error }) => error)?.error;
  const colours = hasColours(io.stdout, io);
  if (json) {
    const files = changes.map(({ kind, path, hosts, result, from, to, error }) => ({
      kind,
      path,
      hosts,
      result,
      ...(isDry && from !== to ? { diff: unifiedDiff(path, from, to) } : {}),
      ...(error ? { error: error.message } : {}),
    }));
    if (failed) await io.stderr.write(errorJson(failed, { files }));
    else await io.stdout.write(`${JSON.stringify({ files })}\n`);
    return failed?.exitCode ?? 0;
  }
  for (const { kind, path, result, from, to, hosts } of changes) {
    if (result === "failed") continue;
    if (isDry && from !== to) await io.stdout.write(unifiedDiff(path, from, to, colours));
    else await io.stdout.write(`${words[kind][result]} ${path} (${hosts.join(", ")})\n`);
  }
  for (const { error } of changes) if (error) await io.stderr.write(errorText(error, hasColours(io.stderr, io)));
  return failed?.exitCode ?? 0;
}

const words: Record<FileChange["kind"], Record<Exclude<FileChange["result"], "failed">, string>> = {
  skill: { written: "Wrote", replaced: "Replaced", removed: "Removed", unchanged: "Unchanged:" },
  section: {
    written: "Added the claudikins section to",
    replaced: "Replaced the claudikins section in",
    removed: "Removed the claudikins section from",
    unchanged: "Unchanged:",
  },
};

/** `claudikins skill`: writes the skill where agents look for it, removes it, shows where it is, and prints the texts. */

import { ClaudikinsError } from "../../base/errors.ts";
import { about, list, oneOf, record, text, texts } from "../../base/json-shape.ts";
import {
  type AgentFile,
  agentFiles,
  allAgentFiles,
  type FileChange,
  installSkills,
  removeSkills,
  type SkillScope,
  skillState,
} from "../../setup/agents/skill-files.ts";
import { agents, agentsHere, chosenAgents } from "../../setup/agents/supported/agents.ts";
import type { Agent, AgentSurroundings } from "../../setup/agents/supported/model.ts";
import { unifiedDiff } from "../../setup/unified-diff.ts";
import { hookTexts } from "../../tools/registry/hook-texts.ts";
import { markedHooks } from "../../tools/registry/hooks.ts";
import { type ArgumentValues, type CommandAnswer, command, flag, option, place, repeatable } from "../command.ts";
import { oneWordOf } from "../flags/flags.ts";
import type { Io } from "../io.ts";
import { listAnswer } from "../output/nouns.ts";
import { errorText } from "../output/report.ts";
import { colouredDiff, stateCell } from "../terminal/terminal-output.ts";

const fileShape = { kind: oneOf("skill", "section"), path: text, hosts: texts };

const changesShape = list(
  record({
    ...fileShape,
    result: oneOf("written", "replaced", "removed", "unchanged", "failed"),
    "diff?": about("With --dry-run", text),
    "error?": text,
  }),
);

const whereArgs = {
  user: flag("Apply to all your projects (default)"),
  project: flag("Apply to this project: beside its claudikins.json, or at the top of its repository"),
  host: option(
    "Apply only to this agent: claude (claude-code), codex, cursor, vscode, windsurf, gemini, opencode, zed (repeatable)",
    {
      valueHint: "name",
      choices: ["claude", "codex", "cursor", "vscode", "windsurf", "gemini", "opencode", "zed"],
      ...repeatable,
    },
  ),
} as const;

const changeArgs = {
  force: flag(
    "Also overwrite or remove a file that claudikins did not write, or that was edited since; no backup is kept",
  ),
  "dry-run": flag("Show the changes as a diff, and write nothing"),
} as const;

export const install = command({
  description:
    "Write a skill that tells agents how to search, run code, keep outputs small and save what works. Claude Code reads it from .claude/skills, all other agents from .agents/skills. By default it is written for the agents on this machine.",
  args: {
    ...whereArgs,
    "claude-md": flag(
      "Also write a section between markers in CLAUDE.md, AGENTS.md or GEMINI.md; the rest of the file is kept",
    ),
    ...changeArgs,
  },
  examples: [
    "claudikins skill install",
    "claudikins skill install --project --host claude --claude-md",
    "claudikins skill install --dry-run",
  ],
  json: record({ files: changesShape }),
  jsonFailure: { "files?": changesShape },
  async run(args, io) {
    const surroundings = agentSurroundings(io);
    const named = namedAgents(args.host);
    const kinds = args["claude-md"] ? (["skill", "section"] as const) : (["skill"] as const);
    const files = filesFor(named ?? usualAgents(surroundings), kinds, scopeOf(args), {
      surroundings,
      named: named !== undefined,
    });
    const answer = changesAnswer(installSkills(files, optionsOf(args)), args);
    return files.length > 0 ? answer : { ...answer, note: "Your agents have the skill from their plugins.\n" };
  },
});

export const remove = command({
  description: "Remove the skill and the sections that skill install wrote, and nothing else.",
  args: {
    ...whereArgs,
    ...changeArgs,
  },
  examples: ["claudikins skill remove", "claudikins skill remove --project --dry-run"],
  json: record({ files: changesShape }),
  jsonFailure: { "files?": changesShape },
  async run(args, io) {
    const surroundings = agentSurroundings(io);
    const chosen = namedAgents(args.host) ?? agents;
    const files = filesFor(chosen, ["skill", "section"], scopeOf(args), { surroundings, named: false });
    const changes = removeSkills(files, optionsOf(args)).filter(({ result }) => result !== "unchanged");
    const answer = changesAnswer(changes, args);
    return changes.length > 0 ? answer : { ...answer, note: "The skill is not installed.\n" };
  },
});

export const status = command({
  description:
    "Show where the skill is installed, and the section in CLAUDE.md, AGENTS.md or GEMINI.md, and whether they are up to date.",
  args: {},
  examples: ["claudikins skill status", "claudikins skill status --json"],
  json: record({
    files: list(
      record({
        ...fileShape,
        scope: oneOf("user", "project"),
        state: oneOf("current", "older", "changed", "not ours", "absent", "not readable"),
      }),
    ),
  }),
  async run(_args, io) {
    const files = allAgentFiles(agentSurroundings(io)).map(({ within: _, ...file }) => ({
      ...file,
      state: stateOrNot(file),
    }));
    const there = files.filter(({ state }) => state !== "absent");
    return listAnswer(
      io,
      { json: { files }, rows: there, none: "No agent has the skill. To install it: claudikins skill install\n" },
      [
        ["what", ({ kind }) => kind],
        ["scope", ({ scope }) => scope],
        ["state", ({ state }) => stateCell(stateWords[state] ?? state)],
        [{ text: "agents" }, ({ hosts }) => hosts.join(", ")],
        [{ path: "file" }, ({ path }) => path],
      ],
    );
  },
});

export const print = command({
  description:
    "Print a text that tells agents how to find and call tools: a section for CLAUDE.md, a skill file, or the README that gen writes into the registry. claudikins stats --hooks shows which of these texts led agents to claudikins.",
  args: {
    text: place("Text to print: claude-md, skill or readme", { required: true, ...oneWordOf(markedHooks) }),
  },
  examples: [
    "claudikins skill print claude-md >> CLAUDE.md",
    "claudikins skill print skill > .claude/skills/claudikins/SKILL.md",
  ],
  async run(args) {
    return { text: hookTexts[args.text] };
  },
});

/** States in the words of doctor. */
const stateWords: Partial<Record<ReturnType<typeof stateOrNot>, string>> = {
  older: "from another version",
  changed: "edited by hand",
  "not ours": "not written by claudikins",
};

function stateOrNot(file: AgentFile): ReturnType<typeof skillState> | "not readable" {
  try {
    return skillState(file);
  } catch {
    return "not readable";
  }
}

export function agentSurroundings({ env, cwd }: Io): AgentSurroundings {
  return { env, cwd, platform: process.platform };
}

/** Throws USAGE. */
function scopeOf(args: ArgumentValues<typeof whereArgs>): SkillScope {
  if (args.user && args.project) throw new ClaudikinsError("USAGE", "Use --user or --project, not both");
  return args.project ? "project" : "user";
}

/** Returns the named agents, or undefined if no name is given. Throws USAGE. */
function namedAgents(names: string[]): readonly Agent[] | undefined {
  if (names.length === 0) return undefined;
  const chosen = chosenAgents(names.map((name) => (name === "claude" ? "claude-code" : name)));
  const without = chosen.find(({ memory }) => !memory);
  if (!without) return chosen;
  const others = agents.filter(({ memory }) => memory).map(({ name }) => name);
  throw new ClaudikinsError("USAGE", `${without.title} does not read skills from a folder`, {
    hint: `Agents that do: ${others.join(", ")}.`,
  });
}

/** Returns the agents on this machine that read skills, or Claude Code if there are none. Agents whose plugin has the skill are left out. */
export function usualAgents(surroundings: AgentSurroundings): readonly Agent[] {
  const here = agentsHere(surroundings).filter(({ memory }) => memory);
  const all = here.length > 0 ? here : chosenAgents(["claude-code"]);
  return all.filter(({ plugin }) => !plugin?.(surroundings));
}

/** Returns the files of the agents. Throws USAGE if a named agent has no such file. */
export function filesFor(
  agents: readonly Agent[],
  kinds: readonly AgentFile["kind"][],
  scope: SkillScope,
  { surroundings, named }: { surroundings: AgentSurroundings; named: boolean },
): AgentFile[] {
  const files = agentFiles(agents, scope, kinds, surroundings);
  const hasSection = ({ name }: Agent) => files.some(({ kind, hosts }) => kind === "section" && hosts.includes(name));
  const without = kinds.includes("section") ? agents.find((agent) => !hasSection(agent)) : undefined;
  if (named && without) {
    throw new ClaudikinsError("USAGE", `${without.title} has no file for instructions that apply to all projects`, {
      hint: "In a project, it reads AGENTS.md: add --project.",
    });
  }
  return files;
}

function optionsOf(args: ArgumentValues<typeof changeArgs>) {
  return { force: args.force === true, dryRun: args["dry-run"] === true };
}

function changesAnswer(changes: FileChange[], { "dry-run": isDry }: ArgumentValues<typeof changeArgs>): CommandAnswer {
  const files = changes.map(({ kind, path, hosts, result, from, to, error }) => ({
    kind,
    path,
    hosts,
    result,
    diff: isDry && from !== to ? unifiedDiff(path, from, to) : undefined,
    error: error?.message,
  }));
  const errors = changes.flatMap(({ error }) => error ?? []);
  const lines = files.map(({ kind, path, result, diff, hosts }) => {
    if (result === "failed") return "";
    return diff === undefined ? `${words[kind][result]} ${path} (${hosts.join(", ")})\n` : colouredDiff(diff);
  });
  return {
    json: { files },
    text: lines.join(""),
    note: errors.map((error) => errorText(error)).join(""),
    failure: errors[0],
    beside: { files },
  };
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

/** Undoes the changes of `init`: restores each byte, or only the servers if the agent has changed other settings since. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import { removeFile } from "../../base/files.ts";
import type { PortableEntry } from "../../config/config-file.ts";
import type { Environment } from "../../config/environment.ts";
import { bytesOf, type FileText, hashOf, textOf, writeThrough } from "../../config/file-text.ts";
import { entriesIn } from "./find-servers.ts";
import { Journal, type JournalEntry, removeAbandoned } from "./journal.ts";
import { hasOtherServers, withServersOf } from "./rewire.ts";
import { agents } from "./supported/agents.ts";
import type { AgentName, AgentSettings, AgentSurroundings } from "./supported/model.ts";

export interface RestoreOptions {
  /** All agents if empty. */
  agents: readonly AgentName[];
  /** Restore the whole file even if it has changed since. */
  force: boolean;
  /** Restore the old servers beside new ones, even if servers have changed since. */
  serversOnly: boolean;
  /** Nothing is written. */
  dryRun: boolean;
  signal: AbortSignal;
  surroundings: AgentSurroundings;
}

export interface Restored {
  host: string;
  file: string;
  /** `as it was`: the file is already as it was before `init`. */
  result: "restored" | "servers restored" | "as it was" | "changed since" | "failed";
  /** The change that this restore made, would make (dry run) or refused to make. */
  difference?: { from: string; to: string };
  /** The entries whose secrets are in these texts. */
  entries?: PortableEntry[];
  error?: ClaudikinsError;
}

/** Whether a file is still as `init` has changed it. Throws CONFIG_INVALID. */
export function hasChanges(env: Environment): boolean {
  return new Journal(env).changes.length > 0;
}

/** Undoes the changes, newest first. Refused changes stay in the journal. Throws CONFIG_INVALID if the journal is damaged. */
export async function restore(options: RestoreOptions): Promise<Restored[]> {
  const journal = new Journal(options.surroundings.env);
  // Without changes, the data folder is not created for a lock.
  if (journal.changes.length === 0) return [];
  return journal.alone(() => {
    const restored: Restored[] = [];
    // Paths whose newest change could not be undone: older ones must wait.
    const blocked = new Set<string>();
    const earlier = new Map<string, string[]>();
    for (const change of journal.changes.toReversed()) {
      if (options.signal.aborted) break;
      if (options.agents.length > 0 && !options.agents.includes(change.host)) continue;
      if (blocked.has(change.path)) continue;
      const one = restoreOne(change, journal, options, earlier);
      if (one.result === "changed since" || one.result === "failed" || options.dryRun) blocked.add(change.path);
      restored.push(one);
    }
    return restored;
  });
}

/** `earlier` has, for each file, the original texts of its newer changes. */
function restoreOne(
  change: JournalEntry,
  journal: Journal,
  options: RestoreOptions,
  earlier: Map<string, string[]>,
): Restored {
  const about = { host: change.host, file: change.file };
  try {
    const current = existsSync(change.path) ? textOf(change.path) : undefined;
    const isAsWritten = current !== undefined && hashOf(current.bytes) === change.after;
    const isAsBefore = current ? hashOf(current.bytes) === change.before : change.isNew;
    if (isAsBefore) {
      if (!options.dryRun) journal.remove(change.id);
      return { ...about, result: "as it was" };
    }
    const copy = journal.copyOf(change);
    const known = [...(earlier.get(change.path) ?? []), textIn(copy)];
    earlier.set(change.path, known);
    const onlyServers =
      !isAsWritten && !options.force && current !== undefined && restoresOnlyServers(change, known, current, options);
    const bytes = onlyServers && current ? serversBack(change, copy, current, options.surroundings) : copy;
    const difference = { from: textIn(current?.bytes), to: textIn(bytes) };
    const entries = entriesOf(change, [difference.from, difference.to], options.surroundings);
    if (!isAsWritten && !options.force && !onlyServers)
      return { ...about, result: "changed since", difference, entries };
    if (!options.dryRun) {
      removeAbandoned(change.path);
      if (change.isNew && !onlyServers) removeFile(change.path);
      else writeThrough(change.path, bytes, current?.mode ?? change.mode);
      journal.remove(change.id);
    }
    return { ...about, result: onlyServers ? "servers restored" : "restored", difference, entries };
  } catch (thrown) {
    return { ...about, result: "failed", error: toClaudikinsError(thrown) };
  }
}

/** Whether only the servers are restored. Claude Code, for example, writes other settings to its file in every session. */
function restoresOnlyServers(
  change: JournalEntry,
  known: string[],
  current: FileText,
  options: RestoreOptions,
): boolean {
  if (options.serversOnly) return true;
  const settings = settingsOf(change, options.surroundings);
  try {
    return settings !== undefined && !hasOtherServers(known, current.text, settings, options.surroundings);
  } catch {
    // A person has to look at a file that cannot be parsed.
    return false;
  }
}

function serversBack(change: JournalEntry, copy: Buffer, current: FileText, surroundings: AgentSurroundings): Buffer {
  const settings = settingsOf(change, surroundings);
  if (settings) return bytesOf(withServersOf(textIn(copy), current.text, settings, surroundings), current);
  const what = `${change.file} is not a settings file of ${change.host} in this folder`;
  throw new ClaudikinsError("FILE_NOT_FOUND", what, {
    hint: "Run the command in the file's project folder, or add --force.",
  });
}

function settingsOf(change: JournalEntry, surroundings: AgentSurroundings): AgentSettings | undefined {
  const agent = agents.find(({ name }) => name === change.host);
  // A project's files are found from inside the project.
  const places = [surroundings, { ...surroundings, cwd: dirname(change.file) }];
  const file = places.flatMap((place) => agent?.files(place) ?? []).find(({ path }) => path === change.file);
  return agent && file && { agent, file };
}

/** The entries in the texts; none for a text that cannot be parsed. */
function entriesOf(change: JournalEntry, texts: string[], surroundings: AgentSurroundings): PortableEntry[] {
  const settings = settingsOf(change, surroundings);
  return texts.flatMap((text) => {
    try {
      return settings ? entriesIn(text, settings, surroundings) : [];
    } catch {
      return [];
    }
  });
}

function textIn(bytes: Buffer | undefined): string {
  return (bytes?.toString("utf8") ?? "").replace(/^\uFEFF/, "");
}

/** Undoes the changes of `init`: restores each byte, or only the servers if the agent has changed other settings since. */
import { dirname } from "node:path";
import type { Environment } from "../config/environment.ts";
import { ClaudikinsError, toClaudikinsError } from "../errors.ts";
import { removeFile } from "../files.ts";
import type { PortableEntry } from "../settings/config-file.ts";
import { bytesOf, type FileText, hashOf, textOf } from "../settings/file-text.ts";
import { writeThrough } from "../settings/write-through.ts";
import { entriesIn } from "./find-servers.ts";
import { type Change, Journal, removeLeftOvers } from "./journal.ts";
import { hasOtherServers, withServersOf } from "./rewire.ts";
import { hosts } from "./supported/hosts.ts";
import type { Host, HostFile, HostName, Surroundings } from "./supported/model.ts";

export interface RestoreOptions {
  hosts: readonly HostName[];
  /** Restore the whole file even if it has changed since. */
  force: boolean;
  /** Restore the old servers beside new ones, even if servers have changed since. */
  serversOnly: boolean;
  /** Nothing is written. */
  dryRun: boolean;
  signal: AbortSignal;
  surroundings: Surroundings;
}

export interface Restored {
  host: string;
  file: string;
  result: "restored" | "servers restored" | "as it was" | "changed since" | "failed";
  /** The change to a file that was refused, or that a dry run only shows. */
  difference?: { from: string; to: string };
  /** The entries whose secrets are in these texts. */
  entries?: PortableEntry[];
  error?: ClaudikinsError;
}

/** Undoes the changes, newest first. Refused changes stay in the journal. Throws CONFIG_INVALID if the journal is damaged. */
export async function restore(env: Environment, options: RestoreOptions): Promise<Restored[]> {
  const journal = new Journal(env);
  // Without changes, the data folder is not created for a lock.
  if (journal.changes.length === 0) return [];
  return journal.alone(() => {
    const restored: Restored[] = [];
    const stopped = new Set<string>();
    const earlier = new Map<string, string[]>();
    for (const change of journal.changes.toReversed()) {
      if (options.signal.aborted) break;
      if (options.hosts.length > 0 && !options.hosts.includes(change.host)) continue;
      if (stopped.has(change.path)) continue;
      const one = restoreOne(change, journal, options, earlier);
      if (one.result === "changed since" || one.result === "failed" || options.dryRun) stopped.add(change.path);
      restored.push(one);
    }
    return restored;
  });
}

/** `earlier` has, for each file, its texts before the changes that were handled so far. */
function restoreOne(
  change: Change,
  journal: Journal,
  options: RestoreOptions,
  earlier: Map<string, string[]>,
): Restored {
  const about = { host: change.host, file: change.file };
  try {
    const current = currentOf(change);
    const isOurs = current !== undefined && hashOf(current.bytes) === change.after;
    const isAsBefore = current ? hashOf(current.bytes) === change.before : change.isNew;
    if (isAsBefore) {
      if (!options.dryRun) journal.remove(change.id);
      return { ...about, result: "as it was" };
    }
    const copy = journal.copyOf(change);
    const known = [...(earlier.get(change.path) ?? []), textIn(copy)];
    earlier.set(change.path, known);
    const onlyServers =
      !isOurs && !options.force && current !== undefined && isForServers(change, known, current, options);
    const bytes = onlyServers && current ? serversBack(change, copy, current, options.surroundings) : copy;
    const difference = { from: textIn(current?.bytes), to: textIn(bytes) };
    const entries = entriesOf(change, [difference.from, difference.to], options.surroundings);
    if (!isOurs && !options.force && !onlyServers) return { ...about, result: "changed since", difference, entries };
    if (!options.dryRun) {
      removeLeftOvers(change.path);
      if (change.isNew && !onlyServers) removeFile(change.path);
      else writeThrough(change.path, bytes, current?.mode ?? change.mode);
      journal.remove(change.id);
    }
    return { ...about, result: onlyServers ? "servers restored" : "restored", difference, entries };
  } catch (thrown) {
    return { ...about, result: "failed", error: toClaudikinsError(thrown) };
  }
}

/** The file as it is now; undefined if it was removed. */
function currentOf({ path }: Change): FileText | undefined {
  try {
    return textOf(path);
  } catch (thrown) {
    const cause = thrown instanceof ClaudikinsError ? (thrown.cause as NodeJS.ErrnoException) : undefined;
    if (cause?.code === "ENOENT") return undefined;
    throw thrown;
  }
}

/** Whether only the servers are restored. Claude Code, for example, writes other settings to its file in every session. */
function isForServers(change: Change, known: string[], current: FileText, options: RestoreOptions): boolean {
  if (options.serversOnly) return true;
  const place = hostFileOf(change, options.surroundings);
  try {
    return place !== undefined && !hasOtherServers(known, current.text, place, options.surroundings);
  } catch {
    // A person has to look at a file that cannot be parsed.
    return false;
  }
}

function serversBack(change: Change, copy: Buffer, current: FileText, surroundings: Surroundings): Buffer {
  const known = hostFileOf(change, surroundings);
  if (!known) {
    throw new ClaudikinsError(
      "FILE_NOT_FOUND",
      `${change.file} is not a settings file of ${change.host} in this folder`,
      {
        hint: "Run the command in the file's project folder, or add --force.",
      },
    );
  }
  return bytesOf(withServersOf(textIn(copy), current.text, known, surroundings), current);
}

function hostFileOf(change: Change, surroundings: Surroundings): { host: Host; file: HostFile } | undefined {
  const host = hosts.find(({ name }) => name === change.host);
  // A project's files are found from inside the project.
  const places = [surroundings, { ...surroundings, cwd: dirname(change.file) }];
  const file = places.flatMap((place) => host?.files(place) ?? []).find(({ path }) => path === change.file);
  return host && file && { host, file };
}

/** The entries in the texts; none for a text that cannot be parsed. */
function entriesOf(change: Change, texts: string[], surroundings: Surroundings): PortableEntry[] {
  const known = hostFileOf(change, surroundings);
  if (!known) return [];
  return texts.flatMap((text) => {
    try {
      return entriesIn(text, known.host, known.file, surroundings);
    } catch {
      return [];
    }
  });
}

function textIn(bytes: Buffer | undefined): string {
  return (bytes?.toString("utf8") ?? "").replace(/^\uFEFF/, "");
}

/**
 * Takes over the files in which version 0.1.0 kept the audit log: numbered files of lines, and `head.json`, which names the last line. They
 * stay on the disk, in a folder with another name. A running process of that version may begin a new log, which is taken over later.
 */
import type { Database } from "bun:sqlite";
import { dirname, join } from "node:path";
import { namesIn, readIfThere, statsOf } from "../../base/files.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { sha256 } from "../../base/sha256.ts";
import { lineOf } from "../audit/chain.ts";
import { thisProcess } from "../audit/decider.ts";
import type { AuditEvent } from "../audit/event.ts";
import { AuditTable, addEvents } from "./audit-table.ts";
import { moveAside, movedFolders } from "./earlier-files.ts";

const folderOf = (file: string) => join(dirname(file), "audit");
const movedLogs = (file: string) => movedFolders(file, "audit");
const isFolder = (path: string) => statsOf(path)?.isDirectory() === true;

/** Whether there is a log that was not taken over, beside the database. */
export function hasEarlierLog(file: string): boolean {
  return isFolder(folderOf(file)) || movedLogs(file).length > 0;
}

/** Throws what the database throws. */
export function takeOverEarlierLogs(database: Database, file: string): void {
  // A process of the earlier version that is writing fails, and decides nothing.
  if (isFolder(folderOf(file))) moveAside(folderOf(file));
  // One that was moved aside before by a process that was killed is taken over too.
  const query = database.query<{ name: string }, [string]>("SELECT name FROM takenOver WHERE name = ?");
  for (const name of movedLogs(file)) {
    if (!query.get(name)) database.transaction(() => takeOver(database, dirname(file), name)).immediate();
  }
}

/** `name` is remembered, so that nothing is taken over twice. The first log keeps its lines, and with them their hashes. */
function takeOver(database: Database, parent: string, name: string): void {
  const { changes } = database.query("INSERT INTO takenOver (name) VALUES (?) ON CONFLICT DO NOTHING").run(name);
  if (changes === 0) return;
  const { lines, torn, head } = readLog(join(parent, name));
  const table = new AuditTable(database);
  if (table.last()) {
    for (const text of lines) {
      const line = lineOf(text);
      if (!line) continue;
      const { entry: _, previous: __, at, by, ...event } = line;
      addEvents(database, [event], by, at);
    }
    return;
  }
  for (const text of torn === "" ? lines : [...lines, torn]) table.add(text, sha256(text));
  const problems: AuditEvent[] = torn === "" ? [] : [{ decision: "recovered", torn: sha256(torn) }];
  addEvents(database, [...problems, ...problemsOf(lines, head)], thisProcess());
}

interface Head {
  entry: number;
  sha256: string;
}

/** Returns an event if the head names lines that are missing at the end. A head that is one line behind comes from a process that was killed. */
function problemsOf(lines: readonly string[], head: Head | undefined): AuditEvent[] {
  const last = lines.at(-1);
  const entry = (last === undefined ? undefined : lineOf(last)?.entry) ?? 0;
  if (head === undefined) {
    if (last === undefined) return [];
    const why = `head.json was missing or damaged, so that entries after entry ${entry} may be missing too`;
    return [{ decision: "broken", why }];
  }
  const isLost = head.entry > entry || (head.entry === entry && last !== undefined && head.sha256 !== sha256(last));
  const why = `entry ${head.entry} with the hash ${head.sha256} was written, and is missing`;
  return isLost ? [{ decision: "broken", why }] : [];
}

interface EarlierLog {
  /** Whole lines, oldest first. */
  lines: string[];
  /** The text after the last line. */
  torn: string;
  /** Undefined if there is none, or it cannot be understood. */
  head: Head | undefined;
}

function readLog(folder: string): EarlierLog {
  const names = namesIn(folder).filter((each) => /^\d{6,}\.jsonl$/.test(each));
  const texts = names
    .map((each) => readIfThere(join(folder, each)) ?? "")
    .join("")
    .split("\n");
  const torn = texts.pop() ?? "";
  const value = parsedJson(readIfThere(join(folder, "head.json")) ?? "");
  const { entry, sha256: digest } = isObject(value) ? value : {};
  const head = typeof entry === "number" && typeof digest === "string" ? { entry, sha256: digest } : undefined;
  return { lines: texts, torn, head };
}

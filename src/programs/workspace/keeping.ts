/** Stores what was changed in a shared workspace, so that other replicas can bring it to theirs. */
import { ClaudikinsError, systemCodeOf } from "../../base/errors.ts";
import { eventLoopTurn } from "../../base/event-loop.ts";
import { megabytes } from "../../base/units.ts";
import { shown } from "../../sandbox/host/filesystem/fault.ts";
import { type Look, pathProblem } from "../../sandbox/host/workspace-folder.ts";
import { maxFileBytes, maxWorkspaceBytes, maxWorkspaceEntries } from "../../sandbox/limits.ts";
import type { FileChange, FileRow, StoredPart } from "../../store/files.ts";
import { filePartBytes } from "../../store/limits.ts";
import { entriesAtOnce, roundedMs } from "../limits.ts";
import { bring } from "./bringing.ts";
import { baseOf } from "./known-files.ts";
import type { WorkspaceParts } from "./parts.ts";

/** Times that conflicts are looked for again, while others change the same files. */
const maxConflictRounds = 5;

/** A change, and how the file looked when it was read. */
interface Change {
  row: FileRow;
  mark: string | undefined;
}

/**
 * Returns the problems of files that cannot be shared, each of them once, and what became of files that others have changed at the same time.
 * Throws DATABASE_UNAVAILABLE, BUCKET_UNAVAILABLE, and FILE_NOT_WRITABLE if the workspace is too large: then nothing is stored.
 */
export async function keep(parts: WorkspaceParts): Promise<{ problems: string[]; conflicts: string[] }> {
  const { known } = parts;
  const problems: string[] = [];
  const told: string[] = [];
  for (let round = 1; ; round++) {
    const conflicts = await stored(problems, parts);
    if (conflicts.length === 0 || round === maxConflictRounds) return { problems, conflicts: told };
    for (const path of conflicts) told.push(await putAside(path, parts));
    // What others have stored gets its place, and what was put aside is stored.
    known.reset();
    await bring(parts);
  }
}

/** Returns the paths of files that others have changed since, which are not stored. Throws as `keep` does. */
async function stored(problems: string[], parts: WorkspaceParts): Promise<string[]> {
  const { files, place, known } = parts;
  const local = await looksOf(parts);
  const changes = [...(await changesIn(local, problems, parts)), ...removedFrom(local, parts)];
  if (changes.length === 0) return [];
  const rows = changes.map(({ row }): FileChange => ({ ...row, base: baseOf(known.get(row.path)) }));
  const { version, changedAt, conflicts } = await files.commit(place, rows, {
    entries: maxWorkspaceEntries,
    bytes: maxWorkspaceBytes,
  });
  // Otherwise, others have changed something in between.
  if (version === known.version + 1) known.version = version;
  const isConflict = new Set(conflicts);
  for (const [index, { row, mark }] of changes.entries()) {
    if (index % entriesAtOnce === 0) await eventLoopTurn();
    if (isConflict.has(row.path)) continue;
    if (mark === undefined) known.delete(row.path);
    else note({ ...row, changedAt: changedAt.get(row.path) ?? row.changedAt }, mark, parts);
  }
  return conflicts;
}

/** Gives the file of this replica another name. Returns what to tell about it. */
async function putAside(path: string, parts: WorkspaceParts): Promise<string> {
  const { folder, log } = parts;
  const look = folder.look(path);
  const both = `./workspace/${shown(path)} was changed by another program at the same time`;
  if (look?.kind !== "file") return `${both}: it was not removed`;
  const [, start = "", end = ""] = /^(.*?)(\.[^./]*)?$/s.exec(path) ?? [];
  const mark = `conflict-${crypto.randomUUID().slice(0, 8)}`;
  const name = [`${start}.${mark}${end}`, `${mark}${end}`, mark].find((each) => pathProblem(each) === undefined)!;
  const { changedAt } = look;
  const isRight = () => folder.look(path)?.mark === look.mark;
  const isThere = await folder.write(name, folder.read(path, filePartBytes, maxFileBytes), { isRight, changedAt });
  // A program that still writes it has it aside the next time.
  if (!isThere) return `${both}, and is being written here`;
  folder.remove(path);
  const text = `${both}: what this one has written is in ./workspace/${shown(name)}`;
  log.warn(text);
  return text;
}

/** Everything that is in the folder. Throws FILE_NOT_WRITABLE if it is too much to be shared. */
async function looksOf({ folder }: WorkspaceParts): Promise<Map<string, Look>> {
  const looks = new Map<string, Look>();
  let bytes = 0;
  for (const { path, look } of folder.entries()) {
    looks.set(path, look);
    bytes += look.size;
    if (looks.size > maxWorkspaceEntries || bytes > maxWorkspaceBytes) throw tooLarge();
    if (looks.size % entriesAtOnce === 0) await eventLoopTurn();
  }
  return looks;
}

function tooLarge(): ClaudikinsError {
  return new ClaudikinsError(
    "FILE_NOT_WRITABLE",
    `Replicas share a workspace with at most ${megabytes(maxWorkspaceBytes)} and ${maxWorkspaceEntries} files and folders`,
    { hint: "Remove files that you no longer need with fs.rm." },
  );
}

/** Uploads the contents of files that were changed. */
async function changesIn(
  local: ReadonlyMap<string, Look>,
  problems: string[],
  parts: WorkspaceParts,
): Promise<Change[]> {
  const { known } = parts;
  const changes: Change[] = [];
  const upload = new Upload(parts);
  for (const [path, look] of local) {
    const { mark, kind, changedAt } = look;
    if (known.get(path)?.mark === mark) continue;
    const problem = look.size > maxFileBytes ? `files have at most ${megabytes(maxFileBytes)}` : pathProblem(path);
    if (problem !== undefined) {
      const text = `./workspace/${shown(path)} is on this replica alone: ${problem}`;
      if (parts.tell(text)) problems.push(text);
      continue;
    }
    const row = { path, kind, size: 0, sha256: null, content: null, changedAt: Math.ceil(changedAt) };
    const stored = kind === "folder" ? row : await contentStored(row, look, upload, parts);
    if (stored) changes.push({ row: stored, mark });
  }
  await upload.end();
  return changes;
}

/** The entries that were removed from the folder. */
function removedFrom(local: ReadonlyMap<string, Look>, { known }: WorkspaceParts): Change[] {
  const removed = { kind: "removed", size: 0, sha256: null, content: null, changedAt: Date.now() } as const;
  return [...known.keys()]
    .filter((path) => !local.has(path))
    .map((path) => ({ row: { path, ...removed }, mark: undefined }));
}

/** Undefined if the file has what the database has, is gone, or cannot be read. */
async function contentStored(
  row: FileRow,
  look: Look,
  upload: Upload,
  parts: WorkspaceParts,
): Promise<FileRow | undefined> {
  const { files, folder, known } = parts;
  const before = known.get(row.path);
  try {
    if (before?.row.kind === "file" && before.row.size === look.size) {
      if (folder.sha256(row.path, maxFileBytes) === before.row.sha256) {
        if (folder.look(row.path)?.mark === look.mark) note({ ...before.row }, look.mark, parts);
        return undefined;
      }
    }
    const content = files.newContent();
    const { sha256, size } = await readAll(row.path, parts, (part, bytes) => upload.add({ content, part, bytes }));
    return { ...row, size, sha256, content: size === 0 ? null : content };
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined || error instanceof ClaudikinsError) throw error;
    if (code !== "ENOENT") parts.tell(`./workspace/${shown(row.path)} cannot be read: ${code}`);
    return undefined;
  }
}

async function readAll(
  path: string,
  { folder }: WorkspaceParts,
  take: (part: number, bytes: Uint8Array) => Promise<void>,
): Promise<{ sha256: string; size: number }> {
  const hash = new Bun.CryptoHasher("sha256");
  let size = 0;
  let part = 0;
  for (const bytes of folder.read(path, filePartBytes, maxFileBytes)) {
    hash.update(bytes);
    size += bytes.length;
    await take(part, bytes);
    part += 1;
  }
  return { sha256: hash.digest("hex"), size };
}

/** Notes that the database has a file as it is here. The database sets its time, which is later than all earlier ones. */
function note(row: FileRow, mark: string, { folder, known }: WorkspaceParts): void {
  known.set(row.path, { mark, row });
  const look = folder.look(row.path);
  if (row.kind !== "file" || look?.mark !== mark || look.changedAt + roundedMs > row.changedAt) return;
  folder.setChangedAt(row.path, row.changedAt);
  const after = folder.look(row.path);
  if (after?.size === look.size) known.set(row.path, { mark: after.mark, row });
}

/** Sends parts of several files together. */
class Upload {
  readonly #parts: WorkspaceParts;
  #waiting: StoredPart[] = [];
  #bytes = 0;

  constructor(parts: WorkspaceParts) {
    this.#parts = parts;
  }

  async add(part: StoredPart): Promise<void> {
    const isFull = this.#bytes + part.bytes.length > filePartBytes || this.#waiting.length === entriesAtOnce;
    if (isFull) await this.end();
    this.#waiting.push(part);
    this.#bytes += part.bytes.length;
  }

  async end(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    if (waiting.length > 0) await this.#parts.files.addParts(waiting);
  }
}

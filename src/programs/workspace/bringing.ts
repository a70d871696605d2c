/** Brings what others have changed in a shared workspace into the folder of this process. */
import { ClaudikinsError, systemCodeOf } from "../../base/errors.ts";
import { eventLoopTurn } from "../../base/event-loop.ts";
import { megabytes } from "../../base/units.ts";
import { FileRefusal, shown } from "../../sandbox/host/filesystem/fault.ts";
import { type Look, pathProblem } from "../../sandbox/host/workspace-folder.ts";
import { maxFileBytes } from "../../sandbox/limits.ts";
import type { FileChanges, FileRow } from "../../store/files.ts";
import { filePartBytes } from "../../store/limits.ts";
import { entriesAtOnce } from "../limits.ts";
import { baseOf } from "./known-files.ts";
import type { WorkspaceParts } from "./parts.ts";

/** Attempts to read the files of a workspace while others replace them. */
const maxBringingAttempts = 5;

/** Throws DATABASE_UNAVAILABLE, BUCKET_UNAVAILABLE, and FILE_NOT_WRITABLE if a file cannot be written. */
export async function bring(parts: WorkspaceParts): Promise<void> {
  const { known, log, folder } = parts;
  // Nobody removes the files of all replicas by removing the folder of one.
  if (!folder.exists) known.reset();
  for (let attempt = 1; ; attempt++) {
    const changes = await changesOf(parts);
    if (changes.clearedAt !== null && changes.clearedAt > known.clearedAt) removeCleared(changes, parts);
    const missing = await apply(changes.rows, parts);
    if (missing.length > 0 && attempt < maxBringingAttempts) continue;
    for (const { path } of missing) log.warn(`The content of ./workspace/${shown(path)} is not stored any more`);
    known.version = changes.version;
    known.isComplete = true;
    return;
  }
}

/** A database that was restored from an older copy is compared as a whole. */
async function changesOf({ files, place, known }: WorkspaceParts): Promise<FileChanges> {
  const changes = await files.changes(place.id, known.version);
  if (changes.version >= known.version) return changes;
  known.reset();
  return files.changes(place.id, 0);
}

/** Removes what was here before everything was removed. */
function removeCleared({ clearedAt, rows }: FileChanges, { folder, known }: WorkspaceParts): void {
  const after = new Set(rows.map(({ path }) => path));
  const old = [...folder.entries()].filter(({ path, look }) => !after.has(path) && look.changedAt <= clearedAt!);
  for (const { path } of old.reverse()) removeIfPossible(path, folder);
  for (const path of known.keys()) if (!after.has(path)) known.delete(path);
  known.clearedAt = clearedAt!;
}

/** Returns the files whose contents were replaced meanwhile. */
async function apply(rows: readonly FileRow[], parts: WorkspaceParts): Promise<FileRow[]> {
  const { folder, known } = parts;
  const wanted: FileRow[] = [];
  const due: FileRow[] = [];
  for (const [index, row] of rows.entries()) {
    if (isDue(row, parts)) due.push(row);
    if (index % entriesAtOnce === 0) await eventLoopTurn();
  }
  // The contents of a folder are removed before the folder.
  for (const row of due.filter(({ kind }) => kind === "removed").reverse()) {
    // A program may have changed it in the meantime.
    if (!known.isOwn(folder.look(row.path), row)) removeIfPossible(row.path, folder);
    known.delete(row.path);
  }
  for (const row of due) {
    if (row.kind === "file") wanted.push(row);
    if (row.kind === "folder") await makeFolder(row, parts);
  }
  const missing: FileRow[] = [];
  for (const group of groupsOf(wanted)) missing.push(...(await download(group, parts)));
  return missing;
}

/** Whether the row says something new, which may be done here. */
function isDue(row: FileRow, parts: WorkspaceParts): boolean {
  const { folder, known } = parts;
  const problem = row.size > maxFileBytes ? `files have at most ${megabytes(maxFileBytes)}` : pathProblem(row.path);
  if (problem !== undefined) {
    parts.tell(`./workspace/${shown(row.path)} of the database is left out: ${problem}`);
    return false;
  }
  const look = folder.look(row.path);
  if (known.isSame(look, row)) {
    known.set(row.path, { mark: look!.mark, row });
    return false;
  }
  if (!known.isOwn(look, row)) return true;
  // Replicas may mount one volume: then the change is here already.
  if (look !== undefined && hasContentOf(row, look, parts)) {
    known.set(row.path, { mark: look.mark, row });
    return false;
  }
  // It is compared with the row when it is stored.
  const before = known.get(row.path);
  if (row.kind === "removed") known.delete(row.path);
  // What an earlier program has left was made of this row, as far as anybody knows.
  else if (!before && !known.isComplete) known.set(row.path, { mark: "", row });
  else known.set(row.path, { mark: before?.mark ?? "", row, base: baseOf(before) });
  return false;
}

function hasContentOf({ path, kind, size, sha256 }: FileRow, look: Look, { folder }: WorkspaceParts): boolean {
  if (kind !== "file" || look.kind !== "file" || look.size !== size) return false;
  try {
    return folder.sha256(path, maxFileBytes) === sha256 && folder.look(path)?.mark === look.mark;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return false;
  }
}

async function makeFolder(row: FileRow, parts: WorkspaceParts): Promise<void> {
  const { folder, known } = parts;
  if (folder.look(row.path)?.kind === "file") removeIfPossible(row.path, folder);
  await written(row, parts, () => folder.makeFolder(row.path));
  const look = folder.look(row.path);
  if (look?.kind === "folder") known.set(row.path, { mark: look.mark, row });
}

/** Small files together, up to the size of a part and to as many as are looked at together, and large ones alone. */
function groupsOf(rows: readonly FileRow[]): FileRow[][] {
  const groups: FileRow[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    if (bytes + row.size > filePartBytes || groups.at(-1)?.length === entriesAtOnce) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)!.push(row);
    bytes += row.size;
  }
  return groups;
}

/** Returns those whose contents were replaced meanwhile. */
async function download(rows: readonly FileRow[], parts: WorkspaceParts): Promise<FileRow[]> {
  const first = rows.flatMap(({ content }) => (content === null ? [] : { content, part: 0 }));
  const found = new Map((await parts.files.parts(first)).map(({ content, bytes }) => [content, bytes]));
  const missing: FileRow[] = [];
  for (const row of rows) {
    const isThere = await writeFile(row, contentOf(row, found.get(row.content ?? ""), parts), parts);
    if (!isThere) missing.push(row);
  }
  return missing;
}

/** The parts of a file, as far as they are stored. */
async function* contentOf(
  { content, size }: FileRow,
  first: Uint8Array | undefined,
  { files }: WorkspaceParts,
): AsyncGenerator<Uint8Array> {
  if (content === null || !first) return;
  yield first;
  for (let part = 1; part * filePartBytes < size; part++) {
    const [next] = await files.parts([{ content, part }]);
    if (!next) return;
    yield next.bytes;
  }
}

/** Returns false if the row has another content. A file that a program has changed meanwhile is left as it is. */
async function writeFile(row: FileRow, content: AsyncIterable<Uint8Array>, parts: WorkspaceParts): Promise<boolean> {
  const { folder, known } = parts;
  const { path, changedAt, sha256 } = row;
  const before = folder.look(path);
  if (before?.kind === "folder") removeIfPossible(path, folder);
  const hash = new Bun.CryptoHasher("sha256");
  let isThere = true;
  const isRight = () => {
    isThere = hash.digest("hex") === sha256;
    return isThere && (before?.kind === "folder" || folder.look(path)?.mark === before?.mark);
  };
  const isWritten = await written(row, parts, () => folder.write(path, hashed(content, hash), { isRight, changedAt }));
  const look = isWritten === true ? folder.look(path) : undefined;
  if (look) known.set(path, { mark: look.mark, row });
  return isThere;
}

async function* hashed(content: AsyncIterable<Uint8Array>, hash: Bun.CryptoHasher): AsyncGenerator<Uint8Array> {
  for await (const part of content) {
    hash.update(part);
    yield part;
  }
}

/** Returns undefined if something else is at that place, which stays. Throws FILE_NOT_WRITABLE if the system cannot write. */
async function written<T>(
  { path }: FileRow,
  parts: WorkspaceParts,
  write: () => T | Promise<T>,
): Promise<T | undefined> {
  try {
    return await write();
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined || error instanceof ClaudikinsError) throw error;
    if (error instanceof FileRefusal || inTheWay.has(code)) {
      parts.tell(`./workspace/${shown(path)} of another replica cannot be written here: ${code}`);
      return undefined;
    }
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot bring ./workspace/${shown(path)} here: ${code}`, {
      hint: "Look whether the disk of the workspace has room, and whether claudikins may write there.",
      cause: error,
    });
  }
}

/** Codes of entries of another kind, and of links. */
const inTheWay = new Set(["EACCES", "EEXIST", "EISDIR", "ENOTDIR"]);

/** A folder that still has contents stays, and so does what is neither a file nor a folder. */
function removeIfPossible(path: string, folder: WorkspaceParts["folder"]): void {
  try {
    if (folder.look(path)) folder.remove(path);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
  }
}

/**
 * The files of shared workspaces, as rows. Their contents are in parts, to which the row of a file refers once all of them are stored. The parts
 * are in the database, or in the bucket of the team.
 */
import { ClaudikinsError } from "../../base/errors.ts";
import { dayMs, megabyte } from "../../base/units.ts";
import type { FileChange, FileRoom, FileRow, FileRows, PartPlace, StoredPart } from "../files.ts";
import { filePartBytes } from "../limits.ts";
import { all, first, run, type Work } from "../work.ts";
import type { Connections } from "./connections.ts";
import { isInBucket, keepObjects, leaveObjects, type Objects, unfinishedContentMs } from "./objects.ts";

/** Time that a removed file is remembered. A replica that was away for longer brings it back. */
const removedFilesKeptMs = 30 * dayMs;

/** The row of a workspace, beside one of its files. Without a file, the columns of files are null. */
type ChangedRow = Omit<FileRow, "path"> & { path: string | null; version: number; clearedAt: number | null };

export function fileRows(connections: Connections, objects: Objects): FileRows {
  return {
    async changes(id, since) {
      const found = await connections.read(() =>
        all<ChangedRow>(
          `SELECT workspaces.version, cleared_at, path, kind, size, sha256, content, changed_at
           FROM claudikins.workspaces LEFT JOIN claudikins.files ON workspace = id AND files.version > $since
           WHERE id = $id ORDER BY path`,
          { id, since },
        ),
      );
      const [workspace] = found;
      const rows = found.flatMap(({ version: _, clearedAt: __, path, ...row }) =>
        path === null ? [] : { ...row, path },
      );
      return { version: workspace?.version ?? 0, clearedAt: workspace?.clearedAt ?? null, rows };
    },

    newContent: () => objects.newContent(),

    async parts(wanted) {
      const { here, there } = byPlace(wanted);
      const stored = here.length === 0 ? [] : await connections.read(() => partsHere(here));
      return [...stored, ...(await objects.parts(there))];
    },

    async addParts(parts) {
      const { here, there } = byPlace(parts);
      if (here.length > 0) await connections.read(() => addPartsHere(here));
      if (there.length > 0) await objects.addParts(there);
    },

    async commit({ id, config, person }, rows, room) {
      const { left, ...committed } = await connections.write(function* () {
        // Others who change the workspace wait for the end, so that versions become visible in their order.
        const next = yield* first<{ version: number }>(
          `INSERT INTO claudikins.workspaces (id, config, person, version) VALUES ($id, $config, $person, 1)
           ON CONFLICT (id) DO UPDATE SET version = workspaces.version + 1 RETURNING version`,
          { id, config, person },
        );
        const { version } = next!;
        const found = yield* all<FileRow>(
          `SELECT path, kind, sha256, content, changed_at FROM claudikins.files WHERE workspace = $id
           AND path IN (SELECT value FROM texts($paths))`,
          { id, paths: rows.map(({ path }) => path) },
        );
        const before = new Map(found.map((row) => [row.path, row]));
        const own = rows.filter((row) => !isConflict(row, before.get(row.path)));
        const stored = yield* upsert({ id, version, rows: own });
        yield* requireRoom(id, room);
        yield* keepObjects(own.flatMap(objectsOf));
        const left = yield* deleteParts(own.flatMap(({ path }) => before.get(path)?.content ?? []));
        const conflicts = rows.filter((row) => !own.includes(row)).map(({ path }) => path);
        const changedAt = new Map(stored.map((row) => [row.path, row.changedAt]));
        return { version, changedAt, conflicts, left };
      });
      objects.removeSoon(left);
      return committed;
    },

    async clear({ config, person }, now) {
      const { count, left } = await connections.write(function* () {
        const workspaces = yield* all<{ id: string }>(
          `UPDATE claudikins.workspaces SET version = version + 1, cleared_at = $now
           WHERE config = $config AND person = $person RETURNING id`,
          { config, person, now },
        );
        const files = yield* all<{ content: string | null; kind: string }>(
          "DELETE FROM claudikins.files WHERE workspace IN (SELECT value FROM texts($ids)) RETURNING content, kind",
          { ids: workspaces.map(({ id }) => id) },
        );
        const left = yield* deleteParts(files.flatMap(({ content }) => content ?? []));
        return { count: files.filter(({ kind }) => kind === "file").length, left };
      });
      await objects.remove(left);
      return count;
    },

    cleared(config) {
      return connections.read(() =>
        all(
          `SELECT person, max(cleared_at) AS cleared_at FROM claudikins.workspaces
           WHERE config = $config AND person IS NOT NULL AND cleared_at IS NOT NULL GROUP BY person`,
          { config },
        ),
      );
    },

    async tidy(now) {
      const before = now - removedFilesKeptMs;
      await connections.write(function* () {
        yield* run("DELETE FROM claudikins.files WHERE kind = 'removed' AND changed_at < $before", { before });
        yield* run(
          `DELETE FROM claudikins.workspaces WHERE cleared_at < $before
           AND NOT EXISTS (SELECT 1 FROM claudikins.files WHERE workspace = id)`,
          { before },
        );
        yield* run(
          `DELETE FROM claudikins.file_parts WHERE added_at < now() - $unfinishedMs * interval '1 millisecond'
           AND NOT EXISTS (SELECT 1 FROM claudikins.files WHERE files.content = file_parts.content)`,
          { unfinishedMs: unfinishedContentMs },
        );
      });
      await objects.tidy();
    },
  };
}

/** Whether somebody else has changed a file since, to something else. */
function isConflict({ kind, sha256, base }: FileChange, row: FileRow | undefined): boolean {
  if (kind === "folder" || row?.kind !== "file" || row.changedAt === base) return false;
  return kind === "removed" || sha256 !== row.sha256;
}

function upsert({
  id,
  version,
  rows,
}: {
  id: string;
  version: number;
  rows: readonly FileRow[];
}): Work<Pick<FileRow, "path" | "changedAt">[]> {
  return all(
    `INSERT INTO claudikins.files (workspace, path, version, kind, size, sha256, content, changed_at)
     SELECT $id, value->>'path', $version, value->>'kind', (value->>'size')::double precision, value->>'sha256', value->>'content',
       (value->>'changedAt')::double precision
     FROM each($rows)
     ON CONFLICT (workspace, path) DO UPDATE SET version = excluded.version, kind = excluded.kind, size = excluded.size,
       sha256 = excluded.sha256, content = excluded.content, changed_at = greatest(excluded.changed_at, files.changed_at + 10)
     RETURNING path, changed_at`,
    { id, version, rows },
  );
}

/** Throws FILE_NOT_WRITABLE, which takes everything back. */
function* requireRoom(id: string, room: FileRoom): Work<void> {
  const used = yield* first<FileRoom>(
    `SELECT count(*)::double precision AS entries, coalesce(sum(size), 0) AS bytes FROM claudikins.files
     WHERE workspace = $id AND kind <> 'removed'`,
    { id },
  );
  if (used && (used.entries > room.entries || used.bytes > room.bytes)) throw workspaceIsFull(room);
}

function workspaceIsFull({ entries, bytes }: FileRoom): ClaudikinsError {
  return new ClaudikinsError(
    "FILE_NOT_WRITABLE",
    `A shared workspace holds at most ${Math.floor(bytes / megabyte)} MB and ${entries} files and folders`,
    { hint: "Remove files that you no longer need with fs.rm." },
  );
}

/** Returns the objects to remove. */
function* deleteParts(contents: readonly string[]): Work<string[]> {
  if (contents.length === 0) return [];
  yield* run("DELETE FROM claudikins.file_parts WHERE content IN (SELECT value FROM texts($contents))", {
    contents,
  });
  return yield* leaveObjects(contents.filter(isInBucket));
}

/** Those in the database, and those in the bucket. */
function byPlace<Part extends PartPlace>(parts: readonly Part[]): { here: Part[]; there: Part[] } {
  const { here = [], there = [] } = Object.groupBy(parts, ({ content }) => (isInBucket(content) ? "there" : "here"));
  return { here, there };
}

function partsHere(wanted: readonly PartPlace[]): Work<StoredPart[]> {
  return all(
    `SELECT file_parts.content, file_parts.part, bytes FROM each($wanted)
     JOIN claudikins.file_parts ON file_parts.content = value->>'content' AND file_parts.part = (value->>'part')::int`,
    { wanted: wanted.map(({ content, part }) => ({ content, part })) },
  );
}

/** One statement for all: their bytes are one after the other. */
function addPartsHere(parts: readonly StoredPart[]): Work<number> {
  let at = 1;
  const places = parts.map(({ content, part, bytes }) => {
    at += bytes.length;
    return [content, part, at - bytes.length, bytes.length];
  });
  return run(
    `INSERT INTO claudikins.file_parts (content, part, bytes)
     SELECT value->>0, (value->>1)::int, substring($bytes::bytea FROM (value->>2)::int FOR (value->>3)::int)
     FROM each($places)
     ON CONFLICT (content, part) DO UPDATE SET bytes = excluded.bytes`,
    { bytes: Buffer.concat(parts.map(({ bytes }) => bytes)), places },
  );
}

/** The content of a row in the bucket, and how many objects it has. */
function objectsOf({ content, size }: FileRow): { content: string; objects: number }[] {
  if (content === null || !isInBucket(content)) return [];
  return [{ content, objects: Math.ceil(size / filePartBytes) }];
}

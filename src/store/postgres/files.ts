/** The files of shared workspaces, as rows. Their contents are in parts, to which the row of a file refers once all of them are stored. */
import { ClaudikinsError } from "../../base/errors.ts";
import { dayMs, hourMs, megabyte } from "../../base/units.ts";
import type { FileChanges, FileRoom, FileRow, FileRows, PartPlace, SharedPlace } from "../files.ts";
import type { Connections } from "./connections.ts";
import type { Querying } from "./querying.ts";

/** Time that a removed file is remembered. A replica that was away for longer brings it back. */
const removedFilesKeptMs = 30 * dayMs;

/** Time after which parts to which no file refers count as left by a process that has died. */
const unfinishedPartsMs = hourMs;

/** The row of a workspace, beside one of its files. Without a file, the columns of files are null. */
type ChangedRow = Omit<FileRow, "path"> & { path: string | null; version: number; clearedAt: number | null };

export class PostgresFiles implements FileRows {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async changes(id: string, since: number): Promise<FileChanges> {
    const found = await this.#connections.each((querying) =>
      querying.all<ChangedRow>(
        `SELECT workspaces.version, cleared_at, path, kind, size, sha256, content, changed_at
         FROM claudikins.workspaces LEFT JOIN claudikins.files ON workspace = id AND files.version > $since
         WHERE id = $id ORDER BY path`,
        { id, since },
      ),
    );
    const [first] = found;
    const rows = found.flatMap(({ version: _, clearedAt: __, path, ...row }) =>
      path === null ? [] : { ...row, path },
    );
    return { version: first?.version ?? 0, clearedAt: first?.clearedAt ?? null, rows };
  }

  parts(wanted: readonly PartPlace[]): Promise<(PartPlace & { bytes: Uint8Array })[]> {
    return this.#connections.each((querying) =>
      querying.all(
        `SELECT file_parts.content, file_parts.part, bytes FROM each($wanted)
         JOIN claudikins.file_parts ON file_parts.content = value->>'content' AND file_parts.part = (value->>'part')::int`,
        { wanted: wanted.map(({ content, part }) => ({ content, part })) },
      ),
    );
  }

  /** One statement for all: their bytes are one after the other. */
  async addParts(parts: readonly (PartPlace & { bytes: Uint8Array })[]): Promise<void> {
    let at = 1;
    const places = parts.map(({ content, part, bytes }) => {
      at += bytes.length;
      return [content, part, at - bytes.length, bytes.length];
    });
    await this.#connections.each((querying) =>
      querying.run(
        `INSERT INTO claudikins.file_parts (content, part, bytes)
         SELECT value->>0, (value->>1)::int, substring($bytes::bytea FROM (value->>2)::int FOR (value->>3)::int)
         FROM each($places)
         ON CONFLICT (content, part) DO UPDATE SET bytes = excluded.bytes`,
        { bytes: Buffer.concat(parts.map(({ bytes }) => bytes)), places },
      ),
    );
  }

  commit(
    { id, config, person }: SharedPlace,
    rows: readonly FileRow[],
    room: FileRoom,
  ): Promise<{ version: number; changedAt: ReadonlyMap<string, number> }> {
    return this.#connections.transaction(async (querying) => {
      // Others who change the workspace wait for the end, so that versions become visible in their order.
      const next = await querying.get<{ version: number }>(
        `INSERT INTO claudikins.workspaces (id, config, person, version) VALUES ($id, $config, $person, 1)
         ON CONFLICT (id) DO UPDATE SET version = workspaces.version + 1 RETURNING version`,
        { id, config, person },
      );
      const { version } = next!;
      const replaced = await querying.all<{ content: string }>(
        `SELECT content FROM claudikins.files WHERE workspace = $id AND content IS NOT NULL
         AND path IN (SELECT value FROM texts($paths))`,
        { id, paths: rows.map(({ path }) => path) },
      );
      const stored = await upsert(querying, { id, version, rows });
      await requireRoom(querying, id, room);
      await deleteParts(
        querying,
        replaced.map(({ content }) => content),
      );
      return { version, changedAt: new Map(stored.map(({ path, changedAt }) => [path, changedAt])) };
    });
  }

  clear({ config, person }: { config: string; person: string }, now: number): Promise<number> {
    return this.#connections.transaction(async (querying) => {
      const workspaces = await querying.all<{ id: string }>(
        `UPDATE claudikins.workspaces SET version = version + 1, cleared_at = $now
         WHERE config = $config AND person = $person RETURNING id`,
        { config, person, now },
      );
      const files = await querying.all<{ content: string | null; kind: string }>(
        "DELETE FROM claudikins.files WHERE workspace IN (SELECT value FROM texts($ids)) RETURNING content, kind",
        { ids: workspaces.map(({ id }) => id) },
      );
      await deleteParts(
        querying,
        files.flatMap(({ content }) => content ?? []),
      );
      return files.filter(({ kind }) => kind === "file").length;
    });
  }

  cleared(config: string): Promise<{ person: string; clearedAt: number }[]> {
    return this.#connections.each((querying) =>
      querying.all(
        `SELECT person, max(cleared_at) AS cleared_at FROM claudikins.workspaces
         WHERE config = $config AND person IS NOT NULL AND cleared_at IS NOT NULL GROUP BY person`,
        { config },
      ),
    );
  }

  async tidy(now: number): Promise<void> {
    const before = now - removedFilesKeptMs;
    await this.#connections.transaction(async (querying) => {
      await querying.run("DELETE FROM claudikins.files WHERE kind = 'removed' AND changed_at < $before", { before });
      await querying.run(
        `DELETE FROM claudikins.workspaces WHERE cleared_at < $before
         AND NOT EXISTS (SELECT 1 FROM claudikins.files WHERE workspace = id)`,
        { before },
      );
      await querying.run(
        `DELETE FROM claudikins.file_parts WHERE added_at < now() - $unfinishedMs * interval '1 millisecond'
         AND NOT EXISTS (SELECT 1 FROM claudikins.files WHERE files.content = file_parts.content)`,
        { unfinishedMs: unfinishedPartsMs },
      );
    });
  }
}

function upsert(
  querying: Querying,
  { id, version, rows }: { id: string; version: number; rows: readonly FileRow[] },
): Promise<Pick<FileRow, "path" | "changedAt">[]> {
  return querying.all(
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
async function requireRoom(querying: Querying, id: string, room: FileRoom): Promise<void> {
  const used = await querying.get<FileRoom>(
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

async function deleteParts(querying: Querying, contents: readonly string[]): Promise<void> {
  if (contents.length === 0) return;
  await querying.run("DELETE FROM claudikins.file_parts WHERE content IN (SELECT value FROM texts($contents))", {
    contents,
  });
}

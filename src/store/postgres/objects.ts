/**
 * The contents that are in the bucket of the team instead of the database. The database stays the truth: it names every object before the object is written,
 * and refers to it afterwards. So it knows the objects that a process has left when it died, and one that is removed is never referred to
 * again. Without a bucket, everything is stored in the database, and what an earlier process has put into the bucket cannot be read.
 */
import { ClaudikinsError } from "../../base/errors.ts";
import { sha256 } from "../../base/sha256.ts";
import { hourMs, kilobyte } from "../../base/units.ts";
import type { PartPlace, StoredPart } from "../files.ts";
import type { Batch } from "../jobs.ts";
import { all, type Database, first, run, type Work } from "../work.ts";
import { type Bucket, bucketIsMissing } from "./bucket.ts";

/** Time after which contents to which nothing refers count as left by a process that has died. */
export const unfinishedContentMs = hourMs;

/** Smaller batches of pages stay in the database: programs wait for each of them to be stored. */
const minImageBytes = 64 * kilobyte;

/** Objects that are removed together. */
const objectsRemovedAtOnce = 500;

/** Tables that a database gets when a process opens it that knows them. */
export const objectTables = {
  objects: `
-- The objects in the bucket, by their names without the prefix. \`content\` is what a row refers to: the content of a file or a part of an
-- image. Those that are left are being removed.
CREATE TABLE claudikins.objects (
  name ID PRIMARY KEY,
  content ID NOT NULL,
  is_left FLAG NOT NULL DEFAULT FALSE,
  added_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
CREATE INDEX objects_by_content ON claudikins.objects (content);
CREATE INDEX left_objects ON claudikins.objects (name) WHERE is_left;
`,
  object_pages: `
-- The pages of images whose bytes are in the bucket: from \`begins\` on in the object.
CREATE TABLE claudikins.object_pages (
  execution ID NOT NULL,
  page INTEGER NOT NULL,
  version INTEGER NOT NULL,
  object ID NOT NULL,
  begins INTEGER NOT NULL,
  size INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (execution, page, version)
);
CREATE INDEX object_pages_by_object ON claudikins.object_pages (object);
`,
} as const;

/** The beginning of the names of contents in the bucket. Names of contents in the database are UUIDs. */
const files = "files/";

/** Whether a content of a file is in the bucket. */
export function isInBucket(content: string): boolean {
  return /^files\/[0-9a-f-]{36}$/.test(content);
}

/** A page of an image that is in the bucket. */
export interface ObjectPage {
  page: number;
  object: string;
  begins: number;
  size: number;
  /** Of its bytes, in hexadecimal. */
  sha256: string;
}

interface NewObject {
  name: string;
  content: string;
  bytes: Uint8Array;
}

export class Objects {
  readonly #database: Database;
  readonly #bucket: Bucket | undefined;
  readonly #removing = new Set<Promise<void>>();
  /** The last problem that was told. */
  #told = "";

  constructor(database: Database, bucket: Bucket | undefined) {
    this.#database = database;
    this.#bucket = bucket;
  }

  /** Whether this process has the bucket. */
  get areHere(): boolean {
    return this.#bucket !== undefined;
  }

  /** A name for a content of a file that is about to be stored. */
  newContent(): string {
    return `${this.#bucket ? files : ""}${crypto.randomUUID()}`;
  }

  /** Stores parts of contents to which nothing refers yet. Throws BUCKET_UNAVAILABLE. */
  addParts(parts: readonly StoredPart[]): Promise<void> {
    return this.#add(parts.map((part) => ({ name: nameOfPart(part), content: part.content, bytes: part.bytes })));
  }

  /** Reads parts. Those that were removed are missing. Throws BUCKET_UNAVAILABLE. */
  async parts(wanted: readonly PartPlace[]): Promise<StoredPart[]> {
    const read = wanted.map(async ({ content, part }) => {
      const bytes = await this.#here.get(nameOfPart({ content, part }));
      return bytes ? [{ content, part, bytes }] : [];
    });
    return (await Promise.all(read)).flat();
  }

  /**
   * Stores pages of an image as one object, whose name is returned. Undefined if they belong into the database: they are few, there is no
   * bucket, or it cannot be used now. A program must not be lost because of that: `warn` is told why, once.
   */
  async addImage(bytes: Uint8Array, warn: (text: string) => void): Promise<string | undefined> {
    if (!this.#bucket || this.#bucket.isAway || bytes.length < minImageBytes) return undefined;
    const name = `images/${crypto.randomUUID()}`;
    try {
      await this.#add([{ name, content: name, bytes }]);
      this.#told = "";
      return name;
    } catch (error) {
      if (!(error instanceof ClaudikinsError) || error.code !== "BUCKET_UNAVAILABLE") throw error;
      if (error.message !== this.#told) warn(`Programs are saved in the database: ${error.message}`);
      this.#told = error.message;
      return undefined;
    }
  }

  /** Reads pages of an image. Throws BUCKET_UNAVAILABLE, and another error if some are missing or are not what was stored. */
  pages(wanted: readonly ObjectPage[]): Promise<Batch[]> {
    const byObject = Map.groupBy(wanted, ({ object }) => object);
    return Promise.all([...byObject].map(([object, pages]) => this.#batch(object, pages)));
  }

  /** Removes objects that were left. What cannot be removed now is removed by `tidy`. Never throws. */
  async remove(names: readonly string[]): Promise<void> {
    if (!this.#bucket?.isAway) await this.#removed(names).catch(() => {});
  }

  /** The same, while the caller does something else. */
  removeSoon(names: readonly string[]): void {
    const removing = this.remove(names).finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
  }

  /** Resolves when nothing is being removed. */
  async settled(): Promise<void> {
    await Promise.all(this.#removing);
  }

  /** Removes everything to which nothing refers any more. Throws BUCKET_UNAVAILABLE. */
  async tidy(): Promise<void> {
    if (!this.#bucket) return;
    await this.#database.write(() =>
      run(
        `UPDATE claudikins.objects SET is_left = TRUE
         WHERE NOT is_left AND added_at < now() - $unfinishedMs * interval '1 millisecond'
         AND NOT EXISTS (SELECT 1 FROM claudikins.files WHERE files.content = objects.content)
         AND NOT EXISTS (SELECT 1 FROM claudikins.object_pages WHERE object = objects.content)`,
        { unfinishedMs: unfinishedContentMs },
      ),
    );
    for (;;) {
      const left = await this.#database.read(() =>
        all<{ name: string }>("SELECT name FROM claudikins.objects WHERE is_left ORDER BY name LIMIT $count", {
          count: objectsRemovedAtOnce,
        }),
      );
      await this.#removed(left.map(({ name }) => name));
      if (left.length < objectsRemovedAtOnce) return;
    }
  }

  get #here(): Bucket {
    if (!this.#bucket) throw bucketIsMissing();
    return this.#bucket;
  }

  async #add(objects: readonly NewObject[]): Promise<void> {
    const bucket = this.#here;
    const names = objects.map(({ name, content }) => [name, content]);
    await this.#database.read(() =>
      run(
        `INSERT INTO claudikins.objects (name, content) SELECT value->>0, value->>1 FROM each($names)
         ON CONFLICT (name) DO UPDATE SET added_at = excluded.added_at`,
        { names },
      ),
    );
    await Promise.all(objects.map(({ name, bytes }) => bucket.put(name, bytes)));
  }

  async #batch(object: string, wanted: readonly ObjectPage[]): Promise<Batch> {
    const pages = wanted.toSorted((one, other) => one.begins - other.begins);
    const begin = pages[0]!.begins;
    const end = pages.at(-1)!.begins + pages.at(-1)!.size;
    const read = await this.#here.get(object, { begin, end });
    const parts = pages.map(({ begins, size }) => read?.subarray(begins - begin, begins - begin + size));
    const isWhole = parts.every((part, index) => part && sha256(part) === pages[index]!.sha256);
    if (!isWhole) throw new Error("a page of the program is missing in the bucket, or is not what was stored");
    return {
      pages: Float64Array.from(pages, ({ page }) => page),
      sizes: Float64Array.from(pages, ({ size }) => size),
      bytes: Uint8Array.from(Buffer.concat(parts as Uint8Array[])).buffer,
    };
  }

  /** The row of an object goes after the object. */
  async #removed(names: readonly string[]): Promise<void> {
    const bucket = this.#bucket;
    if (!bucket || names.length === 0) return;
    await Promise.all(names.map((name) => bucket.remove(name)));
    await this.#database.read(() =>
      run("DELETE FROM claudikins.objects WHERE is_left AND name IN (SELECT value FROM texts($names))", { names }),
    );
  }
}

function nameOfPart({ content, part }: PartPlace): string {
  return `${content}/${part}`;
}

/**
 * Notes that rows refer to contents from now on, before their transaction ends. `objects` is how many each has. Throws FILE_NOT_WRITABLE if
 * some were removed, because their process seemed dead.
 */
export function* keepObjects(contents: readonly { content: string; objects: number }[]): Work<void> {
  const wanted = contents.reduce((sum, { objects }) => sum + objects, 0);
  if (wanted === 0) return;
  // A process that looks for what nobody refers to waits, and then sees that these are new.
  const kept = yield* run(
    `UPDATE claudikins.objects SET added_at = now()
     WHERE NOT is_left AND content IN (SELECT value FROM texts($contents))`,
    { contents: contents.map(({ content }) => content) },
  );
  if (kept === wanted) return;
  throw new ClaudikinsError("FILE_NOT_WRITABLE", "What was stored in the bucket was removed again before it was used", {
    hint: "Try again. This process stood still for a long time.",
  });
}

/** Notes that nothing refers to contents any more. Returns the objects to remove when the transaction has ended. */
export function* leaveObjects(contents: readonly string[]): Work<string[]> {
  if (contents.length === 0) return [];
  const left = yield* all<{ name: string }>(
    `UPDATE claudikins.objects SET is_left = TRUE WHERE content IN (SELECT value FROM texts($contents))
     AND NOT EXISTS (SELECT 1 FROM claudikins.object_pages WHERE object = objects.content)
     RETURNING name`,
    { contents },
  );
  return left.map(({ name }) => name);
}

/** Refers to the pages of an image that `addImage` has stored. */
export function* writeObjectPages(
  execution: string,
  version: number,
  { pages, sizes, bytes }: Omit<Batch, "bytes"> & { bytes: Uint8Array },
  object: string,
): Work<void> {
  yield* keepObjects([{ content: object, objects: 1 }]);
  let at = 0;
  const places = Array.from(pages, (page, index) => {
    const [begins, size] = [at, sizes[index]!];
    at += size;
    return [page, begins, size, sha256(bytes.subarray(begins, at))];
  });
  yield* run(
    `INSERT INTO claudikins.object_pages (execution, page, version, object, begins, size, sha256)
     SELECT $execution, (value->>0)::int, $version::int, $object, (value->>1)::int, (value->>2)::int, value->>3 FROM each($places)
     ON CONFLICT (execution, page, version) DO UPDATE
       SET object = excluded.object, begins = excluded.begins, size = excluded.size, sha256 = excluded.sha256`,
    { execution, version, object, places },
  );
}

/** Whether pages of an execution are in the bucket. */
export function* hasObjectPages(execution: string): Work<boolean> {
  const found = yield* first("SELECT 1 AS one FROM claudikins.object_pages WHERE execution = $execution LIMIT 1", {
    execution,
  });
  return found !== undefined;
}

/** The pages of stored programs: their images, and what they have recorded. The bytes of some are in the bucket of the team. */

import { megabyte } from "../../base/units.ts";
import { type Batch, batchOf, firstRecord, type PageRow, pageOfRecord } from "../jobs.ts";
import { all, run, type Values, type Work } from "../work.ts";
import { leaveObjects, type ObjectPage } from "./objects.ts";

/** Bytes of pages that are read in one step. */
const rowBytesReadAtOnce = megabyte;

/** One statement for all pages: their bytes are one after the other. */
export function writePages(
  execution: string,
  version: number,
  { pages, sizes, bytes }: Omit<Batch, "bytes"> & { bytes: Uint8Array },
): Work<number> {
  let at = 1;
  const places = Array.from(pages, (page, index) => {
    const size = sizes[index]!;
    at += size;
    return [page, at - size, size];
  });
  return run(
    `INSERT INTO claudikins.pages (execution, page, version, bytes)
     SELECT $execution, (value->>0)::int, $version::int, substring($bytes::bytea FROM (value->>1)::int FOR (value->>2)::int)
     FROM each($places)
     ON CONFLICT (execution, page, version) DO UPDATE SET bytes = excluded.bytes`,
    { execution, version, bytes, places },
  );
}

/**
 * Reads pages into batches, whose buffers are of limited size, and finds those in the bucket. Pages of version 0 have no bytes. Throws if one
 * is missing.
 */
export function* readPages(
  execution: string,
  { pages, versions }: { pages: Float64Array; versions: Float64Array },
): Work<{ batches: Batch[]; objectPages: ObjectPage[] }> {
  const wanted = Array.from(pages, (page, index) => [page, versions[index]!]).filter(([, version]) => version !== 0);
  const { here, objectPages } = yield* placesOf(execution, wanted);
  const batches: Batch[] = [];
  for (const part of partsOf(here)) {
    const these = `SELECT page, bytes FROM ${givenPages} JOIN claudikins.pages ON ${isGiven("pages")} ORDER BY number`;
    batches.push(batchOf(yield* all<PageRow>(these, { execution, wanted: part })));
  }
  return { batches, objectPages };
}

/** The wanted pages, in their order. */
const givenPages = "json_array_elements($wanted::text::json) WITH ORDINALITY AS given (pair, number)";

const isGiven = (table: string) =>
  `${table}.execution = $execution AND ${table}.page = (pair->>0)::int AND ${table}.version = (pair->>1)::int`;

interface Place extends Omit<ObjectPage, "object"> {
  version: number;
  /** Null if the bytes are in the database. */
  object: string | null;
}

/** Throws if a page is missing. The size of a value is known without reading it. */
function* placesOf(execution: string, wanted: readonly number[][]): Work<{ here: Place[]; objectPages: ObjectPage[] }> {
  const places = yield* all<Place>(
    `SELECT (pair->>0)::int AS page, (pair->>1)::int AS version, coalesce(length(bytes), size) AS size,
       CASE WHEN bytes IS NULL THEN object END AS object, begins, sha256
     FROM ${givenPages}
     LEFT JOIN claudikins.pages ON ${isGiven("pages")}
     LEFT JOIN claudikins.object_pages ON ${isGiven("object_pages")}
     WHERE bytes IS NOT NULL OR object IS NOT NULL ORDER BY number`,
    { execution, wanted },
  );
  if (places.length < wanted.length) throw new Error("a page of the program is missing");
  const here = places.filter(({ object }) => object === null);
  const objectPages = places.flatMap(({ object, ...place }) => (object === null ? [] : { ...place, object }));
  return { here, objectPages };
}

/** Parts that have about as many bytes as are read at once, as pairs of a page and its version. */
function partsOf(places: readonly Place[]): number[][][] {
  const parts: number[][][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const { page, version, size } of places) {
    if (bytes > rowBytesReadAtOnce) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)!.push([page, version]);
    bytes += size;
  }
  return parts;
}

/** Deletes earlier versions of pages of an image: of these, or of all. Returns the objects to remove. */
export function deleteOlder(execution: string, version: number, pages: Float64Array | undefined): Work<string[]> {
  const which = pages ? "page IN (SELECT value::int FROM texts($pages))" : `page < ${firstRecord}`;
  return deleteWhere(`version < $version::int AND ${which}`, { execution, version, pages: pages && [...pages] });
}

/** Deletes pages that a program does not need: pages of its image with another version, and further records. Returns as `deleteOlder` does. */
export function deleteUnneeded(
  execution: string,
  { pages, versions, records }: { pages: Float64Array; versions: Float64Array; records: number },
): Work<string[]> {
  const needed = Array.from(pages, (page, index) => [page, versions[index]!]);
  return deleteWhere(
    `(page >= $end OR page < ${firstRecord} AND (page, version) NOT IN
       (SELECT (value->>0)::int, (value->>1)::int FROM each($needed)))`,
    { execution, end: pageOfRecord(records), needed },
  );
}

/** Returns the objects to remove. */
export function deletePages(execution: string): Work<string[]> {
  return deleteWhere("TRUE", { execution });
}

/** One statement for the pages in the database and those in the bucket. */
function* deleteWhere(condition: string, values: Values): Work<string[]> {
  const objects = yield* all<{ object: string }>(
    `WITH gone AS (DELETE FROM claudikins.pages WHERE execution = $execution AND ${condition}),
       left_pages AS (DELETE FROM claudikins.object_pages WHERE execution = $execution AND ${condition} RETURNING object)
     SELECT DISTINCT object FROM left_pages`,
    values,
  );
  return yield* leaveObjects(objects.map(({ object }) => object));
}

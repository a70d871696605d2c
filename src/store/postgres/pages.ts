/** The pages of stored programs: their images, and what they have recorded. */

import { megabyte } from "../../base/units.ts";
import { type Batch, batchOf, firstRecord, type PageRow, pageOfRecord } from "../jobs.ts";
import { all, run, type Work } from "../work.ts";

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

/** Reads pages into batches, whose buffers are of limited size. Pages of version 0 have no bytes. Throws if one is missing. */
export function* readPages(
  execution: string,
  { pages, versions }: { pages: Float64Array; versions: Float64Array },
): Work<Batch[]> {
  const wanted = Array.from(pages, (page, index) => [page, versions[index]!]).filter(([, version]) => version !== 0);
  const batches: Batch[] = [];
  for (const part of partsOf(wanted, yield* sizesOf(execution, wanted))) {
    const these = `SELECT page, bytes FROM ${theseOf} ORDER BY number`;
    batches.push(batchOf(yield* all<PageRow>(these, { execution, wanted: part })));
  }
  return batches;
}

/** The wanted pages, in their order. */
const theseOf = `json_array_elements($wanted::text::json) WITH ORDINALITY AS given (pair, number)
  JOIN claudikins.pages ON execution = $execution AND page = (pair->>0)::int AND version = (pair->>1)::int`;

/** Throws if a page is missing. The size of a value is known without reading it. */
function* sizesOf(execution: string, wanted: readonly number[][]): Work<number[]> {
  const sizes = `SELECT length(bytes) AS size FROM ${theseOf} ORDER BY number`;
  const rows = yield* all<{ size: number }>(sizes, { execution, wanted });
  if (rows.length < wanted.length) throw new Error("a page of the program is missing");
  return rows.map(({ size }) => size);
}

/** Parts that have about as many bytes as are read at once. */
function partsOf(wanted: readonly number[][], sizes: readonly number[]): number[][][] {
  const parts: number[][][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const [index, pair] of wanted.entries()) {
    if (bytes > rowBytesReadAtOnce) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)!.push(pair);
    bytes += sizes[index]!;
  }
  return parts;
}

/** Deletes earlier versions of pages of an image: of these, or of all. */
export function deleteOlder(execution: string, version: number, pages: Float64Array | undefined): Work<number> {
  const which = pages ? "page IN (SELECT value::int FROM texts($pages))" : `page < ${firstRecord}`;
  return run(`DELETE FROM claudikins.pages WHERE execution = $execution AND version < $version::int AND ${which}`, {
    execution,
    version,
    pages: pages && [...pages],
  });
}

/** Deletes pages that a program does not need: pages of its image with another version, and further records. */
export function deleteUnneeded(
  execution: string,
  { pages, versions, records }: { pages: Float64Array; versions: Float64Array; records: number },
): Work<number> {
  const needed = Array.from(pages, (page, index) => [page, versions[index]!]);
  return run(
    `DELETE FROM claudikins.pages WHERE execution = $execution AND (page >= $end OR page < ${firstRecord} AND (page, version) NOT IN
       (SELECT (value->>0)::int, (value->>1)::int FROM each($needed)))`,
    { execution, end: pageOfRecord(records), needed },
  );
}

export function deletePages(execution: string): Work<number> {
  return run("DELETE FROM claudikins.pages WHERE execution = $execution", { execution });
}

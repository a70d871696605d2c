/** The jobs for the pages of a program. Nothing refers to what they write until the program is saved. */
import type { Batch } from "../jobs.ts";
import { keepClaim, lostClaim } from "./claims.ts";
import type { JobParts, Jobs } from "./job-parts.ts";
import { deleteUnneeded, pageOfRecord, readPages, readRecords, writePages } from "./pages.ts";
import type { Querying } from "./querying.ts";

export function pageJobs({
  connections,
  claims,
  room,
}: JobParts): Jobs<"begin" | "pages" | "record" | "image" | "records"> {
  /** Nobody else takes the execution, or counts its first save as given up, before the end of the transaction. */
  const keep = async (execution: string, querying: Querying): Promise<void> => {
    const claim = claims.of(execution);
    if (claim) return keepClaim(execution, claim, querying);
    const owner = claims.savingOwner(execution);
    // It has ended meanwhile.
    if (owner === undefined) throw lostClaim(execution);
    const saving = "SELECT 1 AS one FROM claudikins.saving WHERE execution = $execution AND owner = $owner FOR SHARE";
    if (!(await querying.get(saving, { execution, owner }))) throw lostClaim(execution);
  };

  const write = async (
    execution: string,
    version: number,
    batch: Omit<Batch, "bytes"> & { bytes: Uint8Array },
    roomBytes: number,
  ): Promise<undefined> => {
    await room.require(roomBytes, batch.bytes.length);
    await connections.transaction(async (querying) => {
      await keep(execution, querying);
      await writePages(execution, version, batch, querying);
    });
    return undefined;
  };

  return {
    begin: async (execution, { owner }) => {
      await connections.each((querying) =>
        querying.run(
          `INSERT INTO claudikins.saving (execution, owner) VALUES ($execution, $owner)
           ON CONFLICT (execution) DO UPDATE SET owner = excluded.owner`,
          { execution, owner },
        ),
      );
      claims.saving(execution, owner);
      return undefined;
    },

    pages: (execution, { version, roomBytes, pages, sizes, bytes }) =>
      write(execution, version, { pages, sizes, bytes: new Uint8Array(bytes) }, roomBytes),

    record: (execution, { record, bytes, roomBytes }) => {
      const pages = Float64Array.of(pageOfRecord(record));
      return write(execution, 1, { pages, sizes: Float64Array.of(bytes.length), bytes }, roomBytes);
    },

    image: (execution, wanted) => connections.each((querying) => readPages(execution, wanted, querying)),

    records: async (execution, wanted) => {
      const claim = claims.of(execution);
      if (claim) {
        await connections.transaction(async (querying) => {
          await keepClaim(execution, claim, querying);
          await deleteUnneeded(execution, wanted, querying);
        });
      }
      return connections.each((querying) => readRecords(execution, wanted.records, querying));
    },
  };
}

/** Makes the page of an execution in a worker thread. */
import { OffThread } from "../../base/off-thread.ts";
import type { StoredRecord } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";

/** Time for a worker to make the page of an execution. */
const executionPageMs = 20_000;

const workers = new OffThread<StoredRecord, { html: string }>("./page/execution/worker.ts", { maxWorkers: 1 });

/** Undefined if the execution is not recorded, or no longer. Throws TookTooLong, and what reading the record throws. */
export async function tracePageOf({ records }: Pick<Store, "records">, id: string): Promise<string | undefined> {
  const record = await records.get(id);
  return record && (await workers.run(record, { limitMs: executionPageMs })).html;
}

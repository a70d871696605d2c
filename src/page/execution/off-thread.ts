/** Makes the page of an execution in a worker thread. */
import { OffThread } from "../../base/off-thread.ts";
import { executionPageMs } from "../limits.ts";

/** The folder of the records, and the id of the execution. */
export interface PageJob {
  folder: string;
  id: string;
}

const workers = new OffThread<PageJob, { html: string | undefined }>("./page/execution/worker.ts", { maxWorkers: 1 });

/** Undefined if the execution is not recorded, or no longer. Throws TookTooLong, and what reading the record throws. */
export async function tracePageOf(folder: string, id: string): Promise<string | undefined> {
  return (await workers.run({ folder, id }, { limitMs: executionPageMs })).html;
}

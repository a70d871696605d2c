/** Makes the page of an execution in a worker thread. */
import { OffThread } from "../../base/off-thread.ts";
import { executionPageMs } from "../limits.ts";

/** The file of the database, and the id of the execution. */
export interface PageJob {
  file: string;
  id: string;
}

const workers = new OffThread<PageJob, { html: string | undefined }>("./page/execution/worker.ts", { maxWorkers: 1 });

/** Undefined if the execution is not recorded, or no longer. Throws TookTooLong, and what reading the record throws. */
export async function tracePageOf(file: string, id: string): Promise<string | undefined> {
  return (await workers.run({ file, id }, { limitMs: executionPageMs })).html;
}

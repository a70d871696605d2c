/** The worker that makes the page of an execution, because a record may have thousands of calls. */
import { answerJobs } from "../../base/off-thread.ts";
import { readRecord } from "../../programs/trace/store.ts";
import { Store } from "../../store/sqlite/store.ts";
import type { PageJob } from "./off-thread.ts";
import { pageOf } from "./page.ts";

declare const self: Worker;

answerJobs(self, async ({ file, id }: PageJob) => {
  await using store = new Store(file);
  const record = await readRecord(store, id);
  return { html: record && (await pageOf(record)) };
});

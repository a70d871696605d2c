/** The worker that makes the page of an execution, because a record may have thousands of calls. */
import { answerJobs } from "../../base/off-thread.ts";
import { recordOf } from "../../programs/trace/store.ts";
import type { StoredRecord } from "../../store/records.ts";
import { pageOf } from "./page.ts";

declare const self: Worker;

answerJobs(self, async (row: StoredRecord) => ({ html: await pageOf(recordOf(row)) }));

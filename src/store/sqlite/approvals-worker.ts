/** The worker that changes approvals. */
import { answerJobs } from "../../base/off-thread.ts";
import { makeChange } from "./approval-changes.ts";

declare const self: Worker;

answerJobs(self, makeChange);

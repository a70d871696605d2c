/** The worker thread of the registry's long jobs. */
import { answerJobs } from "../../base/off-thread.ts";
import { doJob, type Job, type JobOutput } from "./jobs.ts";

declare const self: Worker;

answerJobs<Job, JobOutput>(self, doJob);

/** The thread in which the registry's long jobs are done. */
import { answerJobs } from "../../off-thread.ts";
import { doJob, type Job, type JobOutput } from "./jobs.ts";

declare const self: Worker;

answerJobs<Job, JobOutput>(self, doJob);

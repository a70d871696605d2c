/** The worker thread that judges saved programs. The programs themselves run in its sandbox. */
import { answerJobs } from "../../base/off-thread.ts";
import { Sandbox } from "../../sandbox/sandbox.ts";
import type { CheckJob } from "./contract.ts";
import { judged } from "./judge.ts";

declare const self: Worker;

const sandbox = new Sandbox({ keptWorkers: 1 });

answerJobs<CheckJob, string>(self, async (job) => JSON.stringify(await judged(job, sandbox)));

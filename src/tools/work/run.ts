/** Runs the registry's long jobs in worker threads. */
import { OffThread, TookTooLong } from "../../base/off-thread.ts";
import type { Job, JobOutput, Jobs } from "./jobs.ts";

const workers = new OffThread<Job, JobOutput>("./tools/work/worker.ts");

/** Throws TookTooLong if the job takes longer than `limitMs`, and what the job throws. */
export async function runJob<Work extends keyof Jobs>(job: Job<Work>, limitMs: number): Promise<Jobs[Work]["output"]> {
  return (await workers.run(job as Job, { limitMs })) as Jobs[Work]["output"];
}

/** Like `runJob`, but undefined if it takes too long. */
export async function runJobInTime<Work extends keyof Jobs>(job: Job<Work>, limitMs: number) {
  try {
    return await runJob(job, limitMs);
  } catch (error) {
    if (error instanceof TookTooLong) return undefined;
    throw error;
  }
}

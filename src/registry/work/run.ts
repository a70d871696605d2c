/** Hands the registry's long jobs to worker threads. */
import { OffThread, TookTooLong } from "../../off-thread.ts";
import type { Job, JobOutput, Jobs } from "./jobs.ts";

const workers = new OffThread<Job, JobOutput>({ start: startWorker });

/** Throws TookTooLong when the job takes longer than the limit, in milliseconds, and what the job throws. */
export async function runJob<Work extends keyof Jobs>(job: Job<Work>, limitMs: number): Promise<Jobs[Work]["output"]> {
  return (await workers.run(job as Job, { limitMs })) as Jobs[Work]["output"];
}

/** The same, but undefined when it takes too long. */
export async function runJobInTime<Work extends keyof Jobs>(job: Job<Work>, limitMs: number) {
  try {
    return await runJob(job, limitMs);
  } catch (error) {
    if (error instanceof TookTooLong) return undefined;
    throw error;
  }
}

function startWorker(): Worker {
  // Relative to this file from source, and to the entry in an executable, where everything is one bundle.
  const path = Bun.isStandaloneExecutable ? "./registry/work/worker.ts" : "./worker.ts";
  return new Worker(new URL(path, import.meta.url).href);
}

/** The worker that reads and checks programs that are being written, because parsing a long one takes long. */
import { answerJobs } from "../../base/off-thread.ts";
import { checkCalls } from "../../sandbox/code/check.ts";
import { CheckError } from "../../sandbox/code/check-error.ts";
import { transpile } from "../../sandbox/code/transpile.ts";
import { type CheckJob, functionKey, maxCodeMistakes, type PlacedMistake } from "./job.ts";

declare const self: Worker;

answerJobs(self, async (job: CheckJob) => ({ mistakes: await mistakesOf(job) }));

async function mistakesOf(job: CheckJob): Promise<PlacedMistake[]> {
  const { source, namespaces, isSyntaxOnly, isWarning } = job;
  const tolerant = new Set(job.tolerant);
  try {
    const { plain, originalPosition } = await transpile(source);
    if (isSyntaxOnly) return [];
    const refuses = (namespace: string, name: string) => !tolerant.has(functionKey(namespace, name));
    const found = checkCalls(plain, { namespaces, refuses }).slice(0, maxCodeMistakes);
    const placed: PlacedMistake[] = [];
    for (const { at, message, write, signatures } of found) {
      const hint = write === undefined ? signatures.join("\n") : `Write: ${write}`;
      placed.push({ ...(await originalPosition(at)), message, hint: hint || undefined, isWarning });
    }
    return placed;
  } catch (error) {
    if (!(error instanceof CheckError)) throw error;
    const { line = 1, column = 1, message, hint } = error.error;
    return [{ line, column, message, hint, isWarning: false }];
  }
}

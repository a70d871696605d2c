/** `bun test/registry/evaluation/run.ts`: prints how well search does on our own requests, and what it misses. */
import { evaluate } from "./evaluate.ts";

const { requests, first, firstFive, missed } = evaluate();
const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
for (const { request, wanted, found } of missed) {
  console.log(`missed: ${request}\n  wanted ${wanted}, found ${found.join(", ") || "nothing"}`);
}
console.log(`${requests} requests: the right tool first ${percent(first)}, among the first five ${percent(firstFive)}`);

/** `bun test/tools/evaluation/run.ts`: prints the quality of search for our own requests, and the missed ones. */
import { evaluate } from "./evaluate.ts";

const { requests, first, firstFive, missed } = evaluate();
const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
for (const { request, wanted, found } of missed) {
  console.log(`missed: ${request}\n  wanted ${wanted}, found ${found.join(", ") || "nothing"}`);
}
console.log(`${requests} requests: the right tool first ${percent(first)}, among the first five ${percent(firstFive)}`);

/** A replica as a process of its own: it does the jobs that come on its stdin, one JSON in each line, and answers with `done` or the error's code. */
import { createInterface } from "node:readline";
import type { JobName } from "../../../src/store/jobs.ts";
import { PostgresStore } from "../../../src/store/postgres/store.ts";

await using store = new PostgresStore(process.argv[2]!);
await using owner = await store.takeOwner();
const writer = store.executions.writer();
console.log(owner.name);
for await (const line of createInterface({ input: process.stdin })) {
  const [job, execution, input] = JSON.parse(line) as [JobName, string, object];
  if (job === "pages")
    Object.assign(input, { pages: Float64Array.of(1), sizes: Float64Array.of(1), bytes: new ArrayBuffer(1) });
  try {
    await writer.do(job, execution, input as never);
    console.log("done");
  } catch (error) {
    console.log((error as { code?: string }).code ?? String(error));
  }
}
await writer.close();

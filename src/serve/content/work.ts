/** Makes content in a worker thread: large content, and content that is also written to a file of the workspace. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { OffThread } from "../../base/off-thread.ts";
import type { ContentJob, Rest } from "./worker.ts";

/** Time for a worker to make content. Enough for 32 MB of data on a slow machine. */
const contentMs = 20_000;

const workers = new OffThread<ContentJob, CallToolResult>("./serve/content/worker.ts");

/** `json` is the value. Throws TookTooLong. */
export function contentInWorker(json: string | undefined, rest: Rest): Promise<CallToolResult> {
  return workers.run({ json, rest: JSON.stringify(rest) }, { limitMs: contentMs });
}

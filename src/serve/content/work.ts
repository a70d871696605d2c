/** Makes content in a worker thread: what is large, and what a file of the workspace is written for. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { OffThread } from "../../base/off-thread.ts";
import { contentMs } from "../limits.ts";
import type { ContentJob, Rest } from "./worker.ts";

const workers = new OffThread<ContentJob, CallToolResult>("./serve/content/worker.ts");

/** `json` is the value. Throws TookTooLong. */
export function contentInWorker(json: string | undefined, rest: Rest): Promise<CallToolResult> {
  return workers.run({ json, rest: JSON.stringify(rest) }, { limitMs: contentMs });
}

/** Makes the content of an outcome. For a large one, a worker does it and writes the file with the whole text. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { OffThread, TookTooLong } from "../../off-thread.ts";
import { receiptText } from "../../outcome-text.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import { type OutputOptions, outcomeContent } from "./content.ts";
import type { LargeOutcome, Rest } from "./large-content.ts";

/** Enough for 32 MB of data on a slow machine. */
const limitMs = 20_000;

const workers = new OffThread<LargeOutcome, CallToolResult>({ start: startWorker });

export async function contentFor(outcome: Outcome, options: OutputOptions): Promise<CallToolResult> {
  if (!outcome.ok || outcome.json === undefined) return outcomeContent(outcome, options);
  const { json, logs, display, receipt } = outcome;
  try {
    const rest = JSON.stringify({ logs, display, receipt, options } satisfies Rest);
    return await workers.run({ json, rest }, { limitMs });
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
    const text = `(the value has ${json.length} characters and could not be shown in time: return less)`;
    return { content: [{ type: "text", text: `${text}\n\n${receiptText(receipt)}` }] };
  }
}

function startWorker(): Worker {
  // The path is relative to this file in the source, and to the entry point in an executable, which is one bundle.
  const path = Bun.isStandaloneExecutable ? "./server/content/worker.ts" : "./worker.ts";
  return new Worker(new URL(path, import.meta.url).href);
}

/** The MCP tool `execute_code`: runs TypeScript and returns its value, logs and a receipt. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { maxTimeoutMs } from "../../config/defaults.ts";
import { execute } from "../../execution/execute.ts";
import { OffThread, TookTooLong } from "../../off-thread.ts";
import { receiptText } from "../../outcome-text.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import type { Toolbox } from "../../toolbox/toolbox.ts";
import { type OutputOptions, outcomeContent, textResult } from "../content/content.ts";
import type { LargeOutcome, Rest } from "../content/worker.ts";

export const executeCode: Tool = {
  name: "execute_code",
  title: "Execute code",
  description:
    "Run TypeScript that calls tools: `const { orders } = await server.tool({ ... })`. Only what it returns or logs is shown, " +
    "so filter and combine in the code. Top-level await and return work; Promise.all runs calls in parallel.",
  inputSchema: {
    type: "object",
    properties: {
      code: { type: "string" },
      timeout_ms: { type: "integer", minimum: 1, maximum: maxTimeoutMs, default: 30_000 },
    },
    required: ["code"],
  },
  annotations: { openWorldHint: true },
};

export async function callExecuteCode(
  args: Record<string, unknown>,
  toolbox: Toolbox,
  signal: AbortSignal,
  onProgress?: (line: string) => void,
): Promise<CallToolResult> {
  const { code } = args;
  const timeoutMs = args["timeout_ms"] ?? args["timeout"];
  if (typeof code !== "string") return textResult('execute_code needs "code": TypeScript as one string', true);
  if (
    timeoutMs !== undefined &&
    !(Number.isInteger(timeoutMs) && Number(timeoutMs) >= 1 && Number(timeoutMs) <= maxTimeoutMs)
  ) {
    return textResult(`"timeout_ms" must be a whole number of milliseconds from 1 to ${maxTimeoutMs}`, true);
  }
  const outcome = await execute(
    { source: code, limits: { timeoutMs: timeoutMs as number | undefined }, signal, onProgress, isForAgent: true },
    toolbox,
  );
  const { folders, limits } = toolbox.config;
  return contentFor(outcome, { maxChars: limits.outputChars, workspace: folders.workspace });
}

/** Enough for 32 MB of data on a slow machine. */
const contentLimitMs = 20_000;

const workers = new OffThread<LargeOutcome, CallToolResult>("./server/content/worker.ts");

/** Makes the content of an outcome. For a large one, a worker does it and writes the file with the whole text. */
async function contentFor(outcome: Outcome, options: OutputOptions): Promise<CallToolResult> {
  if (!outcome.ok || outcome.json === undefined) return outcomeContent(outcome, options);
  const { json, logs, display, receipt } = outcome;
  try {
    const rest = JSON.stringify({ logs, display, receipt, options } satisfies Rest);
    return await workers.run({ json, rest }, { limitMs: contentLimitMs });
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
    const text = `(the value has ${json.length} characters and could not be shown in time: return less)`;
    return textResult(`${text}\n\n${receiptText(receipt)}`);
  }
}

/** The MCP tool `execute_code`: runs TypeScript and returns its value, logs and a receipt. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import type { ToolCatalog } from "../../catalog/tool-catalog.ts";
import { maxTimeoutMs } from "../../config/defaults.ts";
import { execute } from "../../execution/execute.ts";
import { OffThread, TookTooLong } from "../../off-thread.ts";
import { receiptText } from "../../outcome-text.ts";
import { toolId } from "../../registry/model.ts";
import { observedType } from "../../registry/signature.ts";
import type { Outcome, Receipt } from "../../sandbox/contract.ts";
import { largeChars } from "../../sandbox/messages.ts";
import type { Toolbox } from "../../toolbox/toolbox.ts";
import { type OutputOptions, outcomeContent, textResult } from "../content/content.ts";
import type { LargeOutcome, Rest } from "../content/worker.ts";
import type { CallContext } from "./call-context.ts";

export const executeCode: Tool = {
  name: "execute_code",
  title: "Execute code",
  description:
    "Run TypeScript that calls tools: `const { orders } = await server.tool({ ... })`. Do as much of a task as possible in one " +
    "program. Only what it returns or logs is shown, so filter in the code. Wrong names are refused before any call.",
  inputSchema: {
    type: "object",
    properties: {
      code: { type: "string" },
      timeout_ms: { type: "integer", maximum: maxTimeoutMs, default: 30_000 },
    },
    required: ["code"],
  },
};

export async function callExecuteCode(
  args: Record<string, unknown>,
  toolbox: Toolbox,
  signal: AbortSignal,
  { onProgress, host }: CallContext = {},
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
  const startedAt = performance.now();
  const outcome = await execute(
    {
      source: code,
      limits: { timeoutMs: timeoutMs as number | undefined },
      signal,
      onProgress,
      host,
      isForAgent: true,
    },
    toolbox,
  );
  const { folders, limits } = toolbox.config;
  const result = await contentFor(outcome, { maxChars: limits.outputChars, workspace: folders.workspace });
  const types = newTypes(outcome.receipt, startedAt, toolbox.catalog);
  return types === "" ? result : { ...result, content: [...result.content, { type: "text", text: types }] };
}

/** More types would be more than a model needs to read at once. */
const maxNewTypes = 5;

/** The result types that this execution was the first to see, so that the model need not print results to learn them. */
function newTypes({ calls, tools }: Receipt, startedAt: number, { observer }: ToolCatalog): string {
  if (calls === 0) return "";
  const lines = observer.firstSeenSince(startedAt).flatMap(({ server, tool }) => {
    const id = toolId(server, tool.name);
    return Object.hasOwn(tools, id) && !tool.known?.type ? [`${id} → ${observedType(tool.observed!)}`] : [];
  });
  return lines.length === 0 ? "" : `Observed result types:\n${lines.slice(0, maxNewTypes).join("\n")}`;
}

/** Enough for 32 MB of data on a slow machine. */
const contentLimitMs = 20_000;

const workers = new OffThread<LargeOutcome, CallToolResult>("./server/content/worker.ts");

/** Makes the content of an outcome. For a large one, a worker does it and writes the file with the whole text. */
async function contentFor(outcome: Outcome, options: OutputOptions): Promise<CallToolResult> {
  const { logs, display, receipt } = outcome;
  const isLarge = receipt.charsOut > largeChars || (outcome.ok && outcome.json !== undefined);
  if (!isLarge) return outcomeContent(outcome, options);
  try {
    const json = outcome.ok ? (outcome.json ?? JSON.stringify(outcome.value)) : undefined;
    const withoutValue: Outcome = outcome.ok ? { ok: true, value: undefined, logs, display, receipt } : outcome;
    const rest = JSON.stringify({ outcome: withoutValue, options } satisfies Rest);
    return await workers.run({ json, rest }, { limitMs: contentLimitMs });
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
    const text = `(the answer has ${receipt.charsOut} characters and could not be shown in time: return or display less)`;
    return textResult(`${text}\n\n${receiptText(receipt)}`);
  }
}

/** The figures of a call, for agents that read the `_meta` of results. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { charsOfBlocks } from "../ledger/characters.ts";
import type { Receipt } from "../sandbox/contract.ts";

export const receiptKey = "claudikins/receipt";

/** The figures of a receipt. Its `charsOut` counts what goes to the agent. */
export function withReceipt(result: CallToolResult, receipt: Receipt): CallToolResult {
  const { id, calls, failures, durationMs, charsIn, charsOut, registry } = receipt;
  const figures = { id, calls, failures, durationMs, charsIn, charsOut, charsKept: Math.max(0, charsIn - charsOut) };
  return withMeta(result, registry === undefined ? figures : { ...figures, registry });
}

/** The figures of a call without a receipt. */
export function withFigures(result: CallToolResult, startedAt: number): CallToolResult {
  if (result._meta?.[receiptKey] !== undefined) return result;
  const durationMs = Math.round((performance.now() - startedAt) * 10) / 10;
  return withMeta(result, { durationMs, charsOut: charsOfBlocks(result.content) });
}

function withMeta(result: CallToolResult, figures: object): CallToolResult {
  return { ...result, _meta: { ...result._meta, [receiptKey]: figures } };
}

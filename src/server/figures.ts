/** The figures of a call, for hosts that read the `_meta` of results. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { charsOfBlocks } from "../ledger/characters.ts";
import type { Receipt } from "../sandbox/contract.ts";

export const receiptKey = "claudikins/receipt";

/** Of a receipt whose `charsOut` is what goes to the host. */
export function withReceipt(result: CallToolResult, receipt: Receipt): CallToolResult {
  const { id, calls, failures, durationMs, charsIn, charsOut, registry } = receipt;
  const figures = { id, calls, failures, durationMs, charsIn, charsOut, charsKept: Math.max(0, charsIn - charsOut) };
  return withMeta(result, registry === undefined ? figures : { ...figures, registry });
}

/** Of any other call what is known from outside. */
export function withFigures(result: CallToolResult, startedAt: number): CallToolResult {
  if (result._meta?.[receiptKey] !== undefined) return result;
  const durationMs = Math.round((performance.now() - startedAt) * 10) / 10;
  return withMeta(result, { durationMs, charsOut: charsOfBlocks(result.content) });
}

function withMeta(result: CallToolResult, figures: object): CallToolResult {
  return { ...result, _meta: { ...result._meta, [receiptKey]: figures } };
}

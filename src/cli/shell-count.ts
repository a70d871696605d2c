/** What commands of a shell count for the ledger, beside the calls of tools: code that was run, and what led to us. */
import type { Toolbox } from "../flows/toolbox.ts";
import { hookIn, hookKey } from "../registry/hooks.ts";
import type { Receipt } from "../sandbox/contract.ts";

export function countExecution(toolbox: Toolbox, code: string, { charsOut }: Receipt): void {
  toolbox.ledger.add({ executions: 1, codeChars: code.length, returnedChars: charsOut });
  countMark(toolbox, code);
}

/** A shell has no sessions, and a person who types has no mark: commands that carry one are counted each. */
export function countMark(toolbox: Toolbox, text: string): void {
  const hook = hookIn(text);
  if (hook && toolbox.config.hooks) toolbox.ledger.found(hookKey("shell", hook));
}

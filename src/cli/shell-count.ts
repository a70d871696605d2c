/** What commands of a shell count for the ledger, beside the calls of tools: executions, and what led to us. */

import { hookIn, hookKey } from "../registry/hooks.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";

/** Counts no characters: nobody knows whether a model reads what a shell prints. */
export function countExecution(toolbox: Toolbox, code: string): void {
  toolbox.ledger.add({ shellExecutions: 1 });
  countMark(toolbox, code);
}

/** A shell has no sessions, and a person who types has no mark: commands that carry one are counted each. */
export function countMark(toolbox: Toolbox, text: string): void {
  const hook = hookIn(text);
  if (hook && toolbox.config.hooks) toolbox.ledger.found(hookKey("shell", hook));
}

/** Counts executions and marks of hook texts for commands of a shell. */

import { hookIn, hookKey } from "../registry/hooks.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";

/** Characters are not counted, because a model may not read what a shell prints. */
export function countExecution(toolbox: Toolbox, code: string): void {
  toolbox.ledger.add({ shellExecutions: 1 });
  countMark(toolbox, code);
}

/** A shell has no sessions, so each command with a mark counts. */
export function countMark(toolbox: Toolbox, text: string): void {
  const hook = hookIn(text);
  if (hook && toolbox.config.hooks) toolbox.ledger.found(hookKey("shell", hook));
}

/** Runs a program for a person or a script at a shell, until it has ended or waits for a decision elsewhere. */
import { ClaudikinsError } from "../base/errors.ts";
import { awaitsApproval } from "../policy/approvals/awaited.ts";
import type { ExecuteRequest } from "../programs/execute.ts";
import type { RunningExecution } from "../programs/execution/running-execution.ts";
import type { Outcome } from "../sandbox/contract.ts";
import { onAbort } from "../servers/abort.ts";
import { toolId } from "../tools/model.ts";
import { hookIn, hookKey } from "../tools/registry/hooks.ts";
import type { App } from "./app.ts";

type Asked = Pick<
  ExecuteRequest,
  "source" | "tape" | "limits" | "check" | "program" | "repeats" | "dryRun" | "trace" | "within" | "onProgress"
>;

/** `signal` cancels the program, whose outcome says so. Throws EXECUTION_WAITS. The program then stays in the store. */
export async function outcomeInShell(request: Asked, app: App, signal: AbortSignal, id?: string): Promise<Outcome> {
  const executions = await app.executions();
  const running = executions.start(request, app, { id });
  const forget = onAbort(signal, () => running.cancel());
  const ended = new AbortController();
  const waits = awaitsApproval(running.id, {
    approvals: app.approvals,
    isAsking: () => app.pool.isAsking,
    signal: ended.signal,
  });
  const first = await Promise.race([running.outcome, waits]);
  ended.abort();
  if (first === true) {
    // It goes on without its caller.
    forget();
    const failure = await leftWaiting(running, app);
    // A program that has ended meanwhile is not kept.
    if (running.isHandedOut) throw failure;
  }
  const outcome = await running.outcome;
  // Characters are not counted, because a model may not read what a shell prints.
  app.ledger.add({ shellExecutions: 1 });
  return outcome;
}

/** Counts a mark of a hook text. A shell has no sessions, so each command with a mark counts. */
export function countMark(app: App, text: string): void {
  const hook = hookIn(text);
  if (hook && app.config.hooks) app.ledger.found(hookKey("shell", hook));
}

/** The failure of a program that waits for a decision elsewhere. The program stays in the store. */
async function leftWaiting(
  running: RunningExecution,
  { approvals, catalog, config: { door } }: App,
): Promise<ClaudikinsError> {
  const [open] = await Promise.all([approvals.open({ execution: running.id }), running.handOut()]);
  const calls = open.map(
    ({ id, server, tool }) => `${toolId(server, catalog.shownName(server, tool))} (approval ${id})`,
  );
  return new ClaudikinsError(
    "EXECUTION_WAITS",
    `The execution ${running.id} waits until you approve or deny ${calls.join(", ")}`,
    {
      hint: `Decide with claudikins approvals, or claudikins ui. For the outcome: claudikins executions wait ${running.id}${door === undefined ? "" : ` --door ${door}`}`,
    },
  );
}

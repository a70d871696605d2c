/** Runs a program for a person or a script at a shell, until it has ended or waits for a decision elsewhere. */
import type { App } from "../app/app.ts";
import { ClaudikinsError } from "../base/errors.ts";
import { awaitsApproval } from "../policy/approvals/awaited.ts";
import type { ExecuteRequest } from "../programs/execute.ts";
import type { RunningExecution } from "../programs/execution/running-execution.ts";
import type { Outcome } from "../sandbox/contract.ts";
import { onAbort } from "../servers/abort.ts";
import { toolId } from "../tools/model.ts";
import type { Io } from "./io.ts";
import type { Activity } from "./progress.ts";
import { commandTrace } from "./telemetry.ts";

/** Throws EXECUTION_WAITS. The program then stays in the store. */
export async function outcomeInShell(
  request: Pick<ExecuteRequest, "source" | "limits" | "check" | "program" | "dryRun">,
  app: App,
  activity: Activity,
  { interrupted, env }: Pick<Io, "interrupted" | "env">,
): Promise<Outcome> {
  const { onProgress } = activity;
  const executions = await app.executions();
  const running = executions.start({ ...request, trace: commandTrace(env), onProgress }, app);
  onAbort(interrupted, () => running.cancel());
  const ended = new AbortController();
  const waits = awaitsApproval(running.id, {
    approvals: app.approvals,
    isAsking: () => app.pool.isAsking,
    signal: ended.signal,
  });
  const first = await Promise.race([running.outcome, waits]).finally(() => activity.end());
  ended.abort();
  if (first === true) throw await leftWaiting(running, app);
  const outcome = await running.outcome;
  // Characters are not counted, because a model may not read what a shell prints.
  app.ledger.add({ shellExecutions: 1 });
  return outcome;
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

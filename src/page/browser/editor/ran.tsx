/** The program that was run last from the editor: its state, its result and its calls, while it runs and afterwards. */

import { useEffect, useState } from "preact/hooks";
import { durationText } from "../../../base/duration.ts";
import type { PageExecution } from "../../activity-contract.ts";
import type { PageApproval } from "../../contract.ts";
import type { PageOutcome } from "../../programs-contract.ts";
import { CallList } from "../activity/calls.tsx";
import { OutcomeText, readOutcome } from "../activity/outcome.tsx";
import { useAbout } from "../activity/query.ts";
import { StateWords } from "../activity/row.tsx";
import { post } from "../client.ts";
import { useLeads } from "../leads.ts";
import { Problem, type Reason, useAction } from "../notice.tsx";
import { Panel } from "../panel.tsx";
import { SaveDialog } from "../programs/save-dialog.tsx";
import { ToolName } from "../text.tsx";

interface RanProps {
  id: string;
  /** Its row in the list, which changes with the state. */
  row: PageExecution | undefined;
  /** The next run is being started. Nothing can be begun with this one, because it is about to go away. */
  isLeaving: boolean;
  approvals: readonly PageApproval[];
  /** Called when it was stopped. */
  onStopped(): void;
  /** Leads to a line of the code. */
  onLine(line: number, column: number | undefined): void;
  onApproval(id: string): void;
}

export function Ran({ id, row, isLeaving, approvals, onStopped, onLine, onApproval }: RanProps) {
  const { toExecution, toProgram } = useLeads();
  const { about, execution, ...found } = useAbout(id, row);
  const [outcome, setOutcome] = useState<PageOutcome>();
  const [lost, setLost] = useState<Reason>();
  const problem = found.problem ?? lost;
  const { isRunning, run } = useAction();
  const [isSaving, setSaving] = useState(false);
  const isOver = execution?.isOver === true;
  useEffect(() => {
    if (!isOver) return;
    readOutcome(id, execution?.door).then(setOutcome, () =>
      setLost({ message: "Its result is no longer kept. Run it again." }),
    );
  }, [id, isOver]);
  const open = approvals.filter((each) => each.execution === id);
  const stop = () =>
    run(async () => {
      await post(`executions/${id}/cancel`, { door: execution?.door });
      // The button goes away.
      onStopped();
    });
  return (
    <Panel id="ran" title={execution?.isDryRun ? "Dry run" : "Result"}>
      {execution && (
        <p class="ran-state" role="status">
          <StateWords execution={execution} />
          {execution.durationMs !== undefined && <span class="about"> {durationText(execution.durationMs)}</span>}
          {!isOver && (
            <button type="button" disabled={isRunning} onClick={() => void stop()}>
              Stop
            </button>
          )}
        </p>
      )}
      {open.map(({ id: approval, server, tool }) => (
        <p class="warning" key={approval}>
          <ToolName server={server} tool={tool} /> waits for your approval.{" "}
          <button type="button" onClick={() => onApproval(approval)}>
            Decide
          </button>
        </p>
      ))}
      {problem && <Problem reason={problem} />}
      {outcome && (
        <>
          <OutcomeText id={id} door={execution?.door} outcome={outcome} />
          {outcome.line !== undefined && (
            <button type="button" onClick={() => onLine(outcome.line!, outcome.column)}>
              Go to line {outcome.line}
            </button>
          )}
        </>
      )}
      {about && <CallList about={about} />}
      {isOver && execution && !isLeaving && (
        <div class="actions">
          {execution.canBeSaved && !execution.isDryRun && (
            <button type="button" onClick={() => setSaving(true)}>
              Keep as program
            </button>
          )}
          {execution.isRecorded && (
            <a class="button" href={`trace/${id}`} target="_blank" rel="noopener">
              Timeline
            </a>
          )}
          <button type="button" onClick={() => toExecution(id)}>
            Show in Activity
          </button>
        </div>
      )}
      {isSaving && execution && (
        <SaveDialog execution={execution} onSaved={toProgram} onClose={() => setSaving(false)} />
      )}
    </Panel>
  );
}

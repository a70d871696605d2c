/** The executions that run or wait, and the newest ended ones. Activity has all of them. */

import { durationText } from "../../base/duration.ts";
import type { PageExecution } from "../activity-contract.ts";
import { placeText, placeTitle, StateWords } from "./activity/row.tsx";
import { Age } from "./age.tsx";
import { ChangeButton } from "./asked-button.tsx";
import { Panel } from "./panel.tsx";
import { useRoving } from "./roving.ts";
import { Text } from "./text.tsx";

interface ExecutionsProps {
  executions: PageExecution[];
  onChoose(id: string): void;
  onAll(): void;
}

export function Executions({ executions, onChoose, onAll }: ExecutionsProps) {
  const roving = useRoving(executions.map(({ id }) => id));
  return (
    <Panel id="executions" title="Latest">
      {executions.length === 0 && (
        <p class="empty">
          Nothing has run yet. Agents run code with <code>execute_code</code>, and you with <code>claudikins exec</code>
          .
        </p>
      )}
      <ul class="rows latest" {...roving.list}>
        {executions.map((execution) => (
          <li key={execution.id}>
            <button type="button" class="row" {...roving.item(execution.id)} onClick={() => onChoose(execution.id)}>
              <Summary execution={execution} />
            </button>
            {!execution.isOver && <Cancel execution={execution} tabIndex={roving.item(execution.id).tabIndex} />}
          </li>
        ))}
      </ul>
      {executions.length > 0 && (
        <button type="button" class="plain" onClick={onAll}>
          All activity
        </button>
      )}
    </Panel>
  );
}

function Summary({ execution }: { execution: PageExecution }) {
  const { kind, title, startedAt, durationMs } = execution;
  return (
    <>
      <span class={`dot ${kind}`} aria-hidden="true" />
      <span class="row-text">
        <Text in="span" class="row-title">
          {title}
        </Text>
        <span class="about" title={placeTitle(execution)}>
          <StateWords execution={execution} /> · <Text>{placeText(execution)}</Text>
        </span>
      </span>
      <span class="times">
        <Age at={startedAt} />
        {durationMs !== undefined && <span class="about">{durationText(durationMs)}</span>}
      </span>
    </>
  );
}

/** The button asks first, because a cancelled execution cannot be continued. */
function Cancel({ execution: { id, door }, tabIndex }: { execution: PageExecution; tabIndex: number }) {
  const change = { path: `executions/${id}/cancel`, body: { door }, said: `Cancelled the execution ${id}` };
  return (
    <ChangeButton question="Really cancel?" tabIndex={tabIndex} {...change}>
      Cancel
    </ChangeButton>
  );
}

/** Executions that run, wait or have ended, with links to their timelines. */

import { useState } from "preact/hooks";
import { counted, grouped } from "../../base/counted.ts";
import { durationText } from "../../base/duration.ts";
import type { PageExecution } from "../contract.ts";
import { Age, useNow } from "./age.tsx";
import { ChangeButton } from "./asked-button.tsx";
import { Panel } from "./panel.tsx";
import { useRoving } from "./roving.ts";
import { SaveDialog } from "./save-dialog.tsx";
import { Text } from "./text.tsx";

export function Executions({ executions }: { executions: PageExecution[] }) {
  const roving = useRoving(executions.map(({ id }) => id));
  const [saving, setSaving] = useState<PageExecution>();
  return (
    <Panel id="executions" title="Executions">
      {executions.length === 0 && (
        <p class="empty">
          Nothing has run yet. Agents run code with <code>execute_code</code>, and you with <code>claudikins exec</code>
          .
        </p>
      )}
      <ul class="rows" {...roving.list}>
        {executions.map((execution) => (
          <Row
            key={execution.id}
            execution={execution}
            item={roving.item(execution.id)}
            onSave={() => setSaving(execution)}
          />
        ))}
      </ul>
      {saving && <SaveDialog key={saving.id} execution={saving} onClose={() => setSaving(undefined)} />}
    </Panel>
  );
}

interface RowProps {
  execution: PageExecution;
  item: ReturnType<ReturnType<typeof useRoving>["item"]>;
  onSave(): void;
}

function Row({ execution, item, onSave }: RowProps) {
  const { id, kind, stateText, isOver, isRecorded, canBeSaved, startedAt } = execution;
  const { code, calls, failures, startedBy, door, person, keptOut } = execution;
  const about = [
    startedBy,
    person && `for ${person}`,
    door && `door ${door}`,
    keptOut ? `${grouped(keptOut)} characters kept out` : "",
  ];
  const content = (
    <>
      <span class={`dot ${kind}`} aria-hidden="true" />
      <span class="row-text">
        <span>
          <span class={`outcome ${kind}`}>{stateText}</span>
          {calls !== undefined && ` · ${counted(calls, "call")}`}
          {failures ? `, ${grouped(failures)} failed` : ""}
        </span>
        {code !== undefined && (
          <span class="snippet">
            <Text>{code}</Text>
          </span>
        )}
        <span class="about">
          <Text>{about.filter(Boolean).join(" · ")}</Text>
        </span>
      </span>
      <span class="times">
        <Age at={startedAt} />
        <span class="about">
          <Duration execution={execution} />
        </span>
      </span>
    </>
  );
  const save = canBeSaved && (
    <button type="button" tabIndex={item.tabIndex} title={`Save the code of ${id} as a program`} onClick={onSave}>
      Save as program
    </button>
  );
  // The page of an execution is opened beside this one, so that this one stays live.
  if (isRecorded) {
    return (
      <li class="with-action">
        <a class="row" href={`trace/${id}`} target="_blank" rel="noopener" title={`Timeline of ${id}`} {...item}>
          {content}
        </a>
        {save}
      </li>
    );
  }
  return (
    <li class="row" title={id} {...item}>
      {content}
      {!isOver && <Cancel execution={execution} tabIndex={item.tabIndex} />}
      {save}
    </li>
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

function Duration({ execution: { isOver, startedAt, durationMs } }: { execution: PageExecution }) {
  const now = useNow();
  if (durationMs !== undefined) return <>{durationText(durationMs)}</>;
  return <>{isOver ? "" : durationText(now - startedAt)}</>;
}

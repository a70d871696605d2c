/** Executions that run, wait or have ended, with links to their timelines. */

import { useState } from "preact/hooks";
import { counted, grouped } from "../../base/counted.ts";
import { durationText } from "../../base/duration.ts";
import type { PageExecution } from "../contract.ts";
import { Age, useNow } from "./age.tsx";
import { post } from "./client.ts";
import { useAction, useNotices } from "./notice.tsx";
import { Panel } from "./panel.tsx";
import { useRoving } from "./roving.ts";
import { Text } from "./text.tsx";

export function Executions({ executions }: { executions: PageExecution[] }) {
  const roving = useRoving(executions.map(({ id }) => id));
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
          <Row key={execution.id} execution={execution} item={roving.item(execution.id)} />
        ))}
      </ul>
    </Panel>
  );
}

interface RowProps {
  execution: PageExecution;
  item: ReturnType<ReturnType<typeof useRoving>["item"]>;
}

function Row({ execution, item }: RowProps) {
  const { id, kind, stateText, isOver, isRecorded, startedAt, code, calls, failures, startedBy, keptOut } = execution;
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
          {[startedBy, keptOut ? `${grouped(keptOut)} characters kept out` : ""].filter(Boolean).join(" · ")}
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
  // The page of an execution is opened beside this one, so that this one stays live.
  if (isRecorded) {
    return (
      <li>
        <a class="row" href={`trace/${id}`} target="_blank" rel="noopener" title={`Timeline of ${id}`} {...item}>
          {content}
        </a>
      </li>
    );
  }
  return (
    <li class="row" title={id} {...item}>
      {content}
      {!isOver && <Cancel id={id} tabIndex={item.tabIndex} />}
    </li>
  );
}

/** The first press asks, because a cancelled execution cannot be continued. */
function Cancel({ id, tabIndex }: { id: string; tabIndex: number }) {
  const notices = useNotices();
  const { run } = useAction();
  const [isAsking, setAsking] = useState(false);
  const cancel = async () => {
    await post(`executions/${id}/cancel`, {});
    notices.say(`Cancelled the execution ${id}`);
  };
  const press = () => {
    if (isAsking) void run(cancel).then(() => setAsking(false));
    else setAsking(true);
  };
  return (
    <button
      type="button"
      class={isAsking ? "danger" : ""}
      tabIndex={tabIndex}
      onClick={press}
      onBlur={() => setAsking(false)}
    >
      {isAsking ? "Really cancel?" : "Cancel"}
    </button>
  );
}

function Duration({ execution: { isOver, startedAt, durationMs } }: { execution: PageExecution }) {
  const now = useNow();
  if (durationMs !== undefined) return <>{durationText(durationMs)}</>;
  return <>{isOver ? "" : durationText(now - startedAt)}</>;
}

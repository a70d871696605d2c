/** One execution beside the list: what it is, its calls, and what can be done with it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { grouped } from "../../../base/counted.ts";
import { durationText } from "../../../base/duration.ts";
import type { PageAbout, PageExecution } from "../../activity-contract.ts";
import type { PageState } from "../../contract.ts";
import { Age } from "../age.tsx";
import { Cards } from "../approvals/cards.tsx";
import { executionOf } from "../approvals/facts.tsx";
import { ChangeButton } from "../asked-button.tsx";
import { post } from "../client.ts";
import { useLeads } from "../leads.ts";
import { Problem, useAction, useNotices } from "../notice.tsx";
import { type CameFrom, views } from "../place.ts";
import { SaveDialog } from "../programs/save-dialog.tsx";
import { Fact, Text } from "../text.tsx";
import { CallList } from "./calls.tsx";
import { CodeWithCalls } from "./code.tsx";
import { shownSessionChars } from "./list.tsx";
import { Outcome } from "./outcome.tsx";
import { type Query, useAbout } from "./query.ts";
import { StateWords } from "./row.tsx";

export interface DetailProps {
  id: string;
  /** Its row in the list, which changes with the state. */
  row: PageExecution | undefined;
  state: PageState;
  hasKeys: boolean;
  /** Where the person came from. Undefined: from the list. */
  from: CameFrom | undefined;
  onBack(from: CameFrom): void;
  onClose(): void;
  /** Shows an execution to which this one leads. */
  onChoose(id: string): void;
  /** Compares it with another execution. */
  onCompare(): void;
  onQuery(query: Query): void;
}

export function Detail(props: DetailProps) {
  const { id, row, state, hasKeys, from, onBack, onClose, onChoose, onCompare, onQuery } = props;
  // A person who has signed in to `serve --http` can do less.
  const isPerson = state.viewer !== undefined;
  const asking = state.approvals.filter((approval) => executionOf(approval) === id);
  const heading = useRef<HTMLHeadingElement>(null);
  const { about, problem, execution } = useAbout(id, row);
  useEffect(() => heading.current?.focus(), [id]);
  return (
    <section
      class="panel detail"
      aria-labelledby="execution"
      onKeyDown={(event) => {
        if (event.key === "Escape" && !document.querySelector("dialog[open]")) onClose();
      }}
    >
      <div class="detail-head">
        <h2 id="execution" ref={heading} tabIndex={-1}>
          <Text>{execution?.title ?? "Execution"}</Text>
        </h2>
        <button type="button" class="plain" aria-label="Close this execution" onClick={onClose}>
          ✕
        </button>
      </div>
      {from && (
        <button type="button" class="plain back" onClick={() => onBack(from)}>
          ← {backTo(from, state)}
        </button>
      )}
      {problem && <Problem reason={problem} />}
      {execution && <Facts execution={execution} onQuery={onQuery} onChoose={onChoose} />}
      {asking.length > 0 && <Cards approvals={asking} state={state} hasKeys={hasKeys} heading={heading} />}
      {about && execution && (
        <>
          {about.failure !== undefined && (
            <Text in="p" class="failure-text">
              {about.failure}
            </Text>
          )}
          <Actions execution={execution} about={about} isPerson={isPerson} onChoose={onChoose} onCompare={onCompare} />
          <CallList about={about} onTool={(server, tool) => onQuery({ server, tool })} />
          <CodeWithCalls about={about} />
          {!isPerson && execution.isOver && <Outcome execution={execution} />}
        </>
      )}
    </section>
  );
}

function backTo({ view, approval, execution }: CameFrom, { approvals }: PageState): string {
  if (approvals.some(({ id }) => id === approval)) return "Back to the call";
  return execution === undefined ? `Back to ${views[view]}` : "Back to the execution before";
}

interface FactsProps extends Pick<DetailProps, "onQuery" | "onChoose"> {
  execution: PageExecution;
}

function Facts({ execution, onQuery, onChoose }: FactsProps) {
  const { id, agent, startedBy, folder, door, person, program, repeats, session, startedAt, durationMs, keptOut } =
    execution;
  const notices = useNotices();
  const copy = () =>
    navigator.clipboard.writeText(id).then(
      () => notices.say("Copied the id"),
      () => notices.say(id),
    );
  return (
    <dl class="detail-facts">
      <Fact name="State">
        <StateWords execution={execution} />
      </Fact>
      <Fact name="By">
        {agent === undefined ? (
          startedBy
        ) : (
          <button type="button" class="value" title="Only this agent" onClick={() => onQuery({ agent })}>
            <Text>{agent}</Text>
          </button>
        )}
        {person !== undefined && (
          <>
            {" "}
            for <Text>{person}</Text>
          </>
        )}
      </Fact>
      {session !== undefined && (
        <Fact name="Session">
          <button
            type="button"
            class="value"
            title="Only this session of the agent"
            onClick={() => onQuery({ text: session })}
          >
            <code>{session.slice(0, shownSessionChars)}</code>
          </button>
        </Fact>
      )}
      {folder !== undefined && (
        <Fact name="Folder">
          <Text>{folder}</Text>
        </Fact>
      )}
      {door !== undefined && (
        <Fact name="Door">
          <button type="button" class="value" title="Only this door" onClick={() => onQuery({ door })}>
            <Text>{door}</Text>
          </button>
        </Fact>
      )}
      {program !== undefined && (
        <Fact name="Program">
          <Text>{program}</Text>
        </Fact>
      )}
      {repeats !== undefined && (
        <Fact name="Run again">
          <button type="button" class="value" title={`Show ${repeats.id}`} onClick={() => onChoose(repeats.id)}>
            from the execution of <Age at={repeats.at} />
          </button>
        </Fact>
      )}
      <Fact name="Began">
        <time dateTime={new Date(startedAt).toISOString()}>{new Date(startedAt).toLocaleString()}</time>
      </Fact>
      {durationMs !== undefined && <Fact name="Took">{durationText(durationMs)}</Fact>}
      {keptOut !== undefined && keptOut > 0 && <Fact name="Kept out">{grouped(keptOut)} characters</Fact>}
      <Fact name="Id">
        <button type="button" class="value" title={`${id}: copy`} onClick={() => void copy()}>
          <code>{id.slice(-6)}</code>
        </button>
      </Fact>
    </dl>
  );
}

interface ActionsProps extends Pick<DetailProps, "onChoose" | "onCompare"> {
  execution: PageExecution;
  about: PageAbout;
  isPerson: boolean;
}

function Actions({ execution, about, isPerson, onChoose, onCompare }: ActionsProps) {
  const { toProgram, toEditor } = useLeads();
  const { id, door, isOver, isRecorded, canBeSaved } = execution;
  const { canRunAgain, hasCode, command, notAgain } = about;
  const notices = useNotices();
  const { isRunning, run } = useAction();
  const [isSaving, setSaving] = useState(false);
  const again = (dryRun: boolean) =>
    run(async () => {
      const { execution: started } = await post<{ execution: string }>(`executions/${id}/again`, { door, dryRun });
      notices.say(dryRun ? "The dry run has begun" : "It runs again");
      onChoose(started);
    });
  const copy = (text: string) =>
    run(async () => {
      await navigator.clipboard.writeText(text);
      notices.say("Copied the command");
    });
  return (
    <>
      <div class="actions">
        {isRecorded && (
          <a class="button" href={`trace/${id}`} target="_blank" rel="noopener">
            Timeline
          </a>
        )}
        {isRecorded && isOver && (
          <button type="button" onClick={onCompare}>
            Compare with …
          </button>
        )}
        {canRunAgain && !isPerson && (
          <>
            <button type="button" disabled={isRunning} onClick={() => void again(true)}>
              Dry run
            </button>
            <button type="button" disabled={isRunning} onClick={() => void again(false)}>
              Run again
            </button>
          </>
        )}
        {hasCode && !isPerson && (
          <button type="button" onClick={() => toEditor(id)}>
            Open in the editor
          </button>
        )}
        {canBeSaved && (
          <button type="button" onClick={() => setSaving(true)}>
            Keep as program
          </button>
        )}
        {command !== undefined && !isPerson && (
          <button type="button" disabled={isRunning} onClick={() => void copy(command)}>
            Copy as exec
          </button>
        )}
        {!isOver && (
          <ChangeButton
            question="Really cancel?"
            path={`executions/${id}/cancel`}
            body={{ door }}
            said="Cancelled the execution"
          >
            Cancel
          </ChangeButton>
        )}
      </div>
      {!canRunAgain && !isPerson && isOver && notAgain !== undefined && (
        <Text in="p" class="about">
          {notAgain}
        </Text>
      )}
      {isSaving && <SaveDialog execution={execution} onClose={() => setSaving(false)} onSaved={toProgram} />}
    </>
  );
}

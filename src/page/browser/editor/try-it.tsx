/** Try it: an editor for programs, the program that was run last, and those that were run before. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import type { PageExecution } from "../../activity-contract.ts";
import type { PageState } from "../../contract.ts";
import type { PageEditor, PageEditorTool, PageMistake } from "../../programs-contract.ts";
import { useActivity } from "../activity/query.ts";
import { StateWords } from "../activity/row.tsx";
import { Age } from "../age.tsx";
import { get, post } from "../client.ts";
import { useLeads } from "../leads.ts";
import { useAction } from "../notice.tsx";
import { Panel } from "../panel.tsx";
import { useRoving } from "../roving.ts";
import { Key, Text } from "../text.tsx";
import type { Editor, EditorNames } from "./contract.ts";
import { EditorFrame } from "./frame.tsx";
import { Ran } from "./ran.tsx";

/** Time after a run in which the daemon writes the shapes of the results that it has seen. */
const observedAfterMs = 2_000;

/** Mistakes that are listed below the editor. */
const maxListedMistakes = 5;

const modifier = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";

/** What stays of the view while another one is shown. Nothing of it is stored. */
export interface Draft {
  code: string;
  /** How often the code was replaced by other code. */
  replaced: number;
  door?: string | undefined;
  /** The execution whose code it was at first. What that had read counts for the next run too. */
  codeOf?: string | undefined;
  /** The execution that is shown. */
  ran?: string | undefined;
}

interface TryItProps {
  state: PageState;
  draft: Draft;
  onChange(part: Partial<Draft>): void;
  /** Replaces the draft, which can be undone. */
  onReplace(draft: Omit<Draft, "replaced">, said: string): void;
  onApproval(id: string): void;
}

export function TryIt({ state, draft, onChange, onReplace, ...leads }: TryItProps) {
  const { toEditor } = useLeads();
  const { door, ran } = draft;
  const { isRunning, run } = useAction();
  const editor = useRef<Editor>(undefined);
  const [mistakes, setMistakes] = useState<PageMistake[]>([]);
  const names = useNames(state, draft);
  const known = useEditor(names);
  useEffect(() => editor.current?.checkAgain(), [names]);
  const row = state.executions.find(({ id }) => id === ran);
  const isBusy = isRunning || row?.kind === "running";

  const start = (isDryRun: boolean) => {
    if (isBusy || draft.code.trim() === "") return;
    void run(async () => {
      const { code, codeOf } = draft;
      const { execution } = await post<{ execution: string }>("editor/run", { code, door, codeOf, dryRun: isDryRun });
      onChange({ ran: execution });
    });
  };

  return (
    <div class="try-it">
      <Panel id="try-it" title="Try it">
        <div class="editor-top">
          <button
            type="button"
            class="primary"
            disabled={isBusy || draft.code.trim() === ""}
            onClick={() => start(false)}
          >
            Run <Key>{`${modifier} Enter`}</Key>
          </button>
          <button type="button" disabled={isBusy || draft.code.trim() === ""} onClick={() => start(true)}>
            Dry run
          </button>
          {(known?.doors.length ?? 0) > 0 && (
            <label class="door">
              Door{" "}
              <select
                value={door ?? ""}
                onChange={(event) => onChange({ door: event.currentTarget.value || undefined })}
              >
                <option value="">none</option>
                {known?.doors.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          )}
          {draft.code !== "" && (
            <button type="button" class="plain" onClick={() => onReplace({ code: "", door }, "Cleared the editor")}>
              Clear
            </button>
          )}
        </div>
        <EditorFrame
          editor={editor}
          code={draft.code}
          replaced={draft.replaced}
          names={() => names}
          check={(code) => post<PageMistake[]>("editor/check", { code, door })}
          onCode={(code) => onChange({ code })}
          onMistakes={setMistakes}
          onRun={start}
        />
        <Mistakes mistakes={mistakes} onGo={(at) => editor.current?.goTo(at.line, at.column)} />
        <p class="about editor-keys">
          <kbd>Ctrl Space</kbd> completes, <kbd>{modifier} Shift Enter</kbd> makes a dry run. <kbd>Tab</kbd> indents;{" "}
          <kbd>Escape</kbd> and then <kbd>Tab</kbd> leaves the editor.
        </p>
      </Panel>
      <div class="stack">
        {ran !== undefined && (
          <Ran
            key={ran}
            id={ran}
            row={row}
            isLeaving={isRunning}
            approvals={state.approvals}
            onStopped={() => editor.current?.focus()}
            onLine={(line, column) => editor.current?.goTo(line, column)}
            {...leads}
          />
        )}
        {known && <History agent={known.agent} executions={state.executions} shown={ran} onOpen={toEditor} />}
      </div>
    </div>
  );
}

/** The names for completion. They are asked for again when servers list other tools, and when a run may have shown what tools return. */
function useNames({ servers, executions }: PageState, { door, ran }: Draft): EditorNames {
  const isOver = executions.find(({ id }) => id === ran)?.isOver === true;
  const [seen, setSeen] = useState<string>();
  useEffect(() => {
    if (!isOver) return;
    const timer = setTimeout(() => setSeen(ran), observedAfterMs);
    return () => clearTimeout(timer);
  }, [ran, isOver]);
  const mark = JSON.stringify([servers.map(({ name, tools }) => [name, tools]), seen]);
  return useMemo(() => {
    const once = <T,>(ask: () => Promise<T>) => {
      let answer: Promise<T> | undefined;
      return () => {
        answer ??= ask();
        // It is asked for again after a failure.
        answer.catch(() => {
          answer = undefined;
        });
        return answer;
      };
    };
    const tools = new Map<string, () => Promise<PageEditorTool[]>>();
    const search = door === undefined ? "" : `?${new URLSearchParams({ door })}`;
    return {
      editor: once(() => get<PageEditor>(`editor/servers${search}`)),
      tools(server) {
        const known = tools.get(server) ?? once(() => post<PageEditorTool[]>("editor/tools", { server, door }));
        tools.set(server, known);
        return known();
      },
    };
  }, [mark, door]);
}

function useEditor(names: EditorNames): PageEditor | undefined {
  const [known, setKnown] = useState<PageEditor>();
  useEffect(() => {
    names.editor().then(setKnown, () => {});
  }, [names]);
  return known;
}

interface MistakesProps {
  mistakes: readonly PageMistake[];
  onGo(mistake: PageMistake): void;
}

function Mistakes({ mistakes, onGo }: MistakesProps) {
  const more = mistakes.length - maxListedMistakes;
  return (
    <div class="mistakes" role="status">
      {mistakes.slice(0, maxListedMistakes).map((each) => (
        <p key={`${each.line}:${each.column} ${each.message}`} class={each.isWarning ? "wait" : "bad"}>
          <button type="button" class="line" onClick={() => onGo(each)}>
            Line {each.line}
          </button>{" "}
          <Text>{each.message}</Text>
        </p>
      ))}
      {more > 0 && <p class="about">{counted(more, "more mistake")}</p>}
    </div>
  );
}

interface HistoryProps {
  agent: string;
  executions: readonly PageExecution[];
  /** The id of the execution that is shown. */
  shown: string | undefined;
  onOpen(id: string): void;
}

function History({ agent, executions, shown, onOpen }: HistoryProps) {
  const mark = useMemo(() => JSON.stringify(executions.map(({ id, stateText }) => [id, stateText])), [executions]);
  const { found, more } = useActivity({ agent }, mark);
  const rows = found?.rows ?? [];
  const roving = useRoving(rows.map(({ id }) => id));
  return (
    <Panel id="history" title="History">
      {found && rows.length === 0 && <p class="empty">What you run here is listed here, with its code.</p>}
      <ul class="rows latest history" {...roving.list}>
        {rows.map((execution) => (
          <li key={execution.id}>
            <button
              type="button"
              class="row"
              aria-current={execution.id === shown ? "true" : undefined}
              {...roving.item(execution.id)}
              onClick={() => onOpen(execution.id)}
            >
              <span class={`dot ${execution.kind}`} aria-hidden="true" />
              <span class="row-text">
                <Text in="span" class="row-title">
                  {execution.title}
                </Text>
                <span class="about">
                  <StateWords execution={execution} />
                </span>
              </span>
              <span class="times">
                <Age at={execution.startedAt} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {found?.next !== undefined && (
        <button type="button" class="plain" onClick={more}>
          Older ones
        </button>
      )}
    </Panel>
  );
}

/** The table of all tools: filters, the list, the bar for chosen tools, and one tool beside it. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { counted, grouped } from "../../../base/counted.ts";
import type { PageRules } from "../../contract.ts";
import { useLoaded } from "../notice.tsx";
import { Problem } from "../problem.tsx";
import { useStickyTop } from "../sticky-top.ts";
import { Text } from "../text.tsx";
import { useStates } from "./change-states.ts";
import { ChosenBar } from "./chosen-bar.tsx";
import { keyOf, type ToolQuery, useTools } from "./found-tools.ts";
import { ToolDetail } from "./tool-detail.tsx";
import { ToolFilters } from "./tool-filters.tsx";
import { ToolList } from "./tool-list.tsx";

interface ToolTableProps {
  /** The choice between this view and others. */
  choice: ComponentChildren;
  mark: string;
  /** The door through which the tools are seen. */
  door: string | undefined;
  onDoor(door: string | undefined): void;
  onExecution(id: string): void;
  hasServers: boolean;
  /** Shows the servers. */
  onServers(): void;
}

export function ToolTableView({ choice, mark, door, onDoor, onExecution, hasServers, onServers }: ToolTableProps) {
  const [own, setQuery] = useState<ToolQuery>({});
  const query = useMemo(() => (door === undefined ? own : { ...own, door }), [own, door]);
  // A change of the config, or one of ours.
  const [turn, setTurn] = useState(0);
  const { table, byKey, lines, count, problem } = useTools(query, `${mark} ${turn}`);
  const [rules] = useLoaded<PageRules>("rules", mark);
  const [shown, setShown] = useState<string>();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const states = useStates(() => setTurn((each) => each + 1));
  useEffect(() => setChosen(new Set()), [door]);
  const tools = table?.tools ?? [];
  const detail = shown === undefined ? undefined : byKey.get(shown);
  const servers = useMemo(() => [...new Set(tools.map(({ server }) => server))], [table]);
  const close = () => {
    setShown(undefined);
    setTimeout(() => document.querySelector<HTMLElement>(`[data-item="${CSS.escape(shown ?? "")}"]`)?.focus());
  };
  useStickyTop(lines.length > 0);
  const picked = useMemo(() => tools.filter((row) => chosen.has(keyOf(row))), [chosen, table]);
  const change = (next: ToolQuery) => {
    onDoor(next.door);
    setQuery(next);
    window.scrollTo(0, 0);
  };
  return (
    <div class={detail ? "activity-view with-detail tools-view" : "activity-view tools-view"}>
      <section class="panel activity-panel" aria-labelledby="tools">
        <div class="activity-top">
          <h2 id="tools">
            <span class="hidden">Tools</span>
            {choice}
            {table && (
              <span class="about total" role="status">
                {count === tools.length
                  ? counted(count, "tool")
                  : `${grouped(count)} of ${counted(tools.length, "tool")}`}
              </span>
            )}
          </h2>
          {(tools.length > 0 || door !== undefined) && (
            <ToolFilters
              query={query}
              servers={servers}
              doors={rules?.doors.map(({ name }) => name) ?? []}
              onChange={change}
            />
          )}
          {picked.length > 0 && table?.canChange && (
            <ChosenBar tools={picked} states={states} onDone={() => setChosen(new Set())} />
          )}
        </div>
        {problem && <Problem reason={problem} />}
        {table && tools.length === 0 && <NoTools door={door} onServers={hasServers ? undefined : onServers} />}
        {table && tools.length > 0 && lines.length === 0 && <p class="empty">No tool fits these filters.</p>}
        {table && lines.length > 0 && (
          <ToolList
            lines={lines}
            shown={shown}
            chosen={chosen}
            canChange={table.canChange}
            states={states}
            onShow={setShown}
            onChoose={setChosen}
          />
        )}
        {table && table.unlisted.length > 0 && tools.length > 0 && (
          <p class="empty">
            Not listed yet: <Text>{table.unlisted.join(", ")}</Text>
          </p>
        )}
      </section>
      {detail && (
        <ToolDetail
          key={shown}
          row={detail}
          door={door}
          canChange={table?.canChange === true}
          states={states}
          mark={`${mark} ${turn}`}
          onClose={close}
          onExecution={onExecution}
        />
      )}
    </div>
  );
}

interface NoToolsProps {
  door: string | undefined;
  /** Given if there are no servers: leads to the form for a new one. */
  onServers: (() => void) | undefined;
}

function NoTools({ door, onServers }: NoToolsProps) {
  if (door !== undefined) return <p class="empty">This door shows no tools.</p>;
  if (onServers) {
    return (
      <div class="empty">
        <p>There are no tools, because the config has no servers.</p>
        <button type="button" class="primary" onClick={onServers}>
          Add a server
        </button>
      </div>
    );
  }
  return (
    <p class="empty">
      No tools are known yet. They are listed when a server starts for the first time: press Check in Servers, or run
      claudikins gen.
    </p>
  );
}

/** The table of all tools: filters, the list, the bar for chosen tools, and one tool beside it. */

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { counted, grouped } from "../../../base/counted.ts";
import type { PageRules } from "../../contract.ts";
import type { PageToolRow, PageToolState } from "../../servers-contract.ts";
import { FilterForm, named, QueryChoices, SearchField, useStickyTop } from "../filter-form.tsx";
import { useLeads } from "../leads.ts";
import { Problem, useLoaded, useNotices } from "../notice.tsx";
import { Text } from "../text.tsx";
import { previewOf, type States, stateWords, useStates } from "./change-states.ts";
import { keyOf, type ToolQuery, useTools } from "./found-tools.ts";
import { ToolDetail } from "./tool-detail.tsx";
import { ToolList } from "./tool-list.tsx";

interface ToolTableProps {
  /** The choice between this view and others. */
  choice: ComponentChildren;
  mark: string;
  /** The door through which the tools are seen. */
  door: string | undefined;
  onDoor(door: string | undefined): void;
  hasServers: boolean;
}

export function ToolTableView({ choice, mark, door, onDoor, hasServers }: ToolTableProps) {
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
        {table && tools.length === 0 && <NoTools door={door} hasServers={hasServers} />}
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
        />
      )}
    </div>
  );
}

interface NoToolsProps {
  door: string | undefined;
  hasServers: boolean;
}

function NoTools({ door, hasServers }: NoToolsProps) {
  const { toServers } = useLeads();
  if (door !== undefined) return <p class="empty">This door shows no tools.</p>;
  if (!hasServers) {
    return (
      <div class="empty">
        <p>There are no tools, because the config has no servers.</p>
        <button type="button" class="primary" onClick={toServers}>
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

/** The most tools of one change, as in the guard of the server. */
const maxChangedTools = 500;

interface ChosenBarProps {
  tools: readonly PageToolRow[];
  states: States;
  onDone(): void;
}

function ChosenBar({ tools, states, onDone }: ChosenBarProps) {
  const notices = useNotices();
  const [state, setState] = useState<PageToolState>();
  const [impact, setImpact] = useState("");
  const changing = tools.filter((tool) => tool.state !== state);
  const isTooMany = tools.length > maxChangedTools;
  const key = JSON.stringify(tools.map(({ server, name }) => [server, name]));
  useEffect(() => {
    setImpact("");
    if (state === undefined || changing.length === 0 || isTooMany) return undefined;
    let isWanted = true;
    previewOf(changing, state).then(
      ({ text }) => isWanted && setImpact(text),
      (error: unknown) => isWanted && notices.fail(error),
    );
    return () => {
      isWanted = false;
    };
  }, [state, key]);
  return (
    <section class="chosen-bar" aria-label="Chosen tools">
      <strong>{counted(tools.length, "tool")} chosen</strong>
      {Object.entries(stateWords).map(([each, words]) => (
        <button
          type="button"
          key={each}
          aria-pressed={each === state}
          disabled={states.isRunning || isTooMany}
          onClick={() => setState(each as PageToolState)}
        >
          <span class={`dot ${each}`} aria-hidden="true" />
          {words}
        </button>
      ))}
      <button type="button" class="plain" onClick={onDone}>
        Clear
      </button>
      {isTooMany && <p class="about">At most {maxChangedTools} tools are changed at once.</p>}
      {state !== undefined && !isTooMany && (
        <p class="chosen-effect">
          <span class="about" role="status">
            {changing.length === 0 ? (
              "They are in this state already."
            ) : (
              <Text>{impact || "Reading the call log …"}</Text>
            )}
          </span>
          {changing.length > 0 && (
            <button
              type="button"
              class="primary"
              disabled={states.isRunning}
              onClick={() => void states.set(changing, state, true).then(onDone)}
            >
              Set {counted(changing.length, "tool")} to {stateWords[state]}
            </button>
          )}
        </p>
      )}
    </section>
  );
}

const states = [
  ["allow", "Allow"],
  ["ask", "Ask"],
  ["deny", "Deny"],
] as const;
const effects = [
  ["reads", "Reads"],
  ["changes", "Changes"],
  ["destroys", "May destroy"],
  ["unstated", "Not stated"],
] as const;
const labels = [
  ["untrusted", "untrusted"],
  ["private", "private"],
  ["public", "public"],
  ["rule", "with a rule"],
] as const;
const uses = [
  ["called", "Called in 7 days"],
  ["failing", "Failed in 7 days"],
  ["unused", "Not called in 7 days"],
] as const;
const orders = [
  ["calls", "Most calls first"],
  ["failures", "Most errors first"],
  ["last", "Last call first"],
] as const;

interface ToolFiltersProps {
  query: ToolQuery;
  servers: readonly string[];
  doors: readonly string[];
  onChange(query: ToolQuery): void;
}

function ToolFilters({ query, servers, doors, onChange }: ToolFiltersProps) {
  const set = (part: ToolQuery) => onChange({ ...query, ...part });
  const isSet = Object.values(query).some((value) => value !== undefined && value !== "");
  return (
    <FilterForm isSet={isSet} onClear={() => onChange({})}>
      <SearchField
        name="Search as an agent does"
        placeholder="Search as an agent does"
        value={query.text}
        isFilter
        hasKey
        onChange={(text) => set({ text })}
      />
      <QueryChoices
        query={query}
        rows={[
          ["state", "State", "Any state", states],
          ["server", "Server", "Any server", servers.length > 1 ? named(servers) : []],
          ["effect", "Effect", "Any effect", effects],
          ["label", "Label", "Any label", labels],
          ["use", "Use", "Any use", uses],
          ["order", "Order", "By name", orders],
          [
            "door",
            "Seen through",
            "Without a door",
            named(doors).map(([door, text]) => [door, `Door ${text}`] as const),
          ],
        ]}
        onChange={set}
      />
    </FilterForm>
  );
}

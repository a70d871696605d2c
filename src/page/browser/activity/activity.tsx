/** Everything that has run, runs or waits: filters, the list, and the chosen execution. */
import { useMemo } from "preact/hooks";
import { counted, grouped } from "../../../base/counted.ts";
import { Choice, FilterForm, named, QueryChoices, SearchField, useStickyTop, WhenFields } from "../filter-form.tsx";
import { Problem } from "../notice.tsx";
import { TabName, Text } from "../text.tsx";
import { CallLog, type CallQuery } from "./call-log.tsx";
import { Compare } from "./compare.tsx";
import { Detail, type DetailProps } from "./detail.tsx";
import { ActivityList } from "./list.tsx";
import { isNarrowed, type Query, useActivity } from "./query.ts";

const orders = [
  ["session", "By session"],
  ["longest", "Longest first"],
] as const;

interface ActivityProps extends Pick<DetailProps, "state" | "hasKeys" | "from" | "onBack" | "onQuery"> {
  query: Query;
  /** The id of the chosen execution. */
  chosen: string | undefined;
  onChoose(id: string | undefined): void;
  /** Shows an execution to which the chosen one leads. */
  onFurther(id: string): void;
  /** The execution that the chosen one is compared with. Empty: the one that is most likely meant. */
  compared: string | undefined;
  onCompare(id: string | undefined): void;
  /** The tool whose calls are listed first; all calls if it is empty. Undefined: the executions are listed. */
  calls: string | undefined;
  /** The filters of the calls. */
  callQuery: CallQuery;
  onCallQuery(query: CallQuery): void;
  onCalls(tool: string | undefined): void;
}

export function Activity({
  state,
  query,
  onQuery,
  chosen,
  onChoose,
  from,
  onFurther,
  onBack,
  compared,
  onCompare,
  calls,
  onCalls,
  callQuery,
  onCallQuery,
  hasKeys,
}: ActivityProps) {
  const { executions, servers, viewer } = state;
  const mark = useMemo(() => JSON.stringify(executions.map(({ id, stateText }) => [id, stateText])), [executions]);
  const { found, problem, more, onSeen } = useActivity(query, mark);
  const rows = found?.rows ?? [];
  const change = (next: Query) => {
    onQuery(next);
    // Other rows begin at their top.
    window.scrollTo(0, 0);
  };
  const close = () => {
    const id = chosen;
    onChoose(undefined);
    setTimeout(() => document.querySelector<HTMLElement>(`[data-item="${CSS.escape(id ?? "")}"]`)?.focus());
  };
  useStickyTop(rows.length > 0);
  const isCalls = calls !== undefined;
  if (chosen !== undefined && compared !== undefined) {
    return (
      <Compare
        id={chosen}
        other={compared}
        onOther={onCompare}
        onChoose={onChoose}
        onClose={() => onCompare(undefined)}
      />
    );
  }
  return (
    <div class={chosen === undefined ? "activity-view" : "activity-view with-detail"}>
      <section class="panel activity-panel" aria-labelledby="activity">
        <div class="activity-top">
          <div class="activity-title">
            <h2 id="activity">
              Activity
              <Tabs isCalls={isCalls} onChoose={(wanted) => onCalls(wanted ? "" : undefined)} />
              {found && !isCalls && (
                <span class="about total" role="status">
                  {found.next === undefined ? counted(rows.length, "execution") : `${grouped(rows.length)}+ executions`}
                </span>
              )}
            </h2>
            {!isCalls && (
              <Choice
                name="Order"
                value={query.order}
                any="Newest first"
                choices={orders}
                onChange={(order) => change({ ...query, order: order as Query["order"] })}
              />
            )}
          </div>
          {!isCalls && (
            <Filters
              query={query}
              agents={found?.agents ?? []}
              doors={found?.doors ?? []}
              people={found?.people ?? []}
              servers={servers.map(({ name }) => name)}
              hasKeys={hasKeys}
              onChange={change}
            />
          )}
        </div>
        {isCalls && (
          <CallLog
            query={callQuery}
            onQuery={onCallQuery}
            servers={servers.map(({ name }) => name)}
            hasOthers={!viewer || viewer.people !== undefined}
            mark={mark}
            onChoose={(id) => {
              onQuery({});
              onChoose(id);
            }}
          />
        )}
        {!isCalls && problem && <Problem reason={problem} />}
        {!isCalls && found && rows.length === 0 && (
          <p class="empty">
            {isNarrowed(query) ? (
              "Nothing fits these filters."
            ) : (
              <>
                Nothing has run yet. Agents run code with <code>execute_code</code>
                {!viewer && (
                  <>
                    , and you with <code>claudikins exec</code>
                  </>
                )}
                .
              </>
            )}
          </p>
        )}
        {!isCalls && rows.length > 0 && (
          <ActivityList
            rows={rows}
            isBySession={query.order === "session"}
            chosen={chosen}
            onChoose={onChoose}
            onMore={found?.next === undefined ? undefined : more}
            onSeen={onSeen}
          />
        )}
      </section>
      {chosen !== undefined && (
        <Detail
          key={chosen}
          id={chosen}
          // A filter may leave it out, and it still runs, waits or ends.
          row={rows.find(({ id }) => id === chosen) ?? executions.find(({ id }) => id === chosen)}
          state={state}
          hasKeys={hasKeys}
          from={from}
          onBack={onBack}
          onClose={close}
          onChoose={onFurther}
          onCompare={() => onCompare("")}
          onQuery={change}
        />
      )}
    </div>
  );
}

/** The executions, or the single calls of all of them. */
function Tabs({ isCalls, onChoose }: { isCalls: boolean; onChoose(isCalls: boolean): void }) {
  const tab = (name: string, isChosen: boolean, value: boolean) => (
    <button type="button" aria-pressed={isChosen} onClick={() => onChoose(value)}>
      <TabName>{name}</TabName>
    </button>
  );
  return (
    <span class="tabs">
      {tab("Executions", !isCalls, false)}
      {tab("Calls", isCalls, true)}
    </span>
  );
}

const states = ["running", "waiting", "done", "failed", "denied", "cancelled"].map((state) => [state, state] as const);

interface FiltersProps {
  query: Query;
  /** What the list can be narrowed to. */
  agents: readonly string[];
  doors: readonly string[];
  people: readonly { id: string; name: string }[];
  servers: readonly string[];
  hasKeys: boolean;
  onChange(query: Query): void;
}

function Filters({ query, agents, doors, people, servers, hasKeys, onChange }: FiltersProps) {
  const set = (part: Query) => onChange({ ...query, ...part });
  return (
    <FilterForm isSet={isNarrowed(query)} onClear={() => onChange({ order: query.order })}>
      <SearchField
        name="Find executions"
        placeholder="Find: a comment, a tool, an agent, a folder …"
        value={query.text}
        isFilter
        hasKey={hasKeys}
        onChange={(text) => set({ text })}
      />
      <QueryChoices query={query} rows={[["state", "State", "Any state", states]]} onChange={set} />
      <WhenFields hours={query.hours} day={query.day} onChange={set} />
      <QueryChoices
        query={query}
        rows={[
          ["server", "Server", "Any server", named(servers)],
          ["agent", "Agent", "Any agent", named(agents)],
          ["door", "Door", "Any door", named(doors)],
          ["person", "Person", "Any person", people.map(({ id, name }) => [id, named([name])[0]?.[1] ?? id] as const)],
        ]}
        onChange={(part) => set("server" in part ? { ...part, tool: undefined } : part)}
      />
      {query.tool !== undefined && (
        <button type="button" class="chip" onClick={() => set({ tool: undefined })}>
          <span class="hidden">Any tool instead of </span>
          <Text>{query.tool}</Text> <span aria-hidden="true">✕</span>
        </button>
      )}
    </FilterForm>
  );
}

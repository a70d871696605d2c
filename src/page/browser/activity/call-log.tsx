/** The call log, newest first, with filters: each call, and the person or agent that made it. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { grouped } from "../../../base/counted.ts";
import { durationText } from "../../../base/duration.ts";
import { dayMs, hourMs } from "../../../base/units.ts";
import { visible } from "../../../policy/hidden-characters.ts";
import type { PageCalls, PageLoggedCall } from "../../activity-contract.ts";
import { Age } from "../age.tsx";
import { get } from "../client.ts";
import { daySpan, FilterForm, named, QueryChoices, SearchField, WhenFields } from "../filter-form.tsx";
import { Problem, type Reason } from "../notice.tsx";
import { Text, ToolName } from "../text.tsx";

/** Silence after which typed conditions count. */
const typedMs = 250;

const outcomes: readonly PageLoggedCall["outcome"][] = ["ok", "failed", "denied", "cancelled"];

export interface CallQuery {
  who?: string | undefined;
  tool?: string | undefined;
  server?: string | undefined;
  outcome?: string | undefined;
  hours?: string | undefined;
  /** A day such as 2026-11-29, in the time zone of the browser. */
  day?: string | undefined;
}

interface CallLogProps {
  query: CallQuery;
  onQuery(query: CallQuery): void;
  servers: readonly string[];
  /** Whether the viewer sees the calls of other people. */
  hasOthers: boolean;
  /** The list is read again when it changes. */
  mark: string;
  /** Shows an execution. */
  onChoose(execution: string): void;
}

export function CallLog({ query, onQuery, servers, hasOthers, mark, onChoose }: CallLogProps) {
  const { calls, next, more, problem } = useCalls(query, mark);
  const set = (part: CallQuery) => onQuery({ ...query, ...part });
  const isSet = Object.values(query).some((value) => value !== undefined && value !== "");
  return (
    <>
      <FilterForm className="call-filters" isSet={isSet} onClear={() => onQuery({})}>
        <SearchField
          name="Tool"
          placeholder="A tool: server.tool"
          value={query.tool}
          isFilter
          onChange={(tool) => set({ tool })}
        />
        {hasOthers && (
          <SearchField
            name="Person or token"
            placeholder="A person or a token"
            value={query.who}
            onChange={(who) => set({ who })}
          />
        )}
        <QueryChoices query={query} rows={[["outcome", "Outcome", "Any outcome", named(outcomes)]]} onChange={set} />
        <WhenFields hours={query.hours} day={query.day} onChange={set} />
        <QueryChoices query={query} rows={[["server", "Server", "Any server", named(servers)]]} onChange={set} />
      </FilterForm>
      {problem && <Problem reason={problem} />}
      {calls?.length === 0 && (
        <p class="empty">{isSet ? "No call fits these filters." : "No call has been made yet."}</p>
      )}
      {calls && calls.length > 0 && <CallTable calls={calls} onChoose={onChoose} />}
      {next !== undefined && (
        <button type="button" class="more-calls" onClick={more}>
          Show more
        </button>
      )}
    </>
  );
}

function useCalls(query: CallQuery, mark: string) {
  const [found, setFound] = useState<PageCalls>();
  const [problem, setProblem] = useState<Reason>();
  const asked = useRef(0);
  const key = JSON.stringify(query);
  const pathOf = useCallback(
    (after?: string) => {
      const { hours, day, ...rest } = JSON.parse(key) as CallQuery;
      const span = hours === undefined ? {} : { since: String(Date.now() - Number(hours) * hourMs) };
      const given = Object.entries({ ...rest, ...span, ...daySpan(day), after }).filter(
        ([, value]) => value !== undefined,
      );
      return `calls?${new URLSearchParams(given as [string, string][])}`;
    },
    [key],
  );
  useEffect(() => {
    const number = ++asked.current;
    const load = () =>
      get<PageCalls>(pathOf()).then(
        (first) => {
          if (number !== asked.current) return;
          setFound(first);
          setProblem(undefined);
        },
        (error: Reason) => number === asked.current && setProblem(error),
      );
    const timer = setTimeout(() => void load(), number === 1 ? 0 : typedMs);
    return () => clearTimeout(timer);
  }, [pathOf, mark]);
  const more = () => {
    const number = asked.current;
    get<PageCalls>(pathOf(found?.next)).then(({ calls, next }) => {
      if (number === asked.current) setFound({ calls: [...(found?.calls ?? []), ...calls], next });
    }, setProblem);
  };
  return { calls: found?.calls, next: found?.next, more, problem };
}

const timeForm = new Intl.DateTimeFormat(undefined, {
  ...({ month: "short", day: "numeric" } as const),
  ...({ hour: "numeric", minute: "2-digit" } as const),
});

function CallTable({ calls, onChoose }: { calls: PageLoggedCall[]; onChoose(execution: string): void }) {
  const hasPeople = calls.some(({ person }) => person !== undefined);
  const columns = ["Tool", "Outcome", ...(hasPeople ? ["For"] : []), "By", "Took", "Bytes", "Made"];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the arrow keys.
    <section class="call-table" aria-label="Calls" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((title) => (
              <th scope="col" key={title}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {calls.map((call) => (
            <Row key={call.id} call={call} hasPeople={hasPeople} onChoose={onChoose} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface RowProps {
  call: PageLoggedCall;
  hasPeople: boolean;
  onChoose(execution: string): void;
}

function Row({ call, hasPeople, onChoose }: RowProps) {
  const { server, tool, outcome, code, person, by, program, door, durationMs, resultBytes, at, execution } = call;
  const about = [by, program, door && `door ${door}`].filter(Boolean).join(" · ");
  return (
    <tr>
      <th scope="row">
        {execution === undefined ? (
          <ToolName server={server} tool={tool} />
        ) : (
          <button type="button" class="value" title="Show its execution" onClick={() => onChoose(execution)}>
            <ToolName server={server} tool={tool} />
          </button>
        )}
      </th>
      <td class={`outcome ${kindOf(outcome)}`}>
        {outcome}
        {code !== undefined && code !== "POLICY_DENIED" && <span class="about"> {visible(code)}</span>}
      </td>
      {hasPeople && <Text in="td">{person ?? ""}</Text>}
      <Text in="td">{about}</Text>
      <td>{durationText(durationMs)}</td>
      <td>{grouped(resultBytes)}</td>
      <td>
        <Age at={at} />
        {Date.now() - at > dayMs && <span class="about"> {timeForm.format(at)}</span>}
      </td>
    </tr>
  );
}

function kindOf(outcome: PageLoggedCall["outcome"]): string {
  return outcome === "ok" ? "good" : outcome === "cancelled" ? "waiting" : "bad";
}

/** Tables of figures by tool, server, agent, door, person and program. A press on a title puts the rows in its order. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { grouped } from "../../../base/counted.ts";
import { durationText } from "../../../base/duration.ts";
import type { PageCallerFigures, PageFigures, PageUseFigures } from "../../activity-contract.ts";
import { TabName, Text, ToolName } from "../text.tsx";

/** Rows that are shown at first, and with each "Show more". */
const rowsStep = 50;

interface Column<Row> {
  title: string;
  about?: string;
  of(row: Row): number | null;
  text(value: number): string;
  /** Whether the share of the sum is drawn. */
  hasBar?: boolean;
}

const timeColumns = <Row extends Pick<PageUseFigures, "durationMs" | "p50Ms" | "p95Ms">>(): Column<Row>[] => [
  { title: "p50", about: "Half of the calls took at most this long", of: ({ p50Ms }) => p50Ms, text: durationText },
  { title: "p95", about: "95 of 100 calls took at most this long", of: ({ p95Ms }) => p95Ms, text: durationText },
  { title: "Time", about: "All calls together", of: ({ durationMs }) => durationMs, text: durationText, hasBar: true },
];

const countColumns = <Row extends Pick<PageUseFigures, "calls" | "failures" | "denied">>(): Column<Row>[] => [
  { title: "Calls", of: ({ calls }) => calls, text: grouped },
  { title: "Failed", of: ({ failures }) => failures, text: (value) => (value === 0 ? "" : grouped(value)) },
  {
    title: "Denied",
    about: "By the policy or a person. They are not failed.",
    of: ({ denied }) => denied,
    text: (value) => (value === 0 ? "" : grouped(value)),
  },
  {
    title: "Error rate",
    of: ({ calls, failures }) => (calls === 0 ? 0 : failures / calls),
    text: (value) => (value === 0 ? "" : `${(100 * value).toFixed(1)} %`),
  },
];

const useColumns: Column<PageUseFigures>[] = [
  ...countColumns<PageUseFigures>(),
  ...timeColumns<PageUseFigures>(),
  {
    title: "Tokens to code",
    about: "Results that went to code instead of a context",
    of: ({ takenTokens }) => takenTokens,
    text: grouped,
    hasBar: true,
  },
];

const callerColumns: Column<PageCallerFigures>[] = [
  {
    title: "Round trips",
    about: "Executions with calls, and single calls",
    of: ({ roundTrips }) => roundTrips,
    text: grouped,
    hasBar: true,
  },
  { title: "Executions", about: "Executions that made calls", of: ({ executions }) => executions, text: grouped },
  ...countColumns<PageCallerFigures>(),
  ...timeColumns<PageCallerFigures>(),
];

type Kind = "tools" | "servers" | "agents" | "doors" | "people" | "programs";

const kinds: Record<Kind, { title: string; one: string; none: string }> = {
  tools: { title: "Tools", one: "Tool", none: "No tool was called in this time." },
  servers: { title: "Servers", one: "Server", none: "No server was called in this time." },
  agents: { title: "Agents", one: "Agent", none: "The call log has no calls in this time." },
  doors: { title: "Doors", one: "Door", none: "Nothing was called behind a door in this time." },
  people: { title: "People", one: "Person", none: "Nothing was called for a person who has signed in." },
  programs: { title: "Programs", one: "Program", none: "No saved program made a call in this time." },
};

interface FigureTablesProps {
  figures: PageFigures;
  /** Shows the calls of a tool. */
  onTool(tool: string): void;
}

export function FigureTables({ figures, onTool }: FigureTablesProps) {
  const [kind, setKind] = useState<Kind>("tools");
  const { one, none } = kinds[kind];
  const isUse = kind === "tools" || kind === "servers";
  return (
    <>
      <span class="tabs">
        {Object.entries(kinds).map(([each, { title }]) => (
          <button key={each} type="button" aria-pressed={each === kind} onClick={() => setKind(each as Kind)}>
            <TabName>{title}</TabName>
          </button>
        ))}
      </span>
      {isUse ? (
        <Table
          key={kind}
          title={one}
          none={none}
          rows={figures[kind]}
          columns={useColumns}
          keyOf={({ server, tool }) => JSON.stringify([server, tool])}
          name={({ server, tool }) =>
            tool === undefined ? (
              <Text>{server}</Text>
            ) : (
              <button type="button" class="link" title="Show its calls" onClick={() => onTool(`${server}.${tool}`)}>
                <ToolName server={server} tool={tool} />
              </button>
            )
          }
        />
      ) : (
        <Table
          key={kind}
          title={one}
          none={none}
          rows={figures[kind]}
          columns={callerColumns}
          keyOf={({ name }) => JSON.stringify(name)}
          name={({ name }) => (name === null ? <span class="about">none</span> : <Text>{name}</Text>)}
        />
      )}
    </>
  );
}

interface TableProps<Row> {
  title: string;
  none: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf(row: Row): string;
  name(row: Row): ComponentChildren;
}

function Table<Row>({ title, none, rows, columns, keyOf, name }: TableProps<Row>) {
  const [by, setBy] = useState("Calls");
  const [isUp, setUp] = useState(false);
  const [most, setMost] = useState(rowsStep);
  if (rows.length === 0) return <p class="empty">{none}</p>;
  const order = columns.find((column) => column.title === by) ?? columns[0]!;
  const sorted = rows.toSorted((one, other) => (order.of(other) ?? -1) - (order.of(one) ?? -1));
  if (isUp) sorted.reverse();
  const tops = new Map(columns.map((column) => [column.title, Math.max(1, ...rows.map((row) => column.of(row) ?? 0))]));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the arrow keys.
    <section class="figure-table" aria-label={title} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{title}</th>
            {columns.map((column) => (
              <th
                scope="col"
                key={column.title}
                aria-sort={column.title === by ? (isUp ? "ascending" : "descending") : "none"}
              >
                <button
                  type="button"
                  class="sort"
                  title={column.about ?? ""}
                  onClick={() => {
                    setUp(column.title === by && !isUp);
                    setBy(column.title);
                  }}
                >
                  {column.title}
                  {column.title === by && <span aria-hidden="true">{isUp ? " ↑" : " ↓"}</span>}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, most).map((row) => (
            <tr key={keyOf(row)}>
              <th scope="row">{name(row)}</th>
              {columns.map((column) => {
                const value = column.of(row);
                return (
                  <td
                    key={column.title}
                    class={column.title === "Failed" || column.title === "Error rate" ? "bad" : ""}
                  >
                    {value === null ? <span class="about">–</span> : column.text(value)}
                    {column.hasBar && value !== null && value > 0 && (
                      <span class="share" aria-hidden="true">
                        <span
                          class="share-bar"
                          style={{ width: `${(100 * value) / (tops.get(column.title) ?? 1)}%` }}
                        />
                      </span>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > most && (
        <button type="button" onClick={() => setMost(most + rowsStep)}>
          Show more: {grouped(most)} of {grouped(rows.length)} are shown
        </button>
      )}
    </section>
  );
}
